"""Several continuation runs side by side, a measure at a time: each one's range, and which of them is the best.

A run's mean is taken over the lengths that all runs have, so that none is judged by lengths that another was spared.
The difference of the best to the next best has Welch's interval: the lengths are independent, and so are the rounds.
It is an interval for these two means; that they were picked as the extremes of several runs, and that many measures
were looked at, is not in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextcliff.analysis.bins import mean_of
from contextcliff.analysis.writing_contest_words import COMPOSITES, Lead, WritingRange, sentence_of
from contextcliff.writing.measures import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE, MEASURES
from contextcliff.writing_records import CompositeLevel, MeasureLevel, Writing, WritingTier

_WITHIN = "rounds like these can't tell that from no difference"
_EQUAL = "the best two have the same mean"


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingSide:
    """A run in the comparison. `rules` names whose measures these are: figures by different rules don't compare."""

    name: str
    writing: Writing
    rules: str


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingContest:
    """One measure over the runs that have it.

    `winner` is set where the interval of the difference lies above 0; `reason` says why there is none. The difference
    is that of the best to the next best, in the measure's unit, and never negative.
    """

    measure: str
    worse: int
    """1 up, -1 down, 0: neither, and nobody wins."""
    ranges: tuple[WritingRange, ...]
    missing: tuple[str, ...]
    """The runs that lack the measure."""
    common_tokens: tuple[int, ...]
    best: str | None
    next_best: str | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    confidence: float
    winner: str | None
    reason: str
    sentence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Point:
    mean: float
    std: float | None
    n: int


_Points = Mapping[int, _Point]


def compare_writing(sides: Sequence[WritingSide], *, confidence: float) -> tuple[WritingContest, ...]:
    """Both composites and every measure that some run has, in the order of tables."""
    named = [(name, 1) for name in COMPOSITES] + [(measure.name, int(measure.worse)) for measure in MEASURES]
    found = []
    for name, worse in named:
        points = {side.name: _points(side.writing, name) for side in sides}
        if any(points.values()):
            found.append(_contest(name, worse, sides, points, confidence))
    return tuple(found)


def _contest(
    measure: str, worse: int, sides: Sequence[WritingSide], points: Mapping[str, _Points], confidence: float
) -> WritingContest:
    having = [side for side in sides if points[side.name]]
    common = sorted(set.intersection(*(set(points[side.name]) for side in having)))
    lead: Lead | None = None
    reason = _no_contest(measure, worse, having, common)
    if not reason:
        lead = _lead({side.name: points[side.name] for side in having}, common, worse, confidence)
        reason = lead.reason
    ranges = tuple(_range(side.name, points[side.name], common) for side in having)
    missing = tuple(side.name for side in sides if not points[side.name])
    winner = lead.best if lead is not None and not reason else None
    return WritingContest(
        measure=measure,
        worse=worse,
        ranges=ranges,
        missing=missing,
        common_tokens=tuple(common),
        best=lead.best if lead else None,
        next_best=lead.next_best if lead else None,
        difference=lead.difference if lead else None,
        ci_low=lead.low if lead else None,
        ci_high=lead.high if lead else None,
        confidence=confidence,
        winner=winner,
        reason=reason,
        sentence=sentence_of(measure, worse, ranges, missing, common, lead, reason, confidence),
    )


def _points(writing: Writing, measure: str) -> dict[int, _Point]:
    found = ((tier.context_tokens, _level(tier, measure)) for tier in writing.tiers)
    return {
        tokens: _Point(mean=level.mean, std=level.std, n=level.n)
        for tokens, level in found
        if level is not None and level.mean is not None
    }


def _level(tier: WritingTier, measure: str) -> MeasureLevel | CompositeLevel | None:
    if measure == COMPOSITE:
        return tier.composite
    if measure == CLASSIC_COMPOSITE:
        return tier.composite_classic
    return next((level for level in tier.measures if level.name == measure), None)


def _range(run: str, points: _Points, common: Sequence[int]) -> WritingRange:
    low = min(points, key=lambda tokens: (points[tokens].mean, tokens))
    high = max(points, key=lambda tokens: (points[tokens].mean, -tokens))
    return WritingRange(
        run=run,
        low=points[low].mean,
        low_tokens=low,
        high=points[high].mean,
        high_tokens=high,
        common_mean=_mean(points, common) if common else None,
    )


def _mean(points: _Points, common: Sequence[int]) -> float:
    return mean_of([points[tokens].mean for tokens in common])


def _no_contest(measure: str, worse: int, having: Sequence[WritingSide], common: Sequence[int]) -> str:
    """Why nobody can win, whatever the figures are."""
    if not worse:
        return "neither way is better"
    if len(having) < 2:
        return "only one run has it"
    rules = list(dict.fromkeys(_rules(measure, side) for side in having))
    if len(rules) > 1:
        return f"measured by different rules ({'; '.join(rules)})"
    return "" if common else "no length in common"


def _rules(measure: str, side: WritingSide) -> str:
    """By what a figure was taken: sentence embeddings are the embedder's, and enter the composites."""
    embeddings = side.writing.embeddings
    if measure in COMPOSITES:
        return f"{side.rules} with {f'embeddings by {embeddings}' if embeddings else 'no embeddings'}"
    if BY_NAME[measure].embeds:
        return f"embeddings by {embeddings or 'an unnamed model'}"
    return side.rules


def _lead(points: Mapping[str, _Points], common: Sequence[int], worse: int, confidence: float) -> Lead:
    """The best against the next best; runs with equal means stay in their order."""
    means = {run: _mean(of, common) for run, of in points.items()}
    best, second = sorted(means, key=lambda run: worse * means[run])[:2]
    difference = abs(means[second] - means[best])
    if not difference:
        return Lead(best=best, next_best=second, difference=0.0, low=None, high=None, reason=_EQUAL)
    pairs = [(points[run][tokens]) for run in (best, second) for tokens in common]
    low = high = None
    if any(point.n < 2 or point.std is None for point in pairs):
        reason = "there are too few rounds to tell"
    else:
        half = _half_width(pairs, len(common), confidence)
        if half is None:
            reason = "the rounds do not vary, so nothing says how far the means are to be trusted"
        else:
            low, high = difference - half, difference + half
            reason = "" if low > 0 else _WITHIN
    return Lead(best=best, next_best=second, difference=difference, low=low, high=high, reason=reason)


def _half_width(points: Sequence[_Point], lengths: int, confidence: float) -> float | None:
    """Of Welch's interval for the difference of two means over so many lengths; None without any variance."""
    from scipy.stats import t  # not for `--help`

    parts = [((point.std or 0.0) ** 2 / point.n / lengths**2, point.n - 1) for point in points]
    variance = math.fsum(part for part, _ in parts)
    if not variance > 0 or not math.isfinite(variance):
        return None
    # By shares: the square of a tiny variance underflows.
    freedom = 1.0 / math.fsum((part / variance) ** 2 / degrees for part, degrees in parts)
    return float(t.ppf(0.5 * (1.0 + confidence), freedom)) * math.sqrt(variance)
