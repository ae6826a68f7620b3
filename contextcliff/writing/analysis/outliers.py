"""Rounds that stand out of their length: flagged, and never left out. A collapse may be the finding.

J. W. Tukey, "Exploratory Data Analysis", 1977: outside 1.5 interquartile ranges beyond the quartiles. Of ten ordinary
rounds one is flagged often enough by some measure; the flag is a hint where to read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from contextcliff.writing.analysis.draws import DrawnTier
from contextcliff.writing.prose_findings import OutlierRound

FLAGGED_BY = (
    "cloze_score",
    "vocabulary_diversity",
    "sentence_length_variance",
    "pct_unfamiliar_words",
    "avg_sentence_length",
)
"""The measures that are looked at, Context-Tester's five."""

FEWEST = 4
"""Below so many draws quartiles mean nothing."""

_REACH = 1.5
_ROUNDING = 1e-12


def outlier_rounds(tier: DrawnTier) -> tuple[OutlierRound, ...]:
    """The rounds of every draw that lies outside, by which measures."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for name in FLAGGED_BY:
        measured = [(place, draw.details[name]) for place, draw in enumerate(tier.draws) if name in draw.details]
        outside = _outside([value for _, value in measured])
        for (place, _), is_outside in zip(measured, outside, strict=True):
            if is_outside:
                found[place].append(name)
    return tuple(
        OutlierRound(sample_id=scored.sample.sample_id, trial=scored.sample.trial, measures=tuple(found[place]))
        for place in sorted(found)
        for scored in tier.draws[place].samples
    )


def _outside(values: Sequence[float]) -> list[bool]:
    if len(values) < FEWEST:
        return [False] * len(values)
    low, high = (float(quartile) for quartile in np.quantile(values, [0.25, 0.75]))
    reach = _REACH * (high - low) + _ROUNDING * max(abs(low), abs(high))
    return [value < low - reach or value > high + reach for value in values]
