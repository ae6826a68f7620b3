"""The figures of a report as PNG files, and several runs in one picture, where equal curves stay visible."""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.analysis.judged_by import differing, rule_of, score_rule
from contextcliff.findings import drawing, phrases
from contextcliff.findings.drawing import PAD_INCHES, SMALL, LengthAxis, blank, drawable, heading, legend_under, or_nan
from contextcliff.findings.finding import images_of, tested_lengths
from contextcliff.findings.phrases import tested_threshold
from contextcliff.findings.published import published_ends, published_lines, ticks_with
from contextcliff.records.analysis import Bin
from contextcliff.records.published import PublishedCurve
from contextcliff.records.report import Report
from contextcliff.records.sweep import CurvePoint, SweepRow
from contextcliff.reporting.data_files import write_bytes
from contextcliff.reporting.run_names import facts_of, telling_names
from contextcliff.reporting.stored_reports import StoredReport
from contextcliff.settings import folder_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from contextcliff.analysis.task_means import TaskMeans


def draw_figures(report: Report, *, folder: Path, dpi: int) -> dict[str, Figure]:
    """Draw the figures, once for files and pages, and write them into `folder` at `dpi` dots an inch; returns them."""
    drawn = {name: image.draw() for name, image in images_of(report).items()}
    for name, figure in drawn.items():
        write_figure(figure, path=folder / f"{name}.png", dpi=dpi)
    return drawn


def write_figure(figure: Figure, *, path: Path, dpi: int) -> Path:
    """Write a figure as PNG, whole or not at all."""
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=dpi, facecolor="white", bbox_inches="tight", pad_inches=PAD_INCHES)
    return write_bytes(path=path, data=image.getvalue())


_WIDTH, _HEIGHT = 7.5, 4.2
_MOST_DRAWN, _MOST_BESIDE = 10, 8
# Okabe and Ito's colours without their yellow, which is pale on white, and four dark ones: apart for the colour-blind.
_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"),
    *("#56B4E9", "#000000", "#882255", "#7A7A2A", "#666666"),
)
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
_STROKES = ("-", (0, (5, 2)), (0, (6, 2, 1.5, 2)), (0, (1.5, 1.5)))
_APART, _LEAST_APART = 0.07, 0.02
"""Inches between the points of two runs at one length, and where the lengths lie close."""
_DODGED = "points and caps of the runs stand a hair apart, so that equal ones are seen"


@dataclass(frozen=True, slots=True)
class _RunCurve:
    """A run in the picture; its threshold is a score, and a mean that is no number was not scored."""

    name: str
    points: Sequence[CurvePoint]
    cap_tokens: int | None
    cap: str
    """In words."""
    threshold: float | None


def comparable_runs(report: Report, *, beside: Sequence[StoredReport]) -> dict[str, Report]:
    """The latest eight runs that asked the same task of the same texts and are judged by the same rule, this one
    included, by what tells them apart."""
    rule = score_rule(rule_of(report))
    by_run_id: dict[str, Report] = {}
    for stored in beside:
        other = stored.report
        asked_alike = (other.run.task, other.run.dataset) == (report.run.task, report.run.dataset)
        if asked_alike and other.analysis.bins and not differing(rule, rule_of(other)):
            by_run_id[other.run.run_id] = other
    by_run_id[report.run.run_id] = report
    runs = sorted(by_run_id.values(), key=lambda run: run.run.created_at)[-_MOST_BESIDE:]
    # Of runs alike in all of these the latest.
    return dict(zip(telling_names([facts_of(run) for run in runs]), runs, strict=True))


def draw_curves(
    report: Report, *, folder: Path, dpi: int | None, beside: Sequence[StoredReport], suffix: str = ""
) -> Path | None:
    """Draw the comparable runs as `runs-TASK.png`; None without `dpi`, or where this run is the only one. `suffix` ends
    the name where another rule judges."""
    if dpi is None or len(curves := comparable_runs(report, beside=beside)) < 2:
        return None
    path = folder / f"runs-{folder_name(report.run.task)}{suffix}.png"
    return write_figure(curves_figure(curves), path=path, dpi=dpi)


def curves_figure(runs: Mapping[str, Report], *, published: Sequence[PublishedCurve] = ()) -> Figure:
    """Draw mean scores with their intervals, safe caps and threshold of the first ten runs; `published` curves stand
    thin behind."""
    tasks = ", ".join(dict.fromkeys(report.run.task for report in runs.values()))
    datasets = ", ".join(dict.fromkeys(report.run.dataset for report in runs.values()))
    apart = f"; {_DODGED}" if len(runs) > 1 else ""
    more = f". Drawn are the first {_MOST_DRAWN}" if len(runs) > _MOST_DRAWN else ""
    curves = []
    for name, report in runs.items():
        cap, points = report.analysis.safe_cap, [*map(_point, tested_lengths(report))]
        curves.append(_RunCurve(name, points, cap.tokens, cap.in_short, tested_threshold(cap)))
    quantities = dict.fromkeys(report.analysis.safe_cap.quantity for report in runs.values())
    what = " or ".join(phrases.TESTED[quantity] for quantity in quantities)
    return _overlay(
        curves, what=what,
        title=f"{what.capitalize()} by length: {tasks}, {len(runs)} run{'' if len(runs) == 1 else 's'}",
        subtitle=f"{datasets}. Bars: intervals of the mean; vertical lines: safe caps{apart}{more}", width=9.0,
        columns=2, above=10, published=published,
    )  # fmt: skip


def _point(b: Bin) -> CurvePoint:
    return CurvePoint(tokens=b.median_tokens, mean=or_nan(b.mean), low=or_nan(b.ci_low), high=or_nan(b.ci_high))


def sweep_curves_figure(rows: Sequence[SweepRow], *, names: Mapping[int, str]) -> Figure:
    """Draw the scores by length of jobs of one task, at most ten, each with its interval, threshold and cap."""
    left = len(rows) - _MOST_DRAWN
    more = f"; the first {_MOST_DRAWN}, {left} more in the table" if left > 0 else ""
    return _overlay(
        [_RunCurve(names[row.job], row.curve, row.cap_tokens, row.in_short, row.threshold_score) for row in rows],
        what=phrases.TESTED[rows[0].quantity],
        title=f"{rows[0].task}: {phrases.TESTED[rows[0].quantity]} by length",
        subtitle=f"Bars: intervals; vertical lines: safe caps; {_DODGED}{more}",
    )


def task_means_figure(
    every: Sequence[TaskMeans], *, names: Sequence[str], published: Sequence[PublishedCurve] = ()
) -> Figure:
    """Draw the mean over tasks of at least one model and policy, and of many the first ten."""
    counts = sorted({len(means.tasks) for means in every})
    apart = f"; {_DODGED}" if len(every) > 1 else ""
    curves = []
    for means, name in zip(every, names, strict=True):
        points = [CurvePoint(tokens=p.asked_tokens, mean=p.mean, low=p.low, high=p.high) for p in means.points]
        curves.append(_RunCurve(name, points, means.cap_tokens, means.in_short, means.threshold))
    return _overlay(
        curves,
        title=f"Mean over {' or '.join(map(str, counts))} tasks, by length",
        subtitle=f"Bars: intervals of the mean; vertical lines: the last length whose interval is above{apart}",
        label=drawing.ASKED,
        published=published,
    )


def _overlay(
    every: Sequence[_RunCurve],
    *,
    title: str,
    subtitle: str,
    what: str = "score",
    width: float = _WIDTH,
    columns: int = 1,
    above: float = 8,
    label: str = drawing.MEASURED,
    published: Sequence[PublishedCurve] = (),
) -> Figure:
    """Draw the first ten. Where all have one threshold it is one line, and else each has the colour of its curve."""
    curves = every[:_MOST_DRAWN]
    figure, axes = blank(width=width, height=_HEIGHT)
    caps = [curve.cap_tokens for curve in curves if curve.cap_tokens is not None]
    ticks = ticks_with(sorted({point.tokens for curve in curves for point in curve.points}), published)
    shown = [*caps, *published_ends(published)]
    axis = drawing.lengths_on_x(axes, lengths=ticks, shown=shown, inches=width, label=label)
    drawing.scores_on_y(axes)
    axes.set_ylabel(what)
    thresholds = {curve.threshold for curve in curves}
    shared = next(iter(thresholds)) if len(thresholds) == 1 else None
    if shared is not None:
        drawing.line_across(axes, score=shared, text=f"threshold {shared:.2f}", colour=drawing.RED)
    published_lines(axes, published, height=_HEIGHT, taken=() if shared is None else (shared,))
    for position, curve in enumerate(curves):
        _draw(axes, curve, position=position, shift=_shift(curves, axis, position), is_shared=shared is not None)
    legend_under(axes, drop=axis.under / _HEIGHT, ncols=columns)
    heading(axes, title=title, subtitle=subtitle, inches=width, above=above)
    return figure


def _draw(axes: Axes, curve: _RunCurve, *, position: int, shift: float, is_shared: bool) -> None:
    colour, mark = _COLOURS[position % len(_COLOURS)], _MARKS[position % len(_MARKS)]
    stroke = _STROKES[position % len(_STROKES)]
    points = sorted(curve.points, key=lambda point: point.tokens)
    places = [max(1, point.tokens) * shift for point in points]
    words = curve.cap if curve.cap_tokens is None else f"cap {curve.cap}"
    if curve.threshold is not None and not is_shared:
        words += f", threshold {curve.threshold:.2f}"
    (line,) = axes.plot(
        places, [point.mean for point in points], linestyle=stroke, marker=mark, color=colour, markersize=5.5,
        markeredgecolor="white", markeredgewidth=0.5, linewidth=1.5, zorder=4,
        label=drawable(f"{curve.name} ({words})"),
    )  # fmt: skip
    said = (
        f"{curve.name}: {phrases.score(point.mean)} at {point.tokens:,} tokens,"
        f" interval {phrases.interval(point.low, point.high)}"
        for point in points
        if not math.isnan(point.mean)
    )
    drawing.told(line, *said)
    lows, highs = [point.low for point in points], [point.high for point in points]
    axes.vlines(places, lows, highs, color=colour, alpha=0.5, linewidth=1.3, zorder=3)
    if curve.cap_tokens is not None:
        axes.axvline(curve.cap_tokens * shift, color=colour, linewidth=1.2, linestyle=stroke, alpha=0.8, zorder=2)
    if curve.threshold is not None and not is_shared:
        axes.axhline(curve.threshold, color=colour, linewidth=1.0, linestyle=stroke, alpha=0.6, zorder=2)


def _shift(curves: Sequence[_RunCurve], axis: LengthAxis, position: int) -> float:
    """The factor by which the lengths of a run are moved: all of them stay within half a gap between two lengths."""
    gaps = [
        axis.inches_at(max(1, later)) - axis.inches_at(max(1, earlier))
        for curve in curves
        for earlier, later in itertools.pairwise(sorted({point.tokens for point in curve.points}))
    ]
    apart = max(_LEAST_APART, min(_APART, 0.5 * min(gaps, default=_APART * len(curves)) / max(1, len(curves))))
    return float((axis.high / axis.low) ** ((position - (len(curves) - 1) / 2) * apart / axis.inches))


_ROW, _EDGE = 0.3, 0.3
_CAP, _LINE = "#1f5fa8", "0.6"
_WITHOUT = {"below": ("x", "#b3261e"), "undecided": ("$?$", "0.35")}
"""Mark and colour of a job without a cap."""


def caps_figure(rows: Sequence[SweepRow], *, names: Mapping[int, str]) -> Figure:
    """Draw at least one job that has scores: its cap, where its score is shown to cross, and how far it was tested."""
    height = _ROW * len(rows) + 2 * _EDGE
    figure, axes = blank(width=_WIDTH, height=height)
    tested = sorted({point.tokens for row in rows for point in row.curve})
    caps = sorted({row.cap_tokens for row in rows if row.cap_tokens is not None})
    axis = drawing.lengths_on_x(axes, lengths=tested, shown=caps, inches=_WIDTH, label=drawing.MEASURED)
    for place, row in enumerate(rows):
        lengths = [point.tokens for point in row.curve]
        ends = [min(lengths), max(lengths)]
        axes.plot(ends, [place, place], color="0.85", linewidth=5, solid_capstyle="butt", zorder=1)
        if row.crossing_low is not None and row.crossing_high is not None:
            ends = [row.crossing_low, row.crossing_high]
            axes.plot(ends, [place, place], color=_LINE, linewidth=2, marker="|", markersize=9, zorder=2)
        if row.cap_tokens is None:
            mark, colour = _WITHOUT[row.in_short]
            axes.plot([min(lengths)], [place], marker=mark, color=colour, markersize=8, zorder=3)
        else:
            axes.plot([row.cap_tokens], [place], ">" if row.censored else "o", color=_CAP, markersize=8, zorder=3)
    axes.set_ylim(len(rows) - 0.5 + _EDGE / _ROW, -0.5 - _EDGE / _ROW)
    labels = [drawable(f"{row.task} · {names[row.job]}") for row in rows]
    axes.set_yticks(range(len(rows)), labels, fontsize=SMALL)
    axes.grid(visible=True, axis="x", color="0.9", linewidth=0.7)
    axes.set_axisbelow(True)
    # Entries of the legend; what they stand for is drawn many times.
    for word, (mark, colour) in {"safe cap": ("o", _CAP), "at least": (">", _CAP), **_WITHOUT}.items():
        axes.plot([], [], marker=mark, linestyle="none", color=colour, label=word)
    axes.plot([], [], color=_LINE, marker="|", linewidth=2, label="the score crosses in here")
    axes.plot([], [], color="0.85", linewidth=5, label="tested lengths")
    legend_under(axes, drop=axis.under / height, ncols=6)
    heading(axes, title="Safe caps", subtitle="in tokens, at each job's threshold", inches=_WIDTH, above=8)
    return figure
