"""The length over which the score halves, were its fall exponential."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from contextcliff.analysis.decay_misfit import decay_misfit, decay_score
from contextcliff.analysis.guide import DANGER_BELOW
from contextcliff.analysis.half_life import HalfLife, HalfLifeFits, half_life_lsq, half_life_of
from contextcliff.analysis.study import Study
from contextcliff.records.analysis import Bin
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Image, Pairs, Shown, Text
from contextcliff.reporting.figures.canvas import LengthAxis, blank, heading, legend_below, lengths_on_x
from contextcliff.reporting.figures.marks import (
    BLUE,
    LINE,
    PURPLE,
    RED,
    interval_bars,
    length_label,
    length_ticks,
    line_across,
    or_nan,
    scores_on_y,
    side_of,
    silent_points,
    write_above,
)
from contextcliff.reporting.report_facts import HalfLifeInShort
from contextcliff.reporting.section import FigureOf, Measurement, Section, from_finding
from contextcliff.reporting.stopped_data import from_stopped_data
from contextcliff.reporting.words.english import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MEANING = "The length over which the score halves, were its fall exponential; the safe cap does not depend on it."


def _has_decay(report: Report) -> bool:
    """Whether evidence lay at depths, as needles do, and there is a fall to look for: two lengths or a half-life."""
    fits = report.analysis.finding(HalfLifeFits)
    scored = sum(b.mean is not None for b in report.analysis.bins)
    if fits is None or not report.analysis.cells:
        return False
    return scored >= 2 or (scored == 1 and fits.half_life.tokens is not None)


class HalfLifeSection(Section[HalfLifeFits]):
    """The half-life by maximum likelihood. It is there also where recall does not fall, since that is a finding."""

    key = "half_life"
    title = "Half-life"
    folded = True
    record = HalfLifeFits
    inline = True
    figures = (
        FigureOf(
            name="decay_curve",
            caption="Decay by length",
            has_data=_has_decay,
            draw=from_finding(
                HalfLifeFits,
                lambda report, fits: decay_figure(report, fits.half_life, words=_figure_words(fits.half_life)),
            ),
        ),
    )

    def compute(self, study: Study) -> HalfLifeFits | None:
        return HalfLifeFits(half_life=half_life_of(study), half_life_lsq=half_life_lsq(study.results))

    def caps(self, finding: HalfLifeFits, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        return {"half_life": finding.half_life.tokens}

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:
        fits = self.of(report)
        return (
            ((self.title, HalfLifeInShort(half_life=fits.half_life)),)
            if fits is not None and report.analysis.bins
            else ()
        )

    def full(self, report: Report) -> tuple[Block, ...]:
        fits = self.of(report)
        if fits is None or not report.analysis.bins:
            return ()
        half_life = fits.half_life
        likeliest = "none" if half_life.tokens is None else HalfLifeInShort(half_life=half_life)
        rows: list[tuple[str, Shown]] = [("Maximum likelihood", likeliest)]
        if half_life.initial is not None:
            rows.append(("Score at length 0", phrases.score(half_life.initial)))
        if half_life.tokens is None and half_life.ci_low is not None:
            rows.append(("At least", f"{half_life.ci_low:,} tokens"))
        rows.append(("Reason" if half_life.tokens is None else "Basis", half_life.reason))
        misfit = _misfit_words(half_life, report.analysis.bins)
        if misfit:
            rows.append(("Misfit", misfit))
        stopped = from_stopped_data(report, "The half-life and the score at length 0")
        return (Text(text=_MEANING), Pairs(rows=tuple(rows)), *stopped, Image(figure="decay_curve"))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        fits = self.of(report)
        if fits is None:
            return
        yield Measurement(key="half_life/tokens", value=fits.half_life.tokens)
        yield Measurement(key="half_life/ci_low", value=fits.half_life.ci_low)
        yield Measurement(key="half_life/ci_high", value=fits.half_life.ci_high)
        yield Measurement(key="half_life/least_squares", value=fits.half_life_lsq)


def _figure_words(half_life: HalfLife) -> str:
    if half_life.tokens is None:
        return f"No half-life: {say(half_life.reason)}"
    return f"Half-life: {say(HalfLifeInShort(half_life=half_life))}"


_HEIGHT = 3.6
_FITTED = "#c2571a"
_CLOSE = 0.06
"""Two lines at scores nearer than this would have names over each other."""
_REACH = 4
"""A half-life up to so many times beyond the tested lengths widens the axis; one further off is only told."""
_STEPS = 200


def decay_figure(report: Report, half_life: HalfLife, *, words: str) -> Figure:
    """Draw a report with a scored length: score over measured length in tokens; `words` say what the half-life is.

    The fit is dashed beyond the longest test, where nothing but its form speaks for it. A bar from it to each mean is
    what it misses.
    """
    bins = sorted(report.analysis.bins, key=lambda a_bin: a_bin.median_tokens)
    width = min(13.0, max(8.0, 0.42 * len(bins)))
    figure, axes = blank(width=width, height=_HEIGHT)
    tokens = [max(1, b.median_tokens) for b in bins]
    near = half_life.tokens is not None and tokens[0] / _REACH <= half_life.tokens <= tokens[-1] * _REACH
    axis = lengths_on_x(
        axes,
        lengths=length_ticks(bins),
        shown=[*tokens, *([half_life.tokens] if near and half_life.tokens is not None else [])],
        inches=width,
        label=length_label(bins),
    )
    scores_on_y(axes)
    _levels(axes, phrases.threshold_score(report))
    _residuals(axes, half_life, bins)
    _fit(axes, half_life, axis=axis, longest=max(at for at, b in zip(tokens, bins, strict=True) if b.mean is not None))
    _points(axes, bins, tokens=tokens, confidence=phrases.percent(report.analysis.safe_cap.confidence))
    above = _half_life(axes, half_life, axis=axis)
    heading(
        axes,
        title=f"Decay by length: {report.run.model}",
        subtitle=f"{report.run.task}, KV policy {report.run.kv_policy}. {words}",
        inches=width,
        above=above + 4,
    )
    legend_below(axes, axis=axis, height=_HEIGHT, columns=2)
    return figure


def _misfit_words(half_life: HalfLife, bins: Sequence[Bin]) -> str:
    """How far the curve lies from the scores; empty where there is none."""
    misfit = decay_misfit(half_life, bins)
    if misfit is None:
        return ""
    of = f"{misfit.lengths:,} length{'' if misfit.lengths == 1 else 's'}"
    side = "below" if misfit.largest < 0.0 else "above"
    return (
        f"{misfit.rms:.2f} root mean square; at most {abs(misfit.largest):.2f}, at {misfit.largest_at:,} tokens, where"
        f" the score is {side} the curve; the curve misses the intervals of {misfit.outside:,} of {of}"
    )


def _levels(axes: Axes, threshold: float | None) -> None:
    """The threshold of the cap, and the score under which the operating guide warns."""
    if threshold is not None:
        line_across(axes, score=threshold, text=f"threshold {threshold:.2f}", colour=RED)
    if threshold is None or abs(threshold - DANGER_BELOW) >= _CLOSE:
        line_across(axes, score=DANGER_BELOW, text=f"{DANGER_BELOW:g}: danger below", colour="0.35")


def _residuals(axes: Axes, half_life: HalfLife, bins: Sequence[Bin]) -> None:
    """A bar from the curve to each mean score."""
    found = [
        (max(1, b.median_tokens), b.mean, fitted)
        for b in bins
        if b.mean is not None and (fitted := decay_score(half_life, b.median_tokens)) is not None
    ]
    misfit = decay_misfit(half_life, bins)
    if misfit is not None:
        places, means, fits = zip(*found, strict=True)
        label = f"misfit of the curve: {misfit.rms:.2f} root mean square, {abs(misfit.largest):.2f} at most"
        axes.vlines(places, fits, means, color=_FITTED, alpha=0.3, linewidth=6, label=label, zorder=2)


def _points(axes: Axes, bins: Sequence[Bin], *, tokens: Sequence[int], confidence: str) -> None:
    interval_bars(
        axes,
        places=tokens,
        lows=[b.ci_low for b in bins],
        highs=[b.ci_high for b in bins],
        label=f"{confidence} interval",
    )
    means = [or_nan(b.mean) for b in bins]
    axes.plot(tokens, means, "o", color=BLUE, markersize=6, label="mean score", zorder=4)
    silent_points(axes, places=[at for at, b in zip(tokens, bins, strict=True) if b.mean is None])


def _fit(axes: Axes, half_life: HalfLife, *, axis: LengthAxis, longest: int) -> None:
    """R0 * exp(-lambda L) with lambda = ln 2 / half-life: solid where it was tested, dashed beyond."""
    if not half_life.tokens or half_life.initial is None:
        return
    initial = half_life.initial

    def curve(low: float, high: float) -> tuple[list[float], list[float]]:
        at = [low * (high / low) ** (i / _STEPS) for i in range(_STEPS + 1)]
        return at, [decay_score(half_life, length) or 0.0 for length in at]

    label = f"exponential decay from {initial:.2f} (dashed: beyond the longest test)"
    axes.plot(*curve(axis.low, longest), color=_FITTED, linewidth=1.6, label=label, zorder=3)
    axes.plot(*curve(longest, axis.high), color=_FITTED, linewidth=1.6, linestyle="--", zorder=3)


def _half_life(axes: Axes, half_life: HalfLife, *, axis: LengthAxis) -> float:
    """Mark the half-life and its interval, as far as the axis reaches; return the height of the words over it."""
    if half_life.tokens is None:
        return 4.0
    low = axis.low if half_life.ci_low is None else max(axis.low, half_life.ci_low)
    high = axis.high if half_life.ci_high is None else min(axis.high, half_life.ci_high)
    if (half_life.ci_low, half_life.ci_high) != (None, None) and low < high:
        axes.axvspan(low, high, color=PURPLE, alpha=0.1, linewidth=0, label="interval of the half-life")
    inside = axis.low <= half_life.tokens <= axis.high
    text = f"half-life {half_life.tokens:,}"
    if inside:
        axes.axvline(half_life.tokens, color=PURPLE, linewidth=1.8, zorder=2)
        at: float = half_life.tokens
    else:
        text, at = f"{text} (beyond this axis)", axis.low if half_life.tokens < axis.low else axis.high
    align = side_of(axis.inches_at(at) / axis.inches)
    write_above(axes, text, x=at, above=4.0, align=align, colour=PURPLE, bold=True)
    return 4.0 + LINE
