"""The values that lengths are compared by: z-scores where every draw has one, else raw values; up is worse.

How diverse a text is depends on how long it is, and the answers at two context lengths differ in length. Z-scores are
comparable, since each is taken by windows of the author's text that are as long as the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.writing.analysis.draws import DrawnTier
from contextcliff.writing.measures.measure import Measure, Z
from contextcliff.writing.prose_findings import Scale

Values = tuple[float, ...]


def worsening(measure: Measure, tiers: Sequence[DrawnTier]) -> tuple[Values, ...]:
    """The measure's values at each of `tiers`, on one scale for all of them, signed so that up is worse.

    A measure without a worse direction keeps its sign.
    """
    key = Z + measure.name if scale_of(measure, tiers) == "z" else measure.name
    sign = measure.worse or 1
    return tuple(tuple(sign * value for value in tier.values(key)) for tier in tiers)


def scale_of(measure: Measure, tiers: Sequence[DrawnTier]) -> Scale:
    """The scale that `tiers` are compared on."""
    return "z" if all(has_every_z(measure, tier) for tier in tiers) else "raw"


def has_every_z(measure: Measure, tier: DrawnTier) -> bool:
    """Whether every draw with a value of this measure has a z-score of it."""
    return all(Z + measure.name in draw.details for draw in tier.draws if measure.name in draw.details)
