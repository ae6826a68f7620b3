"""The half-life of recall: the length over which the score halves, by a fitted exponential decay R(L) = R₀·e^(−λL),
which has one half-life, H = ln 2 / λ, wherever one starts. A model with a cliff has none in this sense; the safe cap
does not depend on it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.shape import shape_of
from contextcliff.analysis.study import Study
from contextcliff.findings import drawing, phrases
from contextcliff.findings.finding import Block, Finding, Image, Pairs, Shown, Text
from contextcliff.records.analysis import Bin
from contextcliff.records.note import Note
from contextcliff.records.report import Report
from contextcliff.statistics.clusters import pooled_design_effect
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.exponential_decay import FLAT, DecayFit, fit_decay
from contextcliff.statistics.intervals import normal_quantile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True, slots=True)
class HalfLife:
    """Length over which recall halves, by a fitted exponential decay R₀·e^(−λL). `tokens` is None unless the score is
    shown to fall; `ci_low` may then still be a lower bound. `censored`: the half-life lies beyond the longest test."""

    tokens: int | None
    ci_low: int | None
    ci_high: int | None
    censored: bool
    reason: Note
    initial: float | None = None
    """R₀, the recall at length 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HalfLifeFits:
    """The half-life by two fits: maximum likelihood, and least squares on the mean scores (None if that finds none)."""

    half_life: HalfLife
    half_life_lsq: int | None = None


DANGER_BELOW = 0.5
"""A mean score under which the operating guide says `danger` beyond the cap; the figure has a line there."""
FEWEST_LENGTHS = 3
"""With two lengths every curve fits, and nothing says that it is exponential."""


def half_life(
    results: Sequence[LengthResult], confidence: float, *, dispersion: float = 1.0, looks: int = 1
) -> HalfLife:
    """Half-life in tokens, by binomial likelihood over the scored samples at the bins' median measured prompts.
    `dispersion` is the variance of the scores over that of independent samples, above 1 where samples share a text.
    `looks` is the number of lengths at which low scores could have ended the measurement; each errs its share. At
    a nominal 95% the interval covers between 94% and 97% from twenty samples at each of six lengths, R₀ = 1 included,
    up to half-lives of twice the longest test, and up to 99% of longer ones with R₀ at 1."""
    scored, lengths = _scored(results)
    distinct, samples = len(set(lengths.tolist())), sum(len(result.scores) for result in scored)
    basis = Note("{lengths} lengths, {samples:,} samples", lengths=distinct, samples=samples)
    if distinct < FEWEST_LENGTHS:
        counts = {"fewest": FEWEST_LENGTHS, "lengths": distinct}
        return _none(Note("a decay takes scores at {fewest} lengths or more, and there are {lengths}", **counts))
    # Either side is summed by itself, and rounded: where all are right, nothing may be left over as wrong.
    right = np.array([round(math.fsum(result.scores), 9) for result in scored])
    wrong = np.array([round(math.fsum(1.0 - score for score in result.scores), 9) for result in scored])
    if not right.any():
        return _none(Note("no sample scored above 0 ({basis}): there is nothing to halve", basis=basis))
    z = normal_quantile(1.0 - 0.5 * (1.0 - confidence) / looks) * math.sqrt(dispersion)
    fit = fit_decay(lengths, right, wrong, z=z)
    longest = int(lengths.max())
    if fit.rate_low > 0.0:
        return _fitted(fit, confidence=confidence, basis=basis, longest=longest)
    why = Note("the score does not fall with length") if wrong.any() else Note("every sample has the full score")
    if fit.rate_high <= 0.0:
        return _none(Note("{why} ({basis}) but rises: there is no half-life", why=why, basis=basis))
    at_least = _halving(fit.rate_high)
    told = {"why": why, "basis": basis, "at_least": at_least, "confidence": confidence}
    reason = Note(
        "{why} ({basis}): an exponential decay would take {at_least:,} tokens or more to halve it, at"
        " {confidence:percent} confidence",
        **told,
    )
    if fit.rate > 0.0:
        reason = Note(
            "the score is not shown to fall with length ({basis}): a half-life of {at_least:,} tokens or more would"
            " fit, at {confidence:percent} confidence",
            **told,
        )
    return _none(reason, at_least=at_least, censored=at_least > longest)


def half_life_of(study: Study) -> HalfLife:
    """The half-life of a run, with the spread of samples that share a text allowed for. A cliff has none.

    Of a search without the lengths between two of the ladder: it asks there because the scores fell."""
    shape = None
    if study.safe_cap.verdict == "cliff" and study.sequence is not None and study.threshold is not None:
        shape = shape_of(study.sequence.results, study.threshold)
    if shape is not None and shape.step is not None:
        low, high = shape.step
        return _none(Note("the score falls in one step, between {low:,} and {high:,} tokens: that is a cliff, and no"
                          " decay", low=low, high=high))  # fmt: skip
    dispersion = pooled_design_effect(result.evidence.clusters for result in study.ladder)
    looks = 1 if study.search is None else len(study.search.plan.lengths)
    return half_life(study.ladder, study.confidence, dispersion=dispersion, looks=looks)


def half_life_lsq(results: Sequence[LengthResult]) -> int | None:
    """Half-life in tokens by least squares on the mean scores: r₀·e^(−λL/1000), to compare with figures made that way.
    None below three lengths, where all means are equal, where the fit does not converge and where it does not fall."""
    scored, lengths = _scored(results)
    means = np.array([mean_of(result.scores) for result in scored])
    if len(set(lengths.tolist())) < FEWEST_LENGTHS or means.min() == means.max():
        return None
    from scipy.optimize import OptimizeWarning, curve_fit

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", OptimizeWarning)
            (_, rate), _ = curve_fit(
                lambda at, initial, rate: initial * np.exp(-rate * at / 1_000.0), lengths, means, p0=(1.0, 0.1)
            )
    except RuntimeError:
        return None
    if not math.isfinite(rate) or rate / 1_000.0 * float(lengths.max()) <= FLAT:
        return None
    return round(1_000.0 * math.log(2.0) / float(rate))


def _scored(results: Sequence[LengthResult]) -> tuple[list[LengthResult], NDArray[np.float64]]:
    scored = [result for result in results if result.scores and result.bin.median_tokens > 0]
    return scored, np.array([result.bin.median_tokens for result in scored], dtype=float)


def _fitted(fit: DecayFit, *, confidence: float, basis: Note, longest: int) -> HalfLife:
    tokens, ci_low, ci_high = _halving(fit.rate), _halving(fit.rate_high), _halving(fit.rate_low)
    beyond = Note("; that is beyond the longest test, {longest:,} tokens", longest=longest) if tokens > longest else ""
    reason = Note(
        "the score halves every {tokens:,} tokens ({confidence:percent} CI {ci_low:,}–{ci_high:,}), from {initial:.2f}"
        " at length 0, by an exponential decay fitted to {basis}{beyond}",
        tokens=tokens, confidence=confidence, ci_low=ci_low, ci_high=ci_high, initial=fit.initial, basis=basis,
        beyond=beyond,
    )  # fmt: skip
    return HalfLife(
        tokens=tokens, ci_low=ci_low, ci_high=ci_high, censored=tokens > longest, reason=reason, initial=fit.initial
    )


def _none(reason: Note, *, at_least: int | None = None, censored: bool = False) -> HalfLife:
    return HalfLife(tokens=None, ci_low=at_least, ci_high=None, censored=censored, reason=reason)


def _halving(rate: float) -> int:
    return round(math.log(2.0) / rate)


@dataclass(frozen=True, kw_only=True, slots=True)
class DecayMisfit:
    """Mean scores minus the fitted curve, over the lengths that have a score, all with the same weight."""

    rms: float
    """Root of the mean squared difference, in score points, 0-1."""
    largest: float
    """The difference furthest from 0; negative where the curve is above the score."""
    largest_at: int
    """Its length in tokens, the bin's measured median."""
    outside: int
    """Number of lengths whose interval the curve misses."""
    lengths: int


def decay_score(half_life: HalfLife, tokens: float) -> float | None:
    """The score of the fitted curve R₀·2^(−L/H) at a length; None where nothing was fitted."""
    if not half_life.tokens or half_life.initial is None:
        return None
    return half_life.initial * math.exp(-math.log(2) * tokens / half_life.tokens)


def decay_misfit(half_life: HalfLife, bins: Sequence[Bin]) -> DecayMisfit | None:
    """The misfit of a fit to these bins; None where there is no fit, or no length has a score."""
    found = _beside_curve(half_life, bins)
    if not found:
        return None
    at, largest = max(((each, mean - fitted) for each, mean, fitted in found), key=lambda residual: abs(residual[1]))
    known = ((each.ci_low, fitted, each.ci_high) for each, _, fitted in found)
    outside = sum(low is not None and high is not None and not low <= fitted <= high for low, fitted, high in known)
    rms = math.sqrt(math.fsum((mean - fitted) ** 2 for _, mean, fitted in found) / len(found))
    return DecayMisfit(rms=rms, largest=largest, largest_at=at.median_tokens, outside=outside, lengths=len(found))


def _beside_curve(half_life: HalfLife, bins: Sequence[Bin]) -> list[tuple[Bin, float, float]]:
    """Each scored length with its mean and the score of the fitted curve there; empty where nothing was fitted."""
    beside = ((each, each.mean, decay_score(half_life, each.median_tokens)) for each in bins)
    return [(each, mean, fitted) for each, mean, fitted in beside if mean is not None and fitted is not None]


_MEANING = "The length over which the score halves, were its fall exponential; the safe cap does not depend on it."


class HalfLifeFinding(Finding[HalfLifeFits]):
    """The half-life by maximum likelihood. A report has it also where recall does not fall, since that is a finding."""

    key = "half_life"
    title = "Half-life"
    record = HalfLifeFits
    inline = True

    def find(self, study: Study) -> HalfLifeFits | None:
        return HalfLifeFits(half_life=half_life_of(study), half_life_lsq=half_life_lsq(study.ladder))

    def caps(self, finding: HalfLifeFits, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        return {"half_life": finding.half_life.tokens}

    def show(self, report: Report) -> tuple[Block, ...]:
        half_life, bins = self.of(report).half_life, report.analysis.lengths
        if not bins:
            return ()
        rows: list[tuple[str, Shown]] = [("Half-life", half_life.reason)]
        if (misfit := decay_misfit(half_life, bins)) is not None:
            side = "below" if misfit.largest < 0.0 else "above"
            of = f"{misfit.lengths:,} length{'' if misfit.lengths == 1 else 's'}"
            worst = f"at most {abs(misfit.largest):.2f}, at {misfit.largest_at:,} tokens, where the score is {side} the"
            said = (
                f"{misfit.rms:.2f} root mean square; {worst} curve; the curve misses the intervals of"
                f" {misfit.outside:,} of {of}"
            )
            rows.append(("Misfit", said))
        figure = Image(name="decay_curve", caption="Decay by length", draw=lambda: decay_figure(report, half_life))
        # Of evidence that lies at depths, as needles do. Only a shown slope has a half-life to look at: one through
        # points that are not decided, or through a cliff, would be read as if it were there.
        is_slope = report.analysis.safe_cap.verdict == "slope" and half_life.tokens
        drawn = report.analysis.cells and is_slope and any(b.mean is not None for b in bins)
        return (Text(text=_MEANING), Pairs(rows=tuple(rows)), *((figure,) if drawn else ()))


_HEIGHT = 3.6
_CLOSE = 0.06
"""The names of two lines at scores nearer than this would overlap."""
_REACH = 4
"""A half-life up to this many times beyond the tested lengths widens the axis; one further off is only in the words."""


def decay_figure(report: Report, half_life: HalfLife) -> Figure:
    """Draw a report with a scored length and a half-life: score over measured length in tokens, with the fit."""
    bins, half = sorted(report.analysis.lengths, key=lambda a_bin: a_bin.median_tokens), half_life.tokens or 0
    tokens = [max(1, b.median_tokens) for b in bins]
    near = [half] if tokens[0] / _REACH <= half <= tokens[-1] * _REACH else []
    figure, axes, axis = drawing.over_lengths(bins, height=_HEIGHT, shown=near)
    drawing.scores_on_y(axes)
    threshold = phrases.threshold_score(report)
    if threshold is not None:
        drawing.line_across(axes, score=threshold, text=f"threshold {threshold:.2f}", colour=drawing.RED)
    if threshold is None or abs(threshold - DANGER_BELOW) >= _CLOSE:
        drawing.line_across(axes, score=DANGER_BELOW, text=f"{DANGER_BELOW:g}: danger below", colour="0.35")
    if (misfit := decay_misfit(half_life, bins)) is not None:
        found, curve, fits = zip(*_beside_curve(half_life, bins), strict=True)
        label = f"misfit of the curve: {misfit.rms:.2f} root mean square, {abs(misfit.largest):.2f} at most"
        axes.vlines([max(1, each.median_tokens) for each in found], fits, curve, color=drawing.ORANGE, alpha=0.3,
                    linewidth=6, label=label, zorder=2)  # fmt: skip
    _fit(axes, half_life, axis=axis, longest=max(at for at, b in zip(tokens, bins, strict=True) if b.mean is not None))
    drawing.interval_bars(
        axes, places=tokens, lows=[b.ci_low for b in bins], highs=[b.ci_high for b in bins],
        label=f"{phrases.percent(report.analysis.safe_cap.confidence)} interval",
    )  # fmt: skip
    means = [drawing.or_nan(b.mean) for b in bins]
    (points,) = axes.plot(tokens, means, "o", color=drawing.BLUE, markersize=6, label="mean score", zorder=4)
    drawing.told_bins(points, bins)
    drawing.hollow_points(axes, report, bins, size=6)
    drawing.silent_points(axes, places=[at for at, b in zip(tokens, bins, strict=True) if b.mean is None])
    _half_life(axes, half_life, half, axis=axis)
    ends = f"{half_life.ci_low:,}-{half_life.ci_high:,}"
    words = f"Half-life: {half:,} tokens ({ends}){', beyond the longest test' if half_life.censored else ''}"
    drawing.run_heading(axes, report.run, "Decay by length", words, inches=axis.inches, above=drawing.LINE + 8)
    drawing.legend_under(axes, drop=axis.under / _HEIGHT, ncols=2)
    return figure


def _fit(axes: Axes, half_life: HalfLife, *, axis: drawing.LengthAxis, longest: int) -> None:
    """R0 * exp(-lambda L) with lambda = ln 2 / half-life: solid where it was tested, dashed beyond."""
    if half_life.initial is None:
        return

    def curve(low: float, high: float) -> tuple[list[float], list[float]]:
        at = np.geomspace(low, high, 201).tolist()
        return at, [decay_score(half_life, length) or 0.0 for length in at]

    label = f"exponential decay from {half_life.initial:.2f} (dashed: beyond the longest test)"
    axes.plot(*curve(axis.low, longest), color=drawing.ORANGE, linewidth=1.6, label=label, zorder=3)
    axes.plot(*curve(longest, axis.high), color=drawing.ORANGE, linewidth=1.6, linestyle="--", zorder=3)


def _half_life(axes: Axes, half_life: HalfLife, tokens: int, *, axis: drawing.LengthAxis) -> None:
    low, high = max(axis.low, half_life.ci_low or 0), min(axis.high, half_life.ci_high or math.inf)
    if low < high:
        axes.axvspan(low, high, color=drawing.PURPLE, alpha=0.1, linewidth=0, label="interval of the half-life")
    text, at = f"half-life {tokens:,}", min(max(tokens, axis.low), axis.high)
    if at == tokens:
        axes.axvline(at, color=drawing.PURPLE, linewidth=1.8, zorder=2)
    else:
        text = f"{text} (beyond this axis)"
    drawing.name_above(axes, text, axis=axis, tokens=at, above=4.0)
