"""Estimates of the whole curve: where it falls to 80% and 50%, the area under it, and RULER's effective length. x80 and
x50 are the prompt lengths at which a logistic curve in log length (`statistics/curves.py`) falls to 0.80 and 0.50 of
the full score; with a threshold that is a share of the baseline's score, to 80% and 50% of the curve's own value at the
shortest length. T. Kwa et al., "Measuring AI Ability to Complete Long Tasks" (arXiv 2503.14499), use the former, NoLiMa
(arXiv 2502.05167) the latter. Nothing is extrapolated, and the safe cap does not depend on it. The intervals allow for
chance and not for another form of the fall: of 100 runs at a nominal 95% that of x50 covered 85 on an exponential decay
with 100 samples a length, and that of x80 73 on a straight line over log length with 40."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.shape import DRAWS, FallTo, ScoreCurve
from contextcliff.analysis.study import Study
from contextcliff.analysis.task_means import RULER_THRESHOLD
from contextcliff.analysis.walk import LOW_BASELINE, low_baseline
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Finding, Pairs, Shown, Text
from contextcliff.records.note import Note
from contextcliff.records.report import Report
from contextcliff.statistics.descriptive import leading_above

FEWEST_LENGTHS = 3
"""With two lengths nothing tells a steep fall from a slow one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedLength:
    """Tokens at which the fitted curve falls to a score, with a bootstrap interval; None with the reason.

    `censored`: the curve is above the score up to the longest test, and `ci_low` is a lower bound. An end is None where
    the interval goes beyond the tested lengths on that side."""

    tokens: int | None
    ci_low: int | None
    ci_high: int | None
    censored: bool
    score: float | None
    """The score that the curve falls to; None where there is no curve."""
    reason: Note


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreArea:
    """The area under the score over log length, divided by the log of the range: 1 where every score is 1.

    Scores of tested lengths are joined by straight lines over log length, so that each octave counts alike. Areas of
    different ranges are not comparable."""

    value: float
    ci_low: float
    ci_high: float
    min_tokens: int
    max_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EffectiveLength:
    """RULER's effective length: the longest tested length up to which every mean score is above `threshold`. None where
    the shortest length is not. `censored`: every tested length is."""

    tokens: int | None
    threshold: float
    censored: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedLengths:
    """What is estimated of the whole curve, and from how much."""

    x80: FittedLength
    x50: FittedLength
    area: ScoreArea | None
    """None where fewer than two lengths have scores."""
    effective_length: EffectiveLength
    n_samples: int
    n_lengths: int
    relative: bool
    """Whether 80% and 50% are of the curve's value at the shortest length, and not of the full score."""


def estimates_of(
    results: Sequence[LengthResult], confidence: float, *, relative: bool = False, draws: int = DRAWS
) -> FittedLengths | None:
    """The estimates of lengths in ascending order, with intervals from so many draws; None where nothing was scored."""
    scored = [result for result in results if result.scores and result.bin.median_tokens > 0]
    if not scored:
        return None
    curve = ScoreCurve.of(scored, confidence=confidence, relative=relative, draws=draws)
    x80, x50 = (_fitted_length(curve, share) for share in (0.8, 0.5))
    area = None
    if len(curve.tokens) > 1:
        value, low, high = curve.area()
        area = ScoreArea(value=value, ci_low=low, ci_high=high, min_tokens=curve.tokens[0], max_tokens=curve.tokens[-1])
    return FittedLengths(
        x80=x80, x50=x50, area=area, effective_length=effective_length(results), n_samples=curve.samples,
        n_lengths=len(curve.tokens), relative=relative,
    )  # fmt: skip


def area_of(results: Sequence[LengthResult]) -> ScoreArea | None:
    """The area over lengths of which each was asked until it was decided; None with less than two. Its ends are the
    areas under the ends of the lengths' confidence sequences, which hold whenever a search stops."""
    bins = [result.bin for result in results if result.scores and result.bin.median_tokens > 0]
    tokens = [each.median_tokens for each in bins]
    if len(set(tokens)) < 2:  # an area takes two
        return None
    at, ends = np.log(tokens), np.array([(each.mean, each.ci_low, each.ci_high) for each in bins], dtype=float)
    value, low, high = (float(end) for end in np.trapezoid(ends, at, axis=0) / (at[-1] - at[0]))
    return ScoreArea(value=value, ci_low=low, ci_high=high, min_tokens=tokens[0], max_tokens=tokens[-1])


def effective_length(results: Sequence[LengthResult], threshold: float = RULER_THRESHOLD) -> EffectiveLength:
    """RULER's effective length: of ascending lengths, the last before the first one that is not above `threshold`."""
    above = leading_above((result.bin.mean for result in results), threshold)
    tokens = results[above - 1].bin.clears_up_to if above else None
    return EffectiveLength(tokens=tokens, threshold=threshold, censored=bool(results) and above == len(results))


def _fitted_length(curve: ScoreCurve, share: float) -> FittedLength:
    if len(curve.tokens) < FEWEST_LENGTHS:
        counts = {"fewest": FEWEST_LENGTHS, "lengths": len(curve.tokens)}
        return _none(Note("a curve takes scores at {fewest} lengths or more, and there are {lengths}", **counts))
    fall = curve.fall_to(share)
    if curve.relative and fall.score < share * LOW_BASELINE:
        return _none(low_baseline(fall.score / share, curve.tokens[0]))
    return _fallen(curve, fall)


def _none(reason: Note) -> FittedLength:
    return FittedLength(tokens=None, ci_low=None, ci_high=None, censored=False, score=None, reason=reason)


def _fallen(curve: ScoreCurve, fall: FallTo) -> FittedLength:
    shortest, longest, confidence = curve.tokens[0], curve.tokens[-1], curve.confidence
    ci_low, ci_high, tokens = _tokens(fall.low), _tokens(fall.high), _tokens(fall.at)
    basis = Note("{samples:,} samples at {lengths} lengths", samples=curve.samples, lengths=len(curve.tokens))
    told = {"basis": basis, "score": fall.score}
    if tokens is not None:
        reason = Note(
            "the curve fitted to {basis} falls to {score:.2f} at about {tokens:,} tokens ({interval})",
            **told, tokens=tokens, interval=_interval(ci_low, ci_high, confidence),
        )  # fmt: skip
    elif fall.at > 0.0:
        ci_low, ci_high = (longest if fall.low == math.inf else ci_low), None
        reason = Note(
            "the curve fitted to {basis} stays above {score:.2f} up to the longest test, {longest:,} tokens{beyond}",
            **told, longest=longest, beyond=_beyond(ci_low, longest, confidence),
        )  # fmt: skip
    else:
        ci_low, ci_high = None, (shortest if fall.high == -math.inf else ci_high)
        but = Note("; up to {at_most:,} tokens it may be, at {confidence:percent} confidence", at_most=ci_high,
                   confidence=confidence)  # fmt: skip
        reason = Note(
            "the curve fitted to {basis} is not above {score:.2f} even at the shortest test, {shortest:,} tokens{but}",
            **told, shortest=shortest, but="" if ci_high in (None, shortest) else but,
        )  # fmt: skip
    return FittedLength(
        tokens=tokens, ci_low=ci_low, ci_high=ci_high, censored=fall.at == math.inf, score=fall.score, reason=reason
    )


def _interval(low: int | None, high: int | None, confidence: float) -> Note:
    told = {"confidence": confidence, "low": low, "high": high}
    if low is None and high is None:
        return Note("the {confidence:percent} interval is wider than the tested range", **told)
    if low is None:
        return Note("{confidence:percent} interval up to {high:,}, from below the shortest test", **told)
    if high is None:
        return Note("{confidence:percent} interval from {low:,} to beyond the longest test", **told)
    return Note("{confidence:percent} interval {low:,}–{high:,}", **told)


def _beyond(at_least: int | None, longest: int, confidence: float) -> Note:
    told = {"at_least": at_least, "confidence": confidence}
    if at_least is None:
        return Note(", and so little is known of it that no length is ruled out")
    if at_least == longest:
        return Note(": it falls to that beyond it, at {confidence:percent} confidence, or not at all", **told)
    return Note(
        ": it falls to that at {at_least:,} tokens or more, at {confidence:percent} confidence, or not at all", **told
    )


def _tokens(at: float) -> int | None:
    return round(math.exp(at)) if math.isfinite(at) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedShift:
    """The candidate's fitted length against the baseline's, in octaves: −1 is half the length.

    The interval is that of both (MOVER, Zou and Donner 2008). It takes them as independent, which runs of the same
    prompts are not: it is rather too wide. An end is None where one of them goes beyond the tested lengths."""

    baseline_tokens: int
    candidate_tokens: int
    octaves: float
    ci_low: float | None
    ci_high: float | None


def fitted_shift(baseline: FittedLength, candidate: FittedLength) -> FittedShift | None:
    """None where one of the curves does not fall to the score within the tested lengths."""
    if baseline.tokens is None or candidate.tokens is None:
        return None
    shift = _octaves(candidate.tokens, baseline.tokens)
    down = (_octaves(candidate.tokens, candidate.ci_low), _octaves(baseline.ci_high, baseline.tokens))
    up = (_octaves(candidate.ci_high, candidate.tokens), _octaves(baseline.tokens, baseline.ci_low))
    return FittedShift(
        baseline_tokens=baseline.tokens, candidate_tokens=candidate.tokens, octaves=shift,
        ci_low=None if any(map(math.isnan, down)) else shift - math.hypot(*down),
        ci_high=None if any(map(math.isnan, up)) else shift + math.hypot(*up),
    )  # fmt: skip


def _octaves(high: int | None, low: int | None) -> float:
    return math.log2(high / low) if high and low else math.nan


_CURVE = (
    "x80 and x50: the lengths at which a logistic curve in log length, fitted to the scores of all lengths, falls to"
)
_INTERVAL = (
    "Each has a bootstrap's interval, or the two lengths around the fall where none lies on it. Nothing is"
    " extrapolated. Area: the mean score over the tested range, every doubling of the length counting alike. Effective"
    " length: RULER's (arXiv 2404.06654), the longest tested length up to which every mean score is above"
)


class FittedLengthFinding(Finding[FittedLengths]):
    key = "fitted_length"
    title = "Fitted length"
    record = FittedLengths

    def find(self, study: Study) -> FittedLengths | None:
        found = estimates_of(study.results, study.confidence, relative=study.relative)
        return found if found is None or study.search is None else replace(found, area=area_of(study.passed))

    def show(self, report: Report) -> tuple[Block, ...]:
        fitted = self.of(report)
        rows: list[tuple[str, Shown]] = [("x80", fitted.x80.reason), ("x50", fitted.x50.reason)]
        if (area := fitted.area) is not None:
            confidence = phrases.percent(report.analysis.safe_cap.confidence)
            interval = f"{area.value:.3f} ({confidence} interval {area.ci_low:.3f}-{area.ci_high:.3f})"
            rows.append(("Area", f"{interval}, {area.min_tokens:,} to {area.max_tokens:,} tokens"))
        rows.append(("Effective length", _effective(fitted.effective_length)))
        to = "80% and 50% of its value at the shortest length" if fitted.relative else "a score of 0.80 and of 0.50"
        above = f"{fitted.effective_length.threshold:.3f}, what Llama2-7B reaches there at 4K."
        return (Text(text=f"{_CURVE} {to}. {_INTERVAL} {above}"), Pairs(rows=tuple(rows)))


def _effective(length: EffectiveLength) -> Note:
    rule = Note("RULER's rule: every mean up to it is above {threshold:.3f}", threshold=length.threshold)
    longest = Note(", the longest test") if length.censored else ""
    if length.tokens is None:
        return Note("none ({rule})", rule=rule)
    return Note("{tokens:,} tokens{longest} ({rule})", tokens=length.tokens, longest=longest, rule=rule)
