"""`report.html`: the whole report of a run as one file that needs no network, to be passed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.findings.finding import PAGE_NAME, FinishedRun, sections_of
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting.data_files import write_text
from contextcliff.reporting.markdown import chapters
from contextcliff.reporting.page.excerpts import Excerpt
from contextcliff.reporting.page.markup import page_of
from contextcliff.reporting.page.page_samples import page_samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_pages(
    run: FinishedRun,
    *,
    excerpts: Mapping[str, Sequence[Excerpt]],
    prompts: Mapping[str, str],
    figures: Mapping[str, Figure],
    folder: Path,
) -> tuple[Path, ...]:
    """Write `report.html` into a run's folder, and its findings' own pages. Returns the paths."""
    page = report_page(run.report, scored=run.scored, excerpts=excerpts, prompts=prompts, figures=figures)
    with_pages = [section for section in sections_of(run.report) if section.page_name]
    pages = {PAGE_NAME: page, **{section.page_name: section.page(run) for section in with_pages}}
    return tuple(write_text(path=folder / name, text=text) for name, text in pages.items() if text is not None)


def report_page(
    report: Report,
    *,
    scored: Sequence[ScoredSample],
    excerpts: Mapping[str, Sequence[Excerpt]],
    prompts: Mapping[str, str],
    figures: Mapping[str, Figure],
) -> str:
    """The page. `excerpts` and `prompts` are those that were kept, by sample; `figures` are drawn ones by name."""
    run = report.run
    return page_of(
        chapters(report, figures=[f"{name}.png" for name in figures]),
        title=run.model,
        subtitle=f"{run.task} · KV policy {run.kv_policy} · {run.engine} · {run.created_at[:10]}",
        figures=figures,
        run_id=run.run_id,
        samples=page_samples(scored, excerpts=excerpts, prompts=prompts),
    )
