"""A comparison as its files and on the console.

`comparison.json`, `comparison.html`, `comparison.md`, `comparison.csv`, figures and what its parts add; and on the
console a table of the runs, what each part says, and where the files lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as ConsoleTable
from rich.text import Text

from contextcliff.datasets.local_files import UnreadableFile, json_of
from contextcliff.findings import phrases
from contextcliff.findings.finding import Image
from contextcliff.findings.published import published_blocks, sources
from contextcliff.records.published import PublishedCurve
from contextcliff.records.report import SCHEMA_VERSION
from contextcliff.reporting.comparison import comparison as rows
from contextcliff.reporting.comparison.comparison import ComparedFigure, ComparedRun, Comparison
from contextcliff.reporting.comparison.part_list import PARTS
from contextcliff.reporting.comparison.verdict_tables import HEAD, cells, decision_data, verdict_blocks
from contextcliff.reporting.comparison.verdict_words import answer
from contextcliff.reporting.data_files import csv_text, json_text, write_text
from contextcliff.reporting.figures.curves_figure import Curve, curves_figure
from contextcliff.reporting.figures.forest_figure import ForestRow, forest_figure
from contextcliff.reporting.figures.report_figures import write_figure
from contextcliff.reporting.markdown import Chapter, bullets, escape, image, joined, markdown_of_all, table
from contextcliff.reporting.outside_text import shown
from contextcliff.reporting.page.markup import page_of
from contextcliff.reporting.run_names import with_file_names
from contextcliff.reporting.schema import plain

_OBJECT, _PAGE, _UNNAMED = "comparison.json", "comparison.html", "comparison"
Compared = tuple[str, str, bool]
"""A run in a comparison: its id, the folder or file that it was read from, and whether it was measured anew."""
_CURVES, _FOREST = "curves", "differences"


def runs_of(compared: Sequence[ComparedRun] | Path) -> frozenset[Compared] | None:
    """Which runs are compared, or were in a comparison's folder; None where there is none that can be read."""
    if not isinstance(compared, Path):
        return frozenset((run.run_id, run.folder, run.remeasured) for run in compared)
    try:
        stored = json_of(compared / _OBJECT)["runs"]
        return frozenset((run["run_id"], run["source"], run.get("remeasured", False)) for run in stored)
    except (UnreadableFile, KeyError, TypeError, AttributeError):
        return None


def place_of(runs: Sequence[ComparedRun], *, comparisons: Path) -> Path:
    """The folder of a comparison without a name: that of the same runs, or the first that is free."""
    wanted = runs_of(runs)
    names = chain((_UNNAMED,), (f"{_UNNAMED}-{number}" for number in count(2)))
    folders = (comparisons / name for name in names)
    return next(folder for folder in folders if not (folder / _OBJECT).exists() or runs_of(folder) == wanted)


def write_comparison(comparison: Comparison, *, folder: Path, dpi: int | None, html: bool = True) -> tuple[Path, ...]:
    """Write all that there is to say into `folder`; return the paths.

    Figures have `dpi` dots an inch; None: none is drawn. With `html` there are pages for a browser. A figure or file
    that an earlier comparison of the same name left and that has no data any more is removed.
    """
    of_parts = (figure for part in comparison.parts for figure in part.figures)
    figures = () if dpi is None else (*_curves(comparison), *_forest(comparison), *of_parts)
    drawings = {figure.name: figure.draw() for figure in figures}
    drawn = (
        []
        if dpi is None
        else [write_figure(drawing, path=folder / f"{name}.png", dpi=dpi) for name, drawing in drawings.items()]
    )
    chapters = _chapters(comparison, figures=figures)
    page: list[Path] = []
    if html:
        baseline = "" if comparison.baseline is None else f", against {comparison.baseline.name}"
        text = page_of(
            chapters,
            title=f"Comparison: {comparison.name}",
            subtitle=f"{len(comparison.runs):,} runs{baseline}",
            figures=drawings,
        )
        page.append(write_text(path=folder / _PAGE, text=text))
    for name in (_PAGE, f"{_CURVES}.png", f"{_FOREST}.png", *(name for listed in PARTS for name in listed.files)):
        if folder / name not in (*drawn, *page):
            (folder / name).unlink(missing_ok=True)
    return (
        write_text(path=folder / _OBJECT, text=json_text(_object(comparison))),
        write_text(path=folder / "comparison.csv", text=csv_text(rows.length_rows(comparison))),
        *drawn,
        *page,
        write_text(path=folder / "comparison.md", text=joined(f"Comparison: {comparison.name}", chapters)),
    )


def _with_scores(comparison: Comparison) -> list[Curve]:
    """All runs of ours that have some."""
    return [
        Curve(name=run.name, report=run.report)
        for run in comparison.runs
        if run.report is not None and any(a_bin.mean is not None for a_bin in run.report.analysis.bins)
    ]


def _curves(comparison: Comparison) -> Iterator[ComparedFigure]:
    if curves := _with_scores(comparison):
        yield ComparedFigure(
            name=_CURVES,
            caption="Scores by length, and safe caps",
            draw=lambda: curves_figure(curves, published=comparison.published),
        )


def _forest(comparison: Comparison) -> Iterator[ComparedFigure]:
    """The differences from the baseline, of the candidates that have pairs."""
    baseline = comparison.baseline
    rows = [ForestRow(name=each.run.name, decision=each.decision) for each in comparison.decided if each.decision]
    if baseline is not None and rows:
        yield ComparedFigure(
            name=_FOREST,
            caption="Differences from the baseline",
            draw=lambda: forest_figure(rows, baseline=baseline.name),
        )


def _object(comparison: Comparison) -> dict[str, object]:
    of_parts: dict[str, object] = {}
    for listed in PARTS:
        of_parts |= listed.without
    for part in comparison.parts:
        of_parts |= part.data
    return {
        "schema_version": SCHEMA_VERSION,
        "name": comparison.name,
        "baseline": None if comparison.baseline is None else comparison.baseline.name,
        "candidates": [decision_data(each, comparison.baseline) for each in comparison.decided],
        "runs": [_run(run, comparison) for run in comparison.runs],
        **of_parts,
        "published": [plain(curve) for curve in comparison.published],
        "notes": list(comparison.notes),
    }


def _run(run: ComparedRun, comparison: Comparison) -> dict[str, object]:
    report = run.report
    of_parts: dict[str, object] = {}
    for listed in PARTS:
        of_parts |= listed.without_of_run
    for part in comparison.parts:
        of_parts |= part.data_of_runs.get(run.name, {})
    return {
        "name": run.name,
        "run_id": run.run_id,
        "source": run.folder,
        "remeasured": run.remeasured,
        "tool": run.tool or "contextcliff",
        "task": report.run.task if report else None,
        "judged_by": with_file_names(report.run.judged_by) if report else {},
        "safe_cap": plain(report.analysis.safe_cap) if report else None,
        "caps": dict(report.analysis.caps) if report else {},
        "mean": report.analysis.mean if report else None,
        "lengths": list(run.lengths),
        **of_parts,
        "parameters": with_file_names(run.parameters),
    }


_RUNS_HEAD = ("run", "safe cap", "shape", "mean score", "lengths")


def _run_cells(comparison: Comparison) -> list[tuple[str, ...]]:
    """The runs, and below them what others have published, which has no cap."""
    return [
        *((run.name, rows.cap(run), rows.shape(run), rows.score(run), rows.lengths(run)) for run in comparison.runs),
        *(_published_cells(curve) for curve in comparison.published),
    ]


def _published_cells(curve: PublishedCurve) -> tuple[str, ...]:
    tokens = [point.tokens for point in curve.points]
    return (curve.name, phrases.MISSING, "not tested", f"{curve.mean:.3f}", rows.lengths_in_short(tokens))


def _chapters(comparison: Comparison, *, figures: Sequence[ComparedFigure]) -> list[Chapter]:
    images = {figure.name: image(f"{figure.name}.png", caption=figure.caption) for figure in figures}
    verdicts = markdown_of_all((*verdict_blocks(comparison), Image(figure=_FOREST)), images)
    shown = [
        Chapter(key="verdicts", title="Verdicts", text=verdicts),
        Chapter(key="runs", title="Runs", text=table(_RUNS_HEAD, _run_cells(comparison), words=1)),
        Chapter(
            key="published",
            title="Published figures",
            text=markdown_of_all(published_blocks(comparison.published), images),
        ),
        Chapter(key="notes", title="Read this first", text=bullets(map(escape, comparison.notes))),
        Chapter(key=_CURVES, title="", text=images.get(_CURVES, "")),
    ]
    shown += [
        Chapter(key=f"part-{place}", title=part.title, text=markdown_of_all(part.blocks, images))
        for place, part in enumerate(comparison.parts)
    ]
    return [chapter for chapter in shown if chapter.text]


_NARROWEST = 16
_WORDED = frozenset({"shape", "verdict"})


def render_comparison(comparison: Comparison, *, console: Console, folder: Path, place: str | None = None) -> None:
    """Print it, readable at 80 columns; `place` is where a tracker keeps it."""
    title = "COMPARISON"
    console.print(title, style="bold", highlight=False)
    console.print("-" * len(title), highlight=False)
    if comparison.baseline is not None:
        _items(console, [answer(each, baseline=comparison.baseline.name) for each in comparison.decided])
        console.print()
        console.print(_verdicts(comparison, console=console), highlight=False)
        console.print()
    console.print(_table(comparison, console=console), highlight=False)
    for part in comparison.parts:
        if part.lines:
            _heading(console, part.title.upper())
            _items(console, part.lines)
    if comparison.published:
        _heading(console, "PUBLISHED FIGURES (never tested against, never paired)")
        _items(console, sources(comparison.published))
    if comparison.notes:
        _heading(console, "NOTES")
        _items(console, comparison.notes)
    console.print()
    # A path is copied: it may run over the edge, but no line break may enter it.
    console.print("FILES (comparison.html, .md, .json, .csv, figures)", style="bold", highlight=False)
    console.print(shown(f"  {folder}", console=console), highlight=False, soft_wrap=True)
    if place is not None:
        console.print("\nTRACKED", style="bold", highlight=False)
        console.print(shown(f"  {place}", console=console), highlight=False, soft_wrap=True)


def _verdicts(comparison: Comparison, *, console: Console) -> ConsoleTable:
    of_each = [cells(each) for each in comparison.decided]
    columns = [(title, [row[place] for row in of_each]) for place, title in enumerate(HEAD)]
    return _named_rows("candidate", [each.run.name for each in comparison.decided], columns, console=console)


def _table(comparison: Comparison, *, console: Console) -> ConsoleTable:
    names, *columns = zip(*_run_cells(comparison), strict=True)
    titled = list(zip(("cap", "shape", "score", "lengths"), columns, strict=True))
    return _named_rows("run", names, titled, console=console)


def _named_rows(
    head: str, given: Sequence[str], columns: Sequence[tuple[str, Sequence[str]]], *, console: Console
) -> ConsoleTable:
    """Numbers are never cut; a long name goes on in the next line."""
    widths = [max(map(cell_len, (name, *cells))) for name, cells in columns]
    names = [_plain(name) for name in given]
    available = max(_NARROWEST, console.width - sum(widths) - len(widths))
    table = ConsoleTable(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    table.add_column(head, width=min(available, max(map(cell_len, (*names, head)))), overflow="fold")
    for (name, _), width in zip(columns, widths, strict=True):
        table.add_column(name, justify="left" if name in _WORDED else "right", no_wrap=True, width=width)
    for place, name in enumerate(names):
        table.add_row(*(shown(text, console=console) for text in (name, *(cells[place] for _, cells in columns))))
    return table


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(text, style="bold", highlight=False)


def _items(console: Console, lines: Sequence[str]) -> None:
    for line in lines:
        lead = "  - "
        for part in shown(_plain(line), console=console).wrap(console, max(20, console.width - len(lead))):
            part.rstrip()
            console.print(Text(lead) + part, highlight=False, soft_wrap=True)
            lead = "    "


def _plain(text: str) -> str:
    return text.replace(" · ", ", ")
