"""Tests of whether the prose at a length is worse than at the shortest length, and worse than the author's own.

Every measure with a worse direction is tested one-sided at every length, by Mann and Whitney's exact test, and Holm's
correction is over all lengths and measures that are tested against the same baseline. So in a run in which nothing
changes, the probability that any measure is called degraded against the shortest length is at most 1 − confidence,
however the measures depend on each other. An improvement is never a degradation.

Against the author the rounds start with a disadvantage: all continue one passage, while the author's windows come from
the whole text, so that an unusual passage would look like a bad model. So a second test is made beside the exact one
among the windows: the measure has to be further from the author's next words than another continuation of this passage
would be. The difference of the mean of n rounds from one original is t-distributed with the windows' standard deviation
times √(1 + 1/n). The larger p-value counts. In simulated runs of four lengths, some measure of a perfect imitator,
whose rounds vary about the passage's own mean, is called degraded in at most 5%, whether none, a quarter or half of the
variance is between passages; by the windows alone it would be in up to 82%. A degradation has to reach three to four
standard deviations to be detected.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.holm import holm, is_significant
from contextcliff.statistics.rank_tests import p_larger, rank_biserial
from contextcliff.writing.analysis.draws import DrawnTier
from contextcliff.writing.analysis.scale import Values, has_every_z, scale_of, worsening
from contextcliff.writing.measures.measure import MEASURES, ORIGINAL_Z, Measure, Z
from contextcliff.writing.prose_findings import Scale, WritingTest

FEWEST_WINDOWS = 8
"""Fewest windows of the author's text that a measure is tested against."""

Against = Literal["shortest", "author"]
Size = Literal["none", "small", "medium", "large"]

_TESTED = tuple(measure for measure in MEASURES if measure.worse)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Comparison:
    """Values of a measure here and at the baseline on one scale, signed so that up is worse."""

    context_tokens: int
    measure: str
    scale: Scale
    here: Values
    there: Values
    least_p: float = 0.0
    """The p-value of another test, below which that of Mann and Whitney's does not count."""


def against_shortest(tiers: Sequence[DrawnTier], *, confidence: float) -> tuple[WritingTest, ...]:
    """Every length above the shortest against it, by length and measure; `tiers` are the shortest first."""
    comparisons = []
    for tier in tiers[1:]:
        for measure in _TESTED:
            compared = (tier, tiers[0])
            here, there = worsening(measure, compared)
            if here and there:
                comparisons.append(
                    _Comparison(
                        context_tokens=tier.context_tokens,
                        measure=measure.name,
                        scale=scale_of(measure, compared),
                        here=here,
                        there=there,
                    )
                )
    return _tested(comparisons, "shortest", confidence)


def against_author(
    tiers: Sequence[DrawnTier], windows: Mapping[str, Sequence[float]], *, confidence: float
) -> tuple[WritingTest, ...]:
    """Every length against the author's windows, which are given as z-scores by measure.

    A measure is left out where it has fewer than eight windows, or some draw has no z-score.
    """
    comparisons = []
    for tier in tiers:
        for measure in _TESTED:
            there = tuple(measure.worse * z for z in windows.get(measure.name, ()))
            here = tuple(measure.worse * z for z in tier.values(Z + measure.name))
            if len(there) < FEWEST_WINDOWS or not here or not has_every_z(measure, tier):
                continue
            comparisons.append(
                _Comparison(
                    context_tokens=tier.context_tokens,
                    measure=measure.name,
                    scale="z",
                    here=here,
                    there=there,
                    least_p=_beyond_the_place(measure, tier, here, there),
                )
            )
    return _tested(comparisons, "author", confidence)


def _beyond_the_place(measure: Measure, tier: DrawnTier, here: Values, windows: Values) -> float:
    """One-sided p-value of the rounds' mean as predicted from the author's next words (without: the windows' mean)."""
    from scipy import stats

    next_words = tier.mean(ORIGINAL_Z + measure.name)
    centre = mean_of(windows) if next_words is None else measure.worse * next_words
    spread = max(1.0, statistics.stdev(windows))  # z-scores are by the windows' own, or by a measure's floor
    t = (mean_of(here) - centre) / (spread * math.sqrt(1.0 + 1.0 / len(here)))
    return float(stats.t.sf(t, len(windows) - 1))


def _tested(comparisons: Sequence[_Comparison], against: Against, confidence: float) -> tuple[WritingTest, ...]:
    p_values = [max(one.least_p, p_larger(one.here, one.there)) for one in comparisons]
    return tuple(
        _test(one, against, p_value, p_holm, confidence)
        for one, p_value, p_holm in zip(comparisons, p_values, holm(p_values), strict=True)
    )


def _test(one: _Comparison, against: Against, p_value: float, p_holm: float, confidence: float) -> WritingTest:
    effect = rank_biserial(one.here, one.there)
    return WritingTest(
        context_tokens=one.context_tokens,
        measure=one.measure,
        against=against,
        n=len(one.here),
        n_baseline=len(one.there),
        scale=one.scale,
        shift=mean_of(one.here) - mean_of(one.there),
        p_value=p_value,
        p_holm=p_holm,
        effect=effect,
        size=size_of(effect),
        degraded=effect > 0.0 and is_significant(p_holm, confidence),
    )


def size_of(effect: float) -> Size:
    """The size of a rank-biserial correlation by Context-Tester's limits; below 0.1 it is `none`."""
    if effect < 0.1:
        return "none"
    if effect <= 0.3:
        return "small"
    return "medium" if effect <= 0.5 else "large"
