"""The figures of a report as PNG files. Only what a report has data for is drawn."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.records.corpus import LengthAudit
from contextcliff.records.report import Report
from contextcliff.reporting.atomic import write_bytes
from contextcliff.reporting.figures.curves_figure import comparable_runs, curves_figure
from contextcliff.reporting.figures.decay_figure import decay_figure, has_decay
from contextcliff.reporting.figures.facets_figure import facets_figure
from contextcliff.reporting.figures.failures_figure import failures_figure, has_failures
from contextcliff.reporting.figures.heatmap_figure import heatmap_figure
from contextcliff.reporting.figures.latency_figure import has_latency, latency_figure
from contextcliff.reporting.figures.length_audit import audit_figure
from contextcliff.reporting.figures.profile_figure import profile_figure
from contextcliff.reporting.figures.score_figure import score_figure
from contextcliff.reporting.stored_reports import StoredReport
from contextcliff.settings import folder_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_figures(report: Report, *, folder: Path, dpi: int) -> tuple[Path, ...]:
    """Draw what the report has data for into `folder`, at `dpi` dots an inch; return the paths.

    `score_by_length.png` needs bins, `heatmap.png` cells, `decay_curve.png` cells and two lengths with scores
    (or a half-life), `depth_profile.png` two depths, `facets.png` facets, `latency_by_length.png` a measured
    time. One that an earlier analysis of the same run left and that has no data any more is removed.
    """
    wanted: list[tuple[str, bool, Callable[[Report], Figure]]] = [
        ("score_by_length", bool(report.bins), score_figure),
        ("heatmap", bool(report.cells), heatmap_figure),
        ("decay_curve", has_decay(report), decay_figure),
        ("depth_profile", len(report.profile) >= 2, profile_figure),
        ("facets", bool(report.facets), facets_figure),
        ("failures_by_length", has_failures(report), failures_figure),
        ("length_histogram", report.audit is not None, _histogram),
        ("latency_by_length", has_latency(report), latency_figure),
    ]
    drawn = []
    for name, has_data, draw in wanted:
        path = folder / f"{name}.png"
        if has_data:
            drawn.append(write_bytes(path=path, data=_png(draw(report), dpi=dpi)))
        else:
            path.unlink(missing_ok=True)
    return tuple(drawn)


def remove_figures(folder: Path) -> None:
    """Remove the figures that an earlier analysis left: they would be taken for this one's."""
    for path in folder.glob("*.png"):
        path.unlink()


def draw_curves(
    report: Report, *, folder: Path, dpi: int | None, beside: Sequence[StoredReport] | None = None, suffix: str = ""
) -> Path | None:
    """Draw the comparable runs below `folder` into it, as `runs-TASK.png`; None where this run is the only one.

    Without `dpi` nothing is drawn, and a figure of other runs is left as it is.
    `beside` is what the folder holds, where it has been read; `suffix` ends the name where another rule judges.
    """
    if dpi is None:
        return None
    curves = comparable_runs(report, folder=folder, beside=beside)
    if len(curves) < 2:
        return None
    path = folder / f"runs-{folder_name(report.task)}{suffix}.png"
    return write_figure(curves_figure(curves), path=path, dpi=dpi)


def write_figure(figure: Figure, *, path: Path, dpi: int) -> Path:
    """Write a figure as PNG, whole or not at all."""
    return write_bytes(path=path, data=_png(figure, dpi=dpi))


def _histogram(report: Report) -> Figure:
    audit = report.audit or LengthAudit(lengths=(), too_short=0, too_long=0, bins=())
    return audit_figure(audit, title=f"Documents by length: {report.dataset}")


def _png(figure: Figure, *, dpi: int) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, bbox_inches="tight", pad_inches=0.15)
    # No pyplot, so nothing else holds the figure; clearing it breaks its inner cycles at once.
    figure.clear()
    return buffer.getvalue()
