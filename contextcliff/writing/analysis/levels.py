"""What a run has of a measure or composite at one context length, by its name."""

from __future__ import annotations

from contextcliff.writing.measures.measure import CLASSIC_COMPOSITE, COMPOSITE
from contextcliff.writing.prose_findings import CompositeLevel, MeasureLevel, WritingTier


def level_at(tier: WritingTier, name: str) -> MeasureLevel | CompositeLevel:
    """A measure or a composite; one without figures where the record has none."""
    if name == COMPOSITE:
        return tier.composite
    if name == CLASSIC_COMPOSITE:
        return tier.composite_classic
    return level_of(tier, name)


def level_of(tier: WritingTier, measure: str) -> MeasureLevel:
    """A measure at a length; where the record has none, one without figures."""
    found = next((level for level in tier.measures if level.name == measure), None)
    return found or MeasureLevel(
        name=measure, n=0, mean=None, std=None, ci_low=None, ci_high=None, cv=None, original=None,
        author_mean=None, author_std=None, z=None, converged=None,
    )  # fmt: skip
