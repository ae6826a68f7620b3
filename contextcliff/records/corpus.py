"""What a dataset gives: texts, questions on them, and how long they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A text that prompts are cut from. `text` has Unix line ends and blank lines between paragraphs."""

    document_id: str
    title: str
    text: str
    language: str = "en"
    parts: tuple[str, ...] = ()
    """The files of a folder that it was joined from: they may be several texts."""
    endless: bool = False
    """Whether it is generated and goes on as long as it is asked for; its beginning is always the same."""
    longest_word: int = 40
    """Characters; a longer run without a blank, such as a UUID, is cut inside."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A stretch of a document, in characters."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question on one document as its dataset has it, with accepted answers, the best first.

    `kind` says how an answer is compared: `short` (a phrase), `choice` (one of `choices`, by letter; `answers` holds
    the right one's text) or `summary` (a longer text)."""

    question_id: str
    document_id: str
    text: str
    answers: tuple[str, ...]
    kind: str = "short"
    choices: tuple[str, ...] = ()
    evidence: tuple[Span, ...] = ()
    level: int = 1
    """1: one piece of evidence; 2: several from different places."""
    metadata: Mapping[str, str | int | float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Corpus:
    """What a dataset gives: texts, questions on them (none for a haystack), and what was left out, a sentence each."""

    documents: tuple[Document, ...]
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()
    filler: tuple[Document, ...] = ()
    drawn: tuple[tuple[str, ...], ...] = ()
    """The question ids of each length bin of an earlier run's draw."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditBin:
    """A range of document lengths: the documents and questions there are, and those that were drawn."""

    min_tokens: int
    max_tokens: int
    documents: int
    questions: int
    drawn_documents: int
    drawn_questions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthAudit:
    """How long the documents of a dataset are, before anything is asked: what can be tested, and what can't."""

    lengths: tuple[int, ...]
    """Tokens of every document, ascending, excluded ones included."""
    too_short: int
    too_long: int
    bins: tuple[AuditBin, ...]
