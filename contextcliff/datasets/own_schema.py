"""The project's own columns for a question, shared by `jsonl`, `documents` and `stories`.

Required are `question` and `answers` (a list, or SQuAD's `{text, answer_start}`), or `choices` with `answer_index`,
counted from 0, in place of `answers`. Optional are `id`, `evidence` (a list of verbatim quotes or of [start, end] in
characters), `level` and `metadata`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from contextcliff.datasets.entries import Entry, Row, choice_at
from contextcliff.records.corpus import Span

OPTIONAL_COLUMNS = ("id", "answers", "choices", "answer_index", "evidence", "level", "metadata")
"""The columns that a table may lack, unlike `question`."""


def entry_of(
    row: Row,
    *,
    context: str,
    document_id: str | None,
    title: str = "",
    kind: str = "short",
    metadata: Sequence[str] = (),
) -> Entry:
    """The question of a row, on the text `context`. `metadata` names further columns to keep as metadata.

    Raises `ConfigError` for a value that is missing or of the wrong type.
    """
    answers, starts = _answers(row)
    choices = row.texts("choices")
    if choices:
        right = choice_at(choices, row.integer("answer_index"), place=row.place, key="answer_index")
        if answers and right not in answers:
            raise row.error(f"answer_index={row.integer('answer_index')} is a choice that is not among its answers")
        answers = (right,)
    evidence = tuple(_evidence(row, item) for item in row.sequence("evidence"))
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
        evidence=evidence or tuple(_answer_span(row, context, answers[0], start) for start in starts[:1] if answers),
        level=_level(row),
        metadata=_metadata(row, metadata),
    )


def span_of(context: str, answer: str, start: int) -> Span | None:
    """The span of an answer at SQuAD's `answer_start`; None where the text has something else there."""
    return Span(start=start, end=start + len(answer)) if answer and context.startswith(answer, start) else None


def squad_answers(row: Row) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The texts of SQuAD's `answers`, and their starts in characters: as many, or none."""
    answers = row.mapping("answers")
    starts = tuple(start for start in answers.sequence("answer_start") if isinstance(start, int))
    texts = answers.texts("text")
    if len(starts) not in (0, len(texts)):
        raise row.error(f"answers has {len(texts)} texts, but {len(starts)} values in answer_start")
    return texts, starts


def _answers(row: Row) -> tuple[tuple[str, ...], tuple[int, ...]]:
    if isinstance(row.values.get("answers"), Mapping):
        return squad_answers(row)
    if not row.holds("answers") and not row.sequence("choices"):
        raise row.error("answers is missing")
    return row.texts("answers"), ()


def _answer_span(row: Row, context: str, answer: str, start: int) -> Span:
    span = span_of(context, answer, start)
    if span is None:
        raise row.error(f"answers.answer_start={start} does not point at the answer in the text")
    return span


def _evidence(row: Row, item: object) -> Span | str:
    if isinstance(item, str):
        return item
    if isinstance(item, list | tuple) and len(item) == 2 and all(type(offset) is int for offset in item):
        return Span(start=item[0], end=item[1])
    raise row.error("evidence must be a list of quotes or of [start, end]")


def _level(row: Row) -> int:
    level = row.integer("level") if row.holds("level") else 1
    if level < 1:
        raise row.error(f"level={level} must be 1 or more")
    return level


def _metadata(row: Row, columns: Sequence[str]) -> Mapping[str, str | int | float]:
    metadata = dict(row.mapping("metadata").values) if row.holds("metadata") else {}
    for column in columns:
        if column not in row.values:
            raise row.error(f"has no column {column}, which dataset.metadata names; it has {', '.join(row.values)}")
        metadata[column] = row.values[column]
    return {name: _metadata_value(row, name, value) for name, value in metadata.items() if value is not None}


def _metadata_value(row: Row, name: str, value: object) -> str | int | float:
    match value:
        case bool():
            return str(value).lower()
        case float() if not math.isfinite(value):
            raise row.error(f"{name}={value} is not a finite number")
        case str() | int() | float():
            return value
        case _:
            raise row.error(f"{name} must be text or a number, as metadata is")
