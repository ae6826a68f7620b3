"""`report.html`: the whole report of a run as one file that needs no network, to be passed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.findings.finding import PAGE_NAME, FinishedRun, findings_of
from contextcliff.records.generation import ScoredSample
from contextcliff.reporting.data_files import write_text
from contextcliff.reporting.markdown import chapters
from contextcliff.reporting.outside_text import tame
from contextcliff.reporting.page.excerpts import Excerpt
from contextcliff.reporting.page.markup import page_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MOST_CHARACTERS = 9_000_000
"""Of all texts together: the page stays under 15 MB in letters of one byte."""
_LIMITS = (50_000, 20_000, 8_000, 4_000, 2_000, 1_000, 500, 250, 100, 40)
_MOST_PROMPT = 200_000
"""Characters of one prompt."""

COLUMNS = (
    *("id", "asked", "tokens", "depth", "trial", "score", "failure", "document", "question", "answers", "prediction"),
    *("output", "excerpts", "ttft_ms", "latency_ms", "prompt"),
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
    scored: Sequence[ScoredSample],
    *,
    excerpts: Mapping[str, Sequence[Excerpt]],
    prompts: Mapping[str, str],
) -> PageSamples:
    """The rows in the order of the samples, with texts cut so that all fit on a page; kept `prompts`, of wrong answers
    first, fill the room that is left."""
    sizes: list[int] = []
    for item in scored:
        pieces = (part for each in excerpts.get(item.sample.sample_id, ()) for part in each)
        sizes += map(len, (item.sample.question, *item.sample.answers, item.prediction, _output(item) or "", *pieces))
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
    """Write `report.html` into a run's folder, and its findings' own pages."""
    page = report_page(run, excerpts=excerpts, prompts=prompts, figures=figures)
    write_text(path=folder / PAGE_NAME, text=page)
    for finding in findings_of(run.report):
        if finding.page_name and (text := finding.page(run)) is not None:
            write_text(path=folder / finding.page_name, text=text)


def report_page(
    finished: FinishedRun,
    *,
    excerpts: Mapping[str, Sequence[Excerpt]],
    prompts: Mapping[str, str],
    figures: Mapping[str, Figure],
) -> str:
    """The page. `excerpts` and `prompts` are those that were kept, by sample; `figures` are drawn ones by name."""
    run = finished.report.run
    return page_of(
        chapters(finished.report, figures=[f"{name}.png" for name in figures]),
        title=run.model,
        subtitle=f"{run.task} · KV policy {run.kv_policy} · {run.engine} · {run.created_at[:10]}",
        figures=figures,
        run_id=run.run_id,
        samples=page_samples(finished.scored, excerpts=excerpts, prompts=prompts),
    )
