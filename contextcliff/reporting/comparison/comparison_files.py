"""The files of a comparison: `comparison.json`, `comparison.md`, `comparison.csv`, figures and `writing.html`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain, count
from pathlib import Path

from contextcliff.records.report import SCHEMA_VERSION
from contextcliff.reporting.atomic import write_text
from contextcliff.reporting.comparison import comparison as rows
from contextcliff.reporting.comparison.comparison import ComparedRun, Comparison
from contextcliff.reporting.data_files import csv_text, json_text
from contextcliff.reporting.figures.curves_figure import Curve, curves_figure
from contextcliff.reporting.figures.report_figures import write_figure
from contextcliff.reporting.file_names import with_file_names
from contextcliff.reporting.markup import bullets, escape, image, table
from contextcliff.writing.sections.comparison_figures import core_figure, measures_figure
from contextcliff.writing.sections.writing_page import WritingRun, page_of

_OBJECT, _UNNAMED = "comparison.json", "comparison"
Compared = tuple[str, str, bool]
"""A run in a comparison: its id, the folder or file that it was read from, and whether it was measured anew."""
CURVES, CORE, MEASURED, PAGE = "curves.png", "writing_core.png", "writing_measures.png", "writing.html"


def runs_of(compared: Sequence[ComparedRun] | Path) -> frozenset[Compared] | None:
    """Which runs are compared, or were in a comparison's folder; None where there is none that can be read."""
    if not isinstance(compared, Path):
        return frozenset((run.run_id, run.folder, run.remeasured) for run in compared)
    try:
        found = json.loads((compared / _OBJECT).read_text(encoding="utf-8"))["runs"]
        return frozenset((run["run_id"], run["source"], run.get("remeasured", False)) for run in found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def place_of(runs: Sequence[ComparedRun], *, comparisons: Path) -> Path:
    """The folder of a comparison without a name: that of the same runs, or the first that is free."""
    wanted = runs_of(runs)
    names = chain((_UNNAMED,), (f"{_UNNAMED}-{number}" for number in count(2)))
    folders = (comparisons / name for name in names)
    return next(folder for folder in folders if not (folder / _OBJECT).exists() or runs_of(folder) == wanted)


def write_comparison(comparison: Comparison, *, folder: Path, dpi: int | None) -> tuple[Path, ...]:
    """Write all that there is to say into `folder`; return the paths.

    Pictures have `dpi` dots an inch; None: there are none. A picture or page that an earlier comparison of the same
    name left and that has no data any more is removed.
    """
    drawn = _figures(comparison, folder=folder, dpi=dpi)
    page = _page(comparison, folder=folder)
    return (
        write_text(path=folder / _OBJECT, text=json_text(_object(comparison))),
        write_text(path=folder / "comparison.csv", text=csv_text(rows.length_rows(comparison.runs))),
        *drawn,
        *page,
        write_text(path=folder / "comparison.md", text=_markdown(comparison, drawn=drawn, page=bool(page))),
    )


def _figures(comparison: Comparison, *, folder: Path, dpi: int | None) -> tuple[Path, ...]:
    curves = [
        Curve(name=run.name, report=run.report)
        for run in comparison.runs
        if run.report is not None and any(a_bin.mean is not None for a_bin in run.report.bins)
    ]
    writing, drawn = comparison.writing_runs, []
    if curves and dpi is not None:
        drawn.append(write_figure(curves_figure(curves), path=folder / CURVES, dpi=dpi))
    if comparison.contests and dpi is not None:
        drawn.append(write_figure(core_figure(writing), path=folder / CORE, dpi=dpi))
        drawn.append(write_figure(measures_figure(comparison), path=folder / MEASURED, dpi=dpi))
    for name in (CURVES, CORE, MEASURED):
        if folder / name not in drawn:
            (folder / name).unlink(missing_ok=True)
    return tuple(drawn)


def _page(comparison: Comparison, *, folder: Path) -> tuple[Path, ...]:
    runs = [
        WritingRun(name=run.name, parameters=run.parameters, writing=run.writing)
        for run in comparison.writing_runs
        if run.writing is not None
    ]
    if not runs:
        (folder / PAGE).unlink(missing_ok=True)
        return ()
    return (write_text(path=folder / PAGE, text=page_of(runs)),)


def _object(comparison: Comparison) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "name": comparison.name,
        "runs": [_run(run) for run in comparison.runs],
        "measures": [asdict(contest) for contest in comparison.contests],
        "notes": list(comparison.notes),
    }


def _run(run: ComparedRun) -> dict[str, object]:
    report = run.report
    return {
        "name": run.name,
        "run_id": run.run_id,
        "source": run.folder,
        "remeasured": run.remeasured,
        "tool": run.tool or "contextcliff",
        "task": report.task if report else None,
        "judged_by": with_file_names(report.judged_by) if report else {},
        "safe_cap": asdict(report.safe_cap) if report else None,
        "caps": dict(report.caps) if report else {},
        "mean": report.mean if report else None,
        "lengths": list(run.lengths),
        "writing_verdict": run.writing.verdict if run.writing else None,
        "parameters": with_file_names(run.parameters),
    }


def _markdown(comparison: Comparison, *, drawn: Sequence[Path], page: bool) -> str:
    head = ("run", "safe cap", "verdict", "mean score", "lengths")
    cells = [
        (run.name, rows.cap(run), rows.verdict(run), rows.score(run), rows.lengths(run)) for run in comparison.runs
    ]
    parts = [f"# Comparison: {escape(comparison.name)}", table(head, cells, words=1)]
    verdicts = [(run.name, run.writing.verdict) for run in comparison.writing_runs if run.writing is not None]
    if comparison.notes:
        parts += ["## Read this first", bullets(map(escape, comparison.notes))]
    pictures = {path.name for path in drawn}
    if CURVES in pictures:
        parts.append(image(CURVES, caption="Scores by length, and safe caps"))
    if comparison.contests:
        parts += ["## Writing", table(("run", "verdict"), verdicts, words=2)]
        parts += [image(CORE, caption="The core measures by context length")]
        parts += [bullets(escape(contest.sentence) for contest in comparison.contests)]
        parts += [image(MEASURED, caption="Every measure by context length")]
    if page:
        parts.append(f"To be explored in a browser: [{PAGE}]({PAGE})")
    return "\n\n".join(parts) + "\n"
