"""From a dataset's entries to a corpus: equal texts are one document, and what can't be asked is refused."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document, Question, Span

MOST_CHOICES = 26
"""Choices are told apart by the letters A to Z."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One question with the whole text that it is asked of. `place` names it in messages."""

    place: str
    context: str
    question: str
    answers: tuple[str, ...]
    question_id: str | None = None
    """None: the document's, and a number."""
    document_id: str | None = None
    """None: a digest of the text."""
    title: str = ""
    kind: str = "short"
    choices: tuple[str, ...] = ()
    evidence: tuple[Span | str, ...] = ()
    """Places in `context`, or verbatim quotes, each of which stands in it exactly once."""
    level: int = 1
    metadata: Mapping[str, str | int | float] = field(default_factory=dict)


def assemble(
    entries: Iterable[Entry],
    *,
    source: str,
    language: str = "en",
    documents: Iterable[Document] = (),
    notes: Iterable[str] = (),
) -> Corpus:
    """Questions in the order of `entries`, and their documents after those of `documents`.

    `source` names where all of them come from. Raises `ConfigError` for an entry without text, question or answer, an
    id that stands twice, a document id with two texts, a quote that is not in its text, and where there is no entry.
    """
    found = {document.document_id: document for document in documents}
    questions: dict[str, Question] = {}
    asked: Counter[str] = Counter()
    for entry in entries:
        document = _document(entry, language)
        if found.setdefault(document.document_id, document).text != document.text:
            raise ConfigError(f"{entry.place}: document {document.document_id} has two different texts")
        asked[document.document_id] += 1
        question = _question(entry, document, number=asked[document.document_id])
        if question.question_id in questions:
            raise ConfigError(
                f"{entry.place}: question id {question.question_id} stands twice; give every question its own"
            )
        questions[question.question_id] = question
    if not questions:
        raise ConfigError(f"{source}: holds no question that can be asked; give one that does")
    return Corpus(documents=tuple(found.values()), questions=tuple(questions.values()), notes=tuple(notes))


def checked_choice(choices: tuple[str, ...], index: int, *, place: str, key: str, first: int = 0) -> str:
    """The right one of `choices`, `index` counted from `first`. Raises `ConfigError` for one that is not among them."""
    if not 0 <= index - first < len(choices):
        raise ConfigError(
            f"{place}: {key}={index} is none of the {len(choices)} choices, which are counted from {first}"
        )
    if len(choices) > MOST_CHOICES:
        raise ConfigError(f"{place}: has {len(choices)} choices; up to {MOST_CHOICES} have a letter")
    if not are_distinct(choices):
        raise ConfigError(f"{place}: has two equal choices, so that no letter is the right one")
    return choices[index - first]


def are_distinct(choices: tuple[str, ...]) -> bool:
    """Whether no two choices are the same."""
    return len({choice.strip() for choice in choices}) == len(choices)


def _document(entry: Entry, language: str) -> Document:
    text = _unix(entry.context)
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
        evidence=tuple(_span(piece, entry, document.text) for piece in entry.evidence),
        level=entry.level,
        metadata=entry.metadata,
    )


def _span(piece: Span | str, entry: Entry, text: str) -> Span:
    if isinstance(piece, Span):
        start, end = (place - entry.context.count("\r\n", 0, place) for place in (piece.start, piece.end))
        if not 0 <= start < end <= len(text):
            raise ConfigError(
                f"{entry.place}: evidence [{piece.start}, {piece.end}] is not inside of its {len(text):,} characters"
            )
        return Span(start=start, end=end)
    quote = _unix(piece)
    start = text.find(quote)
    if not quote or start < 0:
        raise ConfigError(f"{entry.place}: evidence '{_brief(quote)}' is not in its text; quote it to the letter")
    if text.find(quote, start + 1) >= 0:
        raise ConfigError(
            f"{entry.place}: evidence '{_brief(quote)}' stands more than once in its text; quote more of it"
        )
    return Span(start=start, end=start + len(quote))


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _brief(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 60 else f"{one_line[:60]}…"
