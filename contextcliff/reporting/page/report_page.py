"""`report.html`: the whole report of a run as one file that needs no network, with the evidence of its samples. A run
has the documents at hand and keeps the excerpts beside its report; a later analysis has none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from contextcliff.findings.finding import PAGE_NAME, FinishedRun, findings_of
from contextcliff.records.corpus import Document
from contextcliff.records.generation import ScoredSample
from contextcliff.records.sample import Passage, Sample, Words
from contextcliff.reporting.data_files import read_rows, write_rows, write_text
from contextcliff.reporting.markdown import chapters
from contextcliff.reporting.page.markup import page_of
from contextcliff.reporting.text import tame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


_MOST_CHARACTERS = 9_000_000
"""Of all texts together: the page stays under 15 MB in letters of one byte."""
_LIMITS = (50_000, 20_000, 8_000, 4_000, 2_000, 1_000, 500, 250, 100, 40)
_MOST_PROMPT = 200_000
"""Characters of one prompt."""

COLUMNS = (
    *("id", "asked", "tokens", "depth", "trial", "score", "failure", "document", "question", "answers", "prediction"),
    *("output", "reasoning", "reasoning_tokens", "excerpts", "ttft_ms", "latency_ms", "prompt"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PageSamples:
    """Rows of `COLUMNS`, with every text tamed for a reader."""

    rows: tuple[tuple[object, ...], ...]
    cut_after: int | None
    """Characters that are shown of each text; None: all of them."""
    n_prompts: int = 0
    """Samples whose prompt is on the page."""
    columns: tuple[str, ...] = COLUMNS


def page_samples(
    scored: Sequence[ScoredSample], *, excerpts: Mapping[str, Sequence[Excerpt]], prompts: Mapping[str, str]
) -> PageSamples:
    """The rows in the order of the samples, with texts cut so that all fit on a page; kept `prompts`, of wrong answers
    first, fill the room that is left."""
    sizes: list[int] = []
    for item in scored:
        pieces = (part for each in excerpts.get(item.sample.sample_id, ()) for part in each)
        said = (item.prediction, _output(item) or "", _reasoning(item))
        sizes += map(len, (item.sample.question, *item.sample.answers, *said, *pieces))
    rooms = {limit: _MOST_CHARACTERS - sum(min(size, limit) for size in sizes) for limit in _LIMITS}
    limit = next((limit for limit, room in rooms.items() if room >= 0), _LIMITS[-1])
    room, shown = rooms[limit], dict[str, str]()
    for item in sorted(scored, key=lambda each: (each.score is None, each.score or 0.0)):
        prompt = prompts.get(item.sample.sample_id)
        if prompt is not None and len(prompt) <= min(room, _MOST_PROMPT):
            shown[item.sample.sample_id] = prompt
            room -= len(prompt)
    names = [item.sample.sample_id for item in scored]
    rows = (
        _row(item, excerpts.get(name, ()), limit=limit, prompt=shown.get(name))
        for name, item in zip(names, scored, strict=True)
    )
    cut_after = limit if max(sizes, default=0) > limit else None
    return PageSamples(rows=tuple(rows), cut_after=cut_after, n_prompts=len(shown))


def _output(item: ScoredSample) -> str | None:
    """What the model said, unless it is the prediction, as most short answers are: once is enough."""
    output = None if item.generation is None else item.generation.text
    return None if output == item.prediction else output


def _reasoning(item: ScoredSample) -> str:
    return "" if item.generation is None else item.generation.reasoning


def _row(item: ScoredSample, excerpts: Sequence[Excerpt], *, limit: int, prompt: str | None) -> tuple[object, ...]:
    sample, generation = item.sample, item.generation

    def cut(text: str) -> str:
        return tame(text if len(text) <= limit else f"{text[:limit]}…")

    output = _output(item)
    return (
        sample.sample_id,
        sample.context_tokens,
        item.measured_tokens,
        sample.depth,
        sample.trial,
        item.score,
        None if item.failure is None else tame(item.failure),
        tame(sample.document_id),
        cut(sample.question),
        [cut(answer) for answer in sample.answers],
        cut(item.prediction),
        None if output is None else cut(output),
        cut(_reasoning(item)),
        None if generation is None else generation.reasoning_tokens,
        [[cut(part) for part in each] for each in excerpts],
        None if generation is None else round(generation.ttft_ms, 1),
        None if generation is None else round(generation.latency_ms, 1),
        None if prompt is None else tame(prompt),
    )


def write_pages(
    run: FinishedRun,
    *,
    excerpts: Mapping[str, Sequence[Excerpt]],
    prompts: Mapping[str, str],
    figures: Mapping[str, Figure],
    folder: Path,
) -> None:
    """Write `report.html` into a run's folder, and its findings' own pages. `excerpts` and `prompts` are those that
    were kept, by sample; `figures` are drawn ones by name."""
    told = run.report.run
    page = page_of(
        chapters(run.report, figures=[f"{name}.png" for name in figures]), title=told.model,
        subtitle=f"{told.task} · KV policy {told.kv_policy} · {told.engine} · {told.created_at[:10]}", figures=figures,
        run_id=told.run_id, samples=page_samples(run.scored, excerpts=excerpts, prompts=prompts),
    )  # fmt: skip
    write_text(path=folder / PAGE_NAME, text=page)
    for finding in findings_of(run.report):
        if finding.page_name and (text := finding.page(run)) is not None:
            write_text(path=folder / finding.page_name, text=text)
