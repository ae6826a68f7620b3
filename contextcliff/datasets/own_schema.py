"""The project's own columns of a question, shared by `jsonl`, `documents` and `stories`.

`question` and `answers` (a list, or as in SQuAD `{text, answer_start}`), or `choices` with `answer_index` counted from
0; and optional: `id`, `evidence` (verbatim quotes or [start, end] in characters), `level`, `metadata`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from contextcliff.datasets.entries import Entry, checked_choice
from contextcliff.datasets.rows import Row
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Span

QUESTION_COLUMNS = ("id", "answers", "choices", "answer_index", "evidence", "level", "metadata")
"""Those that may be missing, beside `question`."""


def json_rows(file: Path, *, place: str) -> Iterator[Row]:
    """The objects of a JSON Lines file, blank lines left out. Raises `ConfigError` for a line that is none."""
    try:
        with file.open(encoding="utf-8-sig") as lines:
            yield from rows_of_lines(lines, place=place)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{place}: is not UTF-8 text; convert it first") from error
    except OSError as error:
        raise ConfigError(f"{place}: can't be read ({error.strerror}); give a file that can") from error


def rows_of_lines(lines: Iterator[str] | Sequence[str], *, place: str) -> Iterator[Row]:
    """The same from lines that are at hand."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{place}: line {number} is no JSON; write one object a line") from error
        if not isinstance(values, dict):
            raise ConfigError(f"{place}: line {number} is no JSON object; write one object a line")
        yield Row(values=values, place=f"{place}: line {number}")


def entry_of(
    row: Row,
    *,
    context: str,
    document_id: str | None,
    title: str = "",
    kind: str = "short",
    metadata: Sequence[str] = (),
) -> Entry:
    """The question of a row, asked of `context`. `metadata` names further columns that travel with it.

    Raises `ConfigError` for a value that is missing or of another kind.
    """
    answers, found_at = _answers(row)
    choices = row.texts("choices")
    if choices:
        right = checked_choice(choices, row.whole("answer_index"), place=row.place, key="answer_index")
        if answers and right not in answers:
            raise row.fault(f"answer_index={row.whole('answer_index')} is another choice than its answers tell")
        answers = (right,)
    evidence = tuple(_piece(row, item) for item in row.listed("evidence"))
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
        evidence=evidence or tuple(_at(row, context, answers[0], start) for start in found_at[:1] if answers),
        level=_level(row),
        metadata=_metadata(row, metadata),
    )


def span_of(context: str, answer: str, start: int) -> Span | None:
    """Where SQuAD's `answer_start` puts an answer; None where something else stands there."""
    return Span(start=start, end=start + len(answer)) if answer and context.startswith(answer, start) else None


def squad_answers(row: Row) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The texts and the starts of SQuAD's `answers`, equally many."""
    answers = row.part("answers")
    starts = tuple(start for start in answers.listed("answer_start") if isinstance(start, int))
    texts = answers.texts("text")
    if len(starts) not in (0, len(texts)):
        raise row.fault(f"answers has {len(texts)} texts and {len(starts)} places in answer_start")
    return texts, starts


def _answers(row: Row) -> tuple[tuple[str, ...], tuple[int, ...]]:
    if isinstance(row.values.get("answers"), Mapping):
        return squad_answers(row)
    if not row.holds("answers") and not row.listed("choices"):
        raise row.fault("answers is missing")
    return row.texts("answers"), ()


def _at(row: Row, context: str, answer: str, start: int) -> Span:
    found = span_of(context, answer, start)
    if found is None:
        raise row.fault(f"answers.answer_start={start} is not where its answer stands in the text")
    return found


def _piece(row: Row, item: object) -> Span | str:
    if isinstance(item, str):
        return item
    if isinstance(item, list | tuple) and len(item) == 2 and all(type(place) is int for place in item):
        return Span(start=item[0], end=item[1])
    raise row.fault("evidence must be a list of quotes or of [start, end]")


def _level(row: Row) -> int:
    level = row.whole("level") if row.holds("level") else 1
    if level < 1:
        raise row.fault(f"level={level} must be 1 or more")
    return level


def _metadata(row: Row, columns: Sequence[str]) -> Mapping[str, str | int | float]:
    found = dict(row.part("metadata").values) if row.holds("metadata") else {}
    for column in columns:
        if column not in row.values:
            raise row.fault(f"has no column {column}, which dataset.metadata names; it has {', '.join(row.values)}")
        found[column] = row.values[column]
    return {name: _fact(row, name, value) for name, value in found.items() if value is not None}


def _fact(row: Row, name: str, value: object) -> str | int | float:
    match value:
        case bool():
            return str(value).lower()
        case float() if not math.isfinite(value):
            raise row.fault(f"{name}={value} is no number")
        case str() | int() | float():
            return value
        case _:
            raise row.fault(f"{name} must be text or a number to go with the scores")
