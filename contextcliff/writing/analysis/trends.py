"""How each measure changes over the lengths: a trend test, and Context-Tester's steps between neighbouring lengths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from contextcliff.seeding import seed_of
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.holm import holm
from contextcliff.statistics.jonckheere import OrderedTrend, ordered_trend
from contextcliff.writing.analysis.draws import DrawnTier
from contextcliff.writing.analysis.scale import scale_of, worsening
from contextcliff.writing.measures.measure import MEASURES, Measure
from contextcliff.writing.prose_findings import NeighbourStep, WritingTrend


def writing_trends(tiers: Sequence[DrawnTier]) -> tuple[WritingTrend, ...]:
    """The trend of every measure that at least two lengths have; Holm's correction over those that can get worse."""
    measured = [
        (measure, with_it)
        for measure in MEASURES
        if len(with_it := [tier for tier in tiers if tier.values(measure.name)]) >= 2
    ]
    trends = [_tested(measure, with_it) for measure, with_it in measured]
    family = [place for place, (measure, _) in enumerate(measured) if measure.worse and trends[place] is not None]
    corrected = holm([test.p_value for place in family if (test := trends[place]) is not None])
    p_holm = dict(zip(family, corrected, strict=True))
    return tuple(
        WritingTrend(
            measure=measure.name,
            scale=scale_of(measure, with_it),
            start=mean_of(with_it[0].values(measure.name)),
            end=mean_of(with_it[-1].values(measure.name)),
            p_value=None if test is None else test.p_value,
            p_holm=p_holm.get(place),
            exact=test is not None and test.exact,
        )
        for place, ((measure, with_it), test) in enumerate(zip(measured, trends, strict=True))
    )


def _tested(measure: Measure, tiers: Sequence[DrawnTier]) -> OrderedTrend | None:
    values = worsening(measure, tiers)
    seed = seed_of("writing trend", measure.name, *(sorted(group) for group in values))
    return ordered_trend(values, two_sided=not measure.worse, seed=seed)


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
