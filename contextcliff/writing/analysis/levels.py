"""What a run has of a measure or composite at one context length, by its name."""

from __future__ import annotations

from contextcliff.writing.measures.measure import CLASSIC_COMPOSITE, COMPOSITE
from contextcliff.writing.prose_findings import CompositeLevel, MeasureLevel, WritingTier

_NOTHING = CompositeLevel(n=0, mean=None, std=None, ci_low=None, ci_high=None)


def level_of(tier: WritingTier, name: str) -> MeasureLevel:
    """The level of a measure or composite; without figures where the record has none.

    A composite has no figures of the original and of the author.
    """
    measured = next((level for level in tier.measures if level.name == name), None)
    if measured is not None:
        return measured
    composites = {COMPOSITE: tier.composite, CLASSIC_COMPOSITE: tier.composite_classic}
    level = composites.get(name, _NOTHING)
    return MeasureLevel(
        name=name, n=level.n, mean=level.mean, std=level.std, ci_low=level.ci_low, ci_high=level.ci_high, cv=None,
        original=None, author_mean=None, author_std=None, z=None, converged=None,
    )  # fmt: skip
