"""Tests of whether the prose at a length is worse than at the shortest one and than the author's own, and of trends."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from contextcliff.seeding import seed_of
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.intervals import t_above
from contextcliff.statistics.ranks import holm, is_significant, ordered_trend, p_larger, rank_biserial
from contextcliff.writing.levels import DrawnTier, Values, has_every_z, scale_of, worsening
from contextcliff.writing.measures.measure import BY_NAME, MEASURES, ORIGINAL_Z, Measure, Z
from contextcliff.writing.prose_findings import Against, NeighbourStep, Scale, Size, WritingTest, WritingTrend

FEWEST_WINDOWS = 8
_TESTED = tuple(measure for measure in MEASURES if measure.worse)


def against_shortest(tiers: Sequence[DrawnTier], *, confidence: float) -> tuple[WritingTest, ...]:
    """Every length above the shortest against it, by length and measure; `tiers` are the shortest first."""
    tests = []
    for tier in tiers[1:]:
        for measure in _TESTED:
            compared = (tier, tiers[0])
            here, there = worsening(measure, compared)
            if here and there:
                p_value, scale = p_larger(here, there), scale_of(measure, compared)
                tests.append(_test(tier, measure, "shortest", here, there, scale=scale, p_value=p_value))
    return _corrected(tests, confidence)


def against_author(
    tiers: Sequence[DrawnTier], windows: Mapping[str, Sequence[float]], *, confidence: float
) -> tuple[WritingTest, ...]:
    """Every length against the author's windows, which are z-scores by measure: eight or more, and one of each draw."""
    tests = []
    for tier in tiers:
        for measure in _TESTED:
            there = tuple(measure.worse * z for z in windows.get(measure.name, ()))
            here = tuple(measure.worse * z for z in tier.values(Z + measure.name))
            if len(there) >= FEWEST_WINDOWS and here and has_every_z(measure, tier):
                p_value = max(_beyond_the_place(measure, tier, here, there), p_larger(here, there))
                tests.append(_test(tier, measure, "author", here, there, scale="z", p_value=p_value))
    return _corrected(tests, confidence)


def _beyond_the_place(measure: Measure, tier: DrawnTier, here: Values, windows: Values) -> float:
    """One-sided p-value of the rounds' mean as predicted from the author's next words (without: the windows' mean)."""
    next_words = tier.mean(ORIGINAL_Z + measure.name)
    centre = mean_of(windows) if next_words is None else measure.worse * next_words
    spread = max(1.0, statistics.stdev(windows))  # z-scores are by the windows' own, or by a measure's floor
    t = (mean_of(here) - centre) / (spread * math.sqrt(1.0 + 1.0 / len(here)))
    return t_above(t, len(windows) - 1)


def _test(
    tier: DrawnTier, measure: Measure, against: Against, here: Values, there: Values, *, scale: Scale, p_value: float
) -> WritingTest:
    """`here` and `there` are on one scale, signed so that up is worse."""
    effect = rank_biserial(here, there)
    return WritingTest(
        context_tokens=tier.context_tokens,
        measure=measure.name,
        against=against,
        n=len(here),
        n_baseline=len(there),
        scale=scale,
        shift=mean_of(here) - mean_of(there),
        p_value=p_value,
        p_holm=p_value,
        effect=effect,
        size=size_of(effect),
        degraded=False,
    )


def _corrected(tests: Sequence[WritingTest], confidence: float) -> tuple[WritingTest, ...]:
    corrected = holm([test.p_value for test in tests])
    return tuple(
        replace(test, p_holm=p, degraded=test.effect > 0.0 and is_significant(p, confidence))
        for test, p in zip(tests, corrected, strict=True)
    )


def size_of(effect: float) -> Size:
    """The size of a rank-biserial correlation by Context-Tester's limits; below 0.1 it is `none`."""
    if effect < 0.1:
        return "none"
    if effect <= 0.3:
        return "small"
    return "medium" if effect <= 0.5 else "large"


def writing_trends(tiers: Sequence[DrawnTier]) -> tuple[WritingTrend, ...]:
    """The trend of every measure that at least two lengths have; Holm's correction over those that can get worse."""
    trends = []
    for measure in MEASURES:
        having = [tier for tier in tiers if tier.values(measure.name)]
        if len(having) < 2:
            continue
        values = worsening(measure, having)
        seed = seed_of("writing trend", measure.name, *(sorted(group) for group in values))
        p_value, exact = ordered_trend(values, two_sided=not measure.worse, seed=seed) or (None, False)
        trends.append(
            WritingTrend(
                measure=measure.name,
                scale=scale_of(measure, having),
                start=mean_of(having[0].values(measure.name)),
                end=mean_of(having[-1].values(measure.name)),
                p_value=p_value,
                p_holm=None,
                exact=exact,
            )
        )
    family = {t.measure: t.p_value for t in trends if BY_NAME[t.measure].worse and t.p_value is not None}
    corrected = dict(zip(family, holm(list(family.values())), strict=True))
    return tuple(replace(trend, p_holm=corrected.get(trend.measure)) for trend in trends)


def neighbour_steps(tiers: Sequence[DrawnTier]) -> tuple[NeighbourStep, ...]:
    """Steps beyond the measures' limits, by length and measure. No test: more variable rounds have more of them."""
    steps = []
    for shorter, longer in pairwise(tiers):
        for measure in MEASURES:
            before, after = shorter.mean(measure.name), longer.mean(measure.name)
            if measure.step_limit is None or before is None or after is None:
                continue
            change = after - before
            if abs(change) > abs(measure.step_limit) and change * measure.step_limit > 0.0:
                steps.append(NeighbourStep(context_tokens=longer.context_tokens, measure=measure.name, change=change))
    return tuple(steps)
