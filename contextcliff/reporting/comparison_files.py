"""The files of a comparison: `comparison.json`, `comparison.md`, `comparison.csv`, figures and `writing.html`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from contextcliff.records import SCHEMA_VERSION
from contextcliff.reporting import comparison as rows
from contextcliff.reporting.atomic import LINE_ENDS, write_text
from contextcliff.reporting.comparison import ComparedRun, Comparison
from contextcliff.reporting.comparison_figures import core_figure, measures_figure
from contextcliff.reporting.curves_figure import Curve, curves_figure
from contextcliff.reporting.figures import write_figure
from contextcliff.reporting.markup import bullets, escape, image, table
from contextcliff.reporting.plain_text import tame_cell
from contextcliff.reporting.writing_page import WritingRun, page_of

CURVES, CORE, MEASURED, PAGE = "curves.png", "writing_core.png", "writing_measures.png", "writing.html"
_ESCAPED = LINE_ENDS | {code: f"\\u{code:04x}" for code in (0x7F, *range(0x80, 0xA0))}


def write_comparison(comparison: Comparison, *, folder: Path, dpi: int) -> tuple[Path, ...]:
    """Write all that there is to say into `folder`; return the paths.

    A picture or page that an earlier comparison of the same name left and that has no data any more is removed.
    """
    drawn = _figures(comparison, folder=folder, dpi=dpi)
    page = _page(comparison, folder=folder)
    return (
        write_text(path=folder / "comparison.json", text=_json(comparison)),
        write_text(path=folder / "comparison.csv", text=_csv(comparison.runs)),
        *drawn,
        *page,
        write_text(path=folder / "comparison.md", text=_markdown(comparison, drawn=drawn, page=bool(page))),
    )


def _figures(comparison: Comparison, *, folder: Path, dpi: int) -> tuple[Path, ...]:
    curves = [
        Curve(name=run.name, report=run.report)
        for run in comparison.runs
        if run.report is not None and any(a_bin.mean is not None for a_bin in run.report.bins)
    ]
    writing, drawn = comparison.writing_runs, []
    if curves:
        drawn.append(write_figure(curves_figure(curves), path=folder / CURVES, dpi=dpi))
    if comparison.contests:
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


def _json(comparison: Comparison) -> str:
    found = {
        "schema_version": SCHEMA_VERSION,
        "name": comparison.name,
        "runs": [_run(run) for run in comparison.runs],
        "measures": [asdict(contest) for contest in comparison.contests],
        "notes": list(comparison.notes),
    }
    return json.dumps(found, ensure_ascii=False, allow_nan=False, indent=2).translate(_ESCAPED) + "\n"


def _run(run: ComparedRun) -> dict[str, object]:
    report = run.report
    return {
        "name": run.name,
        "run_id": run.run_id,
        "source": run.source,
        "tool": run.tool or "contextcliff",
        "task": report.task if report else None,
        "safe_cap": asdict(report.safe_cap) if report else None,
        "caps": dict(report.caps) if report else {},
        "mean": report.mean if report else None,
        "lengths": list(run.lengths),
        "writing_verdict": run.writing.verdict if run.writing else None,
        "parameters": dict(run.parameters),
    }


def _csv(runs: Sequence[ComparedRun]) -> str:
    found = rows.length_rows(runs)
    stream = io.StringIO()
    written = csv.DictWriter(stream, fieldnames=list(found[0]) if found else [], lineterminator="\n")
    written.writeheader()
    written.writerows(
        {key: tame_cell(cell) if isinstance(cell, str) else cell for key, cell in row.items()} for row in found
    )
    return stream.getvalue()


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
