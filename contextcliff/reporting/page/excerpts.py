"""Where the evidence of a sample stands in its prompt. A run has the documents at hand and keeps the excerpts beside
its report; a later analysis has none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from contextcliff.records.corpus import Document
from contextcliff.records.sample import Passage, Sample, Words
from contextcliff.reporting.data_files import read_rows, write_rows

EXCERPTS_NAME = "evidence.jsonl.gz"
_AROUND = 160
"""Characters of the text on either side."""
_LONGEST = 600
"""Characters of one piece of evidence."""
_MOST_PIECES = 12


class Excerpt(NamedTuple):
    """A piece of evidence between what stands before and after it; both empty where the text is not at hand."""

    before: str
    evidence: str
    after: str


def excerpts_of(sample: Sample, documents: Mapping[str, Document]) -> tuple[Excerpt, ...]:
    """The evidence that a task marked in a document or in its own words; else what it put between the passages of one,
    or in a conversation the earlier replies that hold an accepted answer."""
    document = documents.get(sample.document_id)
    marked = _own_words(sample) if document is None else document.text
    if sample.reference.evidence and marked:
        return tuple(_cut(marked, span.start, span.end) for span in sample.reference.evidence[:_MOST_PIECES])
    found = _replies(sample, documents) if sample.recipe.turns else _inserted(sample, documents)
    return tuple(islice(found, _MOST_PIECES))


def _own_words(sample: Sample) -> str:
    """The prompt of a sample that is cut from no document; of any other nothing."""
    pieces = sample.recipe.user
    words = [piece.text for piece in pieces if isinstance(piece, Words)]
    return "".join(words) if len(words) == len(pieces) else ""


def _cut(text: str, start: int, end: int) -> Excerpt:
    shown = min(end, start + _LONGEST)
    return Excerpt(
        before=text[max(0, start - _AROUND) : start],
        evidence=text[start:shown] + ("…" if shown < end else ""),
        after=text[end : end + _AROUND],
    )


def _inserted(sample: Sample, documents: Mapping[str, Document]) -> Iterator[Excerpt]:
    # The first and the last piece are the instruction and the question.
    pieces = sample.recipe.user
    for place in range(1, len(pieces) - 1):
        piece = pieces[place]
        if isinstance(piece, Words) and piece.text.strip():
            before, after = _text(pieces[place - 1], documents), _text(pieces[place + 1], documents)
            own = piece.text if len(piece.text) <= _LONGEST else f"{piece.text[:_LONGEST]}…"
            yield Excerpt(before=before[-_AROUND:], evidence=own, after=after[:_AROUND])


def _replies(sample: Sample, documents: Mapping[str, Document]) -> Iterator[Excerpt]:
    turns = sample.recipe.turns
    parts = [*(part for turn in turns for part in (turn.user, turn.assistant)), sample.recipe.user]
    said = ["".join(_text(piece, documents) for piece in part) for part in parts]
    for place in range(1, len(said), 2):
        if any(answer in said[place] for answer in sample.answers):
            reply = _cut(said[place], 0, len(said[place]))
            before, after = said[place - 1][-_AROUND:], said[place + 1][:_AROUND]
            yield Excerpt(before=f"{before}\n\n", evidence=reply.evidence, after=f"\n\n{after}")


def _text(piece: Words | Passage, documents: Mapping[str, Document]) -> str:
    if isinstance(piece, Words):
        return piece.text
    document = documents.get(piece.document_id)
    if document is None:
        return ""
    # Both ends are enough: a passage can be a million characters long.
    if piece.end - piece.start <= 2 * _AROUND:
        return document.text[piece.start : piece.end]
    first = document.text[piece.start : piece.start + _AROUND]
    return first + document.text[piece.end - _AROUND : piece.end]


def write_excerpts(excerpts: Mapping[str, tuple[Excerpt, ...]], *, path: Path) -> Path:
    """Write them by `sample_id`, a line a sample that has some, as `write_rows` does. Returns `path`."""
    rows = ({"sample_id": sample_id, "excerpts": of_sample} for sample_id, of_sample in excerpts.items() if of_sample)
    return write_rows(rows, path=path)


def read_excerpts(places: Iterable[Path]) -> dict[str, tuple[Excerpt, ...]]:
    """What `write_excerpts` left in the first of these files that is there, as `read_rows` reads it."""

    def of_sample(kept: Any) -> tuple[str, tuple[Excerpt, ...]]:
        return str(kept["sample_id"]), tuple(Excerpt(*map(str, parts)) for parts in kept["excerpts"])

    path = next((place for place in places if os.path.lexists(place)), None)
    return {} if path is None else read_rows(path, of_sample)
