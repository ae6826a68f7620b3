"""Builds a corpus from the entries of a dataset: equal texts become one document, incomplete questions are refused."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document, Question, Span

MAX_CHOICES = 26
"""Choices are named by the letters A to Z."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One question with the whole text that it is about."""

    place: str
    """Where it comes from, for messages: `dataset.path=qa.jsonl: row 3`."""
    context: str
    question: str
    answers: tuple[str, ...]
    question_id: str | None = None
    """None gives it the id of the document and a number."""
    document_id: str | None = None
    """None gives it a digest of the text."""
    title: str = ""
    kind: str = "short"
    choices: tuple[str, ...] = ()
    evidence: tuple[Span | str, ...] = ()
    """Spans of `context`, or verbatim quotes, each of which occurs in it exactly once."""
    level: int = 1
    metadata: Mapping[str, str | int | float] = field(default_factory=dict)


def build_corpus(
    entries: Iterable[Entry],
    *,
    source: str,
    language: str = "en",
    documents: Iterable[Document] = (),
    notes: Iterable[str] = (),
) -> Corpus:
    """The questions in the order of `entries`; their documents follow those of `documents`.

    `source` names the dataset in messages. Raises `ConfigError` for an entry without text, question or answer, a
    question id that is used twice, a document id with two texts, evidence that is not in its text, and no entry at all.
    """
    by_id = {document.document_id: document for document in documents}
    questions: dict[str, Question] = {}
    n_questions: Counter[str] = Counter()
    for entry in entries:
        document = _document(entry, language)
        if by_id.setdefault(document.document_id, document).text != document.text:
            raise ConfigError(f"{entry.place}: document {document.document_id} has two different texts")
        n_questions[document.document_id] += 1
        question = _question(entry, document, number=n_questions[document.document_id])
        if question.question_id in questions:
            raise ConfigError(
                f"{entry.place}: question id {question.question_id} is used twice; give each question its own"
            )
        questions[question.question_id] = question
    if not questions:
        raise ConfigError(f"{source}: holds no question that can be asked; give one that does")
    return Corpus(documents=tuple(by_id.values()), questions=tuple(questions.values()), notes=tuple(notes))


def choice_at(choices: tuple[str, ...], index: int, *, place: str, key: str, first: int = 0) -> str:
    """The choice at `index`, counted from `first`.

    `key` names the index in messages. Raises `ConfigError` for an index out of range, and for choices that are equal or
    too many.
    """
    if not 0 <= index - first < len(choices):
        raise ConfigError(
            f"{place}: {key}={index} is out of range: there are {len(choices)} choices, counted from {first}"
        )
    if len(choices) > MAX_CHOICES:
        raise ConfigError(f"{place}: has {len(choices)} choices; give at most {MAX_CHOICES}, one for each letter")
    if not are_distinct(choices):
        raise ConfigError(f"{place}: has two equal choices; make each of them different")
    return choices[index - first]


def are_distinct(choices: tuple[str, ...]) -> bool:
    """Whether no two choices are the same."""
    return len({choice.strip() for choice in choices}) == len(choices)


def _document(entry: Entry, language: str) -> Document:
    text = _with_unix_line_ends(entry.context)
    if not text.strip():
        raise ConfigError(f"{entry.place}: its text is empty")
    name = entry.document_id or hashlib.sha256(text.encode()).hexdigest()[:16]
    return Document(document_id=name, title=entry.title or name, text=text, language=language)


def _question(entry: Entry, document: Document, *, number: int) -> Question:
    text = entry.question.strip()
    if not text:
        raise ConfigError(f"{entry.place}: its question is empty")
    answers = tuple(dict.fromkeys(answer.strip() for answer in entry.answers if answer.strip()))
    if not answers:
        raise ConfigError(f"{entry.place}: has no answer; give at least one")
    return Question(
        question_id=entry.question_id or f"{document.document_id}-{number}",
        document_id=document.document_id,
        text=text,
        answers=answers,
        kind="choice" if entry.choices else entry.kind,
        choices=tuple(choice.strip() for choice in entry.choices),
        evidence=tuple(_span(evidence, entry, document.text) for evidence in entry.evidence),
        level=entry.level,
        metadata=entry.metadata,
    )


def _span(evidence: Span | str, entry: Entry, text: str) -> Span:
    """The span in the document's text, where each Windows line end of the entry is one character shorter."""
    if isinstance(evidence, Span):
        start, end = (at - entry.context.count("\r\n", 0, at) for at in (evidence.start, evidence.end))
        if not 0 <= start < end <= len(text):
            raise ConfigError(
                f"{entry.place}: evidence [{evidence.start}, {evidence.end}] is outside its text of {len(text):,} "
                "characters"
            )
        return Span(start=start, end=end)
    quote = _with_unix_line_ends(evidence)
    start = text.find(quote)
    if not quote or start < 0:
        raise ConfigError(f"{entry.place}: evidence '{_shortened(quote)}' is not in its text; quote it exactly")
    if text.find(quote, start + 1) >= 0:
        raise ConfigError(
            f"{entry.place}: evidence '{_shortened(quote)}' occurs more than once in its text; quote more of it"
        )
    return Span(start=start, end=start + len(quote))


def _with_unix_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _shortened(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 60 else f"{one_line[:60]}…"
