"""`report.html`: the whole report of a run as one file that needs no network, to be passed on.

The drawing library, the charts and the samples are packed (gzip, base64) and unpacked by the browser: the page is a
third of the size, and nothing of a model or a document stands in it as markup. All else is escaped where it is put in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from contextcliff.findings.finding import PAGE_NAME, FinishedRun, Image, sections_of
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import SCHEMA_VERSION, Report
from contextcliff.reporting.data_files import write_text
from contextcliff.reporting.files import FIGURES
from contextcliff.reporting.page.excerpts import Excerpt
from contextcliff.reporting.page.html_blocks import html_of
from contextcliff.reporting.page.packing import PageSection, embedded, rendered
from contextcliff.reporting.page.page_samples import page_samples
from contextcliff.reporting.words import english

_FIRST = ("answer", "score_by_length")
"""Sections that stand before the others."""
_MOST_IMAGES = 1_500_000
"""Bytes of the figures; those beyond lie beside the page alone."""


def write_pages(
    run: FinishedRun,
    *,
    excerpts: Mapping[str, Sequence[Excerpt]],
    prompts: Mapping[str, str],
    folder: Path,
) -> tuple[Path, ...]:
    """Write `report.html` into a run's folder, with the figures that lie in it already, and its sections' own pages.

    Returns the paths.
    """
    sections = sections_of(run.report)
    names = [figure.name for section in sections for figure in section.figures]
    images = {name: path.read_bytes() for name in names if (path := folder / FIGURES / f"{name}.png").is_file()}
    page = report_page(run.report, scored=run.scored, excerpts=excerpts, prompts=prompts, images=images)
    pages = {PAGE_NAME: page, **{section.page_name: section.page(run) for section in sections if section.page_name}}
    return tuple(write_text(path=folder / name, text=text) for name, text in pages.items() if text is not None)


def report_page(
    report: Report,
    *,
    scored: Sequence[ScoredSample],
    excerpts: Mapping[str, Sequence[Excerpt]],
    prompts: Mapping[str, str],
    images: Mapping[str, bytes],
) -> str:
    """The page. `excerpts` and `prompts` are those that were kept, by sample; `images` are drawn figures by name."""
    samples = page_samples(scored, excerpts=excerpts, prompts=prompts)
    return rendered(
        "report.html",
        {},
        {"samples": {"columns": samples.columns, "rows": samples.rows}},
        report=report,
        sections=sorted(_sections(report, images=images), key=lambda each: each.key not in _FIRST),
        samples=samples,
        schema_version=SCHEMA_VERSION,
    )


def _sections(report: Report, *, images: Mapping[str, bytes]) -> Iterator[PageSection]:
    from markupsafe import Markup

    room = _MOST_IMAGES
    for section in sections_of(report):
        figures = {}
        for figure in section.figures:
            image = images.get(figure.name)
            if image is not None and len(image) <= room:
                room -= len(image)
                figures[figure.name] = embedded(image, caption=figure.caption)
        # What can be seen first, then what can be looked up.
        shown = sorted(section.show(report), key=lambda block: not isinstance(block, Image))
        blocks = [html_of(block, language=english, figures=figures) for block in shown]
        body = Markup("\n").join(block for block in blocks if block)
        if body:
            yield PageSection(key=section.key, title=section.title, body=body, folded=section.folded)
