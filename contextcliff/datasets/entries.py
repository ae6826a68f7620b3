"""Builds a corpus from the entries of a dataset: equal texts become one document, incomplete questions are refused."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from contextcliff.errors import ConfigError, one_line
from contextcliff.records.corpus import Corpus, Document, Question, Span

_MAX_LABEL = 200
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """The columns of one row. What is missing or of another type is a `ConfigError`."""

    values: Mapping[str, object]
    place: str
    """Names the row in messages: `dataset.path=qa.jsonl: row 3`."""

    def holds(self, key: str) -> bool:
        return self.values.get(key) is not None

    def text(self, key: str) -> str:
        return self._checked(key, self._required(key), str, "text")

    def label(self, key: str) -> str | None:
        """An identifier (text or a whole number), or None."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        text = self._checked(key, value, str, "text")
        if len(text) > _MAX_LABEL or not text.isprintable():
            raise self.error(f"{key} must be one line of up to {_MAX_LABEL} characters")
        return text or None

    def heading(self, key: str) -> str:
        """A text on one line, cut to 200 characters; empty where there is none."""
        return " ".join(self.text(key).split())[:_MAX_LABEL] if self.holds(key) else ""

    def integer(self, key: str) -> int:
        return self._checked(key, self._required(key), int, "a whole number")

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(self._checked(key, item, str, "text") for item in self.sequence(key))

    def sequence(self, key: str) -> Sequence[object]:
        return self._listed(key, self.values[key]) if self.holds(key) else ()

    def mapping(self, key: str) -> Row:
        return self._as_mapping(key, self._required(key))

    def mappings(self, key: str) -> tuple[Row, ...]:
        """A list of mappings, or what the Hugging Face hub makes of one: a mapping of lists."""
        value = self._required(key)
        if isinstance(value, Mapping):
            columns = {str(name): column for name, column in value.items() if isinstance(column, list | tuple)}
            if len({len(column) for column in columns.values()}) > 1:
                raise self.error(f"{key} has lists of different lengths")
            value = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return tuple(self._as_mapping(key, item) for item in self._listed(key, value))

    def error(self, message: str) -> ConfigError:
        return ConfigError(f"{self.place}: {message}")

    def _required(self, key: str) -> object:
        if not self.holds(key):
            there = "" if key in self.values else f"; it has {', '.join(self.values) or 'nothing'}"
            raise self.error(f"{key} is missing{there}")
        return self.values[key]

    def _as_mapping(self, key: str, value: object) -> Row:
        return Row(values=self._checked(key, value, dict, "a mapping"), place=f"{self.place}: {key}")

    def _listed(self, key: str, value: object) -> Sequence[object]:
        return self._checked(key, list(value) if isinstance(value, tuple) else value, list, "a list")

    def _checked(self, key: str, value: object, kind: type[_T], wanted: str) -> _T:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.error(f"{key} must be {wanted}, got {one_line(repr(value), longest=40)}")
        return value


MAX_CHOICES = 26


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
    """The questions in the order of `entries`; their documents follow those of `documents`. Raises `ConfigError`."""
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
    """The choice at `index`, counted from `first`; `key` names the index. Raises `ConfigError`."""
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
    if isinstance(evidence, Span):
        start, end = (at - entry.context.count("\r\n", 0, at) for at in (evidence.start, evidence.end))
        if not 0 <= start < end <= len(text):
            raise ConfigError(
                f"{entry.place}: evidence [{evidence.start}, {evidence.end}] is outside its text of {len(text):,} "
                "characters"
            )
        return Span(start=start, end=end)
    quote = _with_unix_line_ends(evidence)
    shown, times = one_line(quote, longest=60), text.count(quote) if quote else 0
    if times == 0:
        raise ConfigError(f"{entry.place}: evidence '{shown}' is not in its text; quote it exactly")
    if times > 1:
        raise ConfigError(f"{entry.place}: evidence '{shown}' occurs more than once in its text; quote more of it")
    start = text.index(quote)
    return Span(start=start, end=start + len(quote))


def _with_unix_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def entry_of(
    row: Row,
    *,
    context: str,
    document_id: str | None,
    title: str = "",
    kind: str = "short",
    metadata: Sequence[str] = (),
) -> Entry:
    """The question of a row, on the text `context`. `metadata` names further columns to keep as metadata."""
    answers, choices = row.texts("answers"), row.texts("choices")
    if not choices and not row.holds("answers"):
        raise row.error("answers is missing")
    if choices:
        right = choice_at(choices, row.integer("answer_index"), place=row.place, key="answer_index")
        if answers and right not in answers:
            raise row.error(f"answer_index={row.integer('answer_index')} is a choice that is not among its answers")
        answers = (right,)
    return Entry(
        place=row.place,
        context=context,
        question=row.text("question"),
        answers=answers,
        question_id=row.label("id"),
        document_id=document_id,
        title=title,
        kind=kind,
        choices=choices,
        evidence=tuple(_evidence(row, item) for item in row.sequence("evidence")),
        level=row.integer("level") if row.holds("level") else 1,
        metadata=_metadata(row, metadata),
    )


def _evidence(row: Row, item: object) -> Span | str:
    if isinstance(item, str):
        return item
    if isinstance(item, list | tuple) and len(item) == 2 and all(type(offset) is int for offset in item):
        return Span(start=item[0], end=item[1])
    raise row.error("evidence must be a list of quotes or of [start, end]")


def _metadata(row: Row, columns: Sequence[str]) -> Mapping[str, str | int | float]:
    metadata = dict(row.mapping("metadata").values) if row.holds("metadata") else {}
    for column in columns:
        if column not in row.values:
            raise row.error(f"has no column {column}, which dataset.metadata names; it has {', '.join(row.values)}")
        metadata[column] = row.values[column]
    for name, value in metadata.items():
        if value is not None and not isinstance(value, str | int | float):
            raise row.error(f"{name} must be text or a number, as metadata is")
        if isinstance(value, float) and not math.isfinite(value):
            raise row.error(f"{name}={value} is not a finite number")
    given = {name: value for name, value in metadata.items() if isinstance(value, str | int | float)}
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}
