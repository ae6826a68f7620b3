"""Outliers among the rounds of a length. They are flagged and never left out: a collapse may be the finding.

J. W. Tukey, "Exploratory Data Analysis", 1977: more than 1.5 interquartile ranges beyond the quartiles. Among ten
ordinary rounds some measure often flags one: a flag says which texts are worth reading.
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
"""The measures that flag rounds: Context-Tester's five, in its order."""

FEWEST = 4
"""Fewest draws with usable quartiles."""

_REACH = 1.5
_ROUNDING = 1e-12


def outlier_rounds(tier: DrawnTier) -> tuple[OutlierRound, ...]:
    """The rounds of every draw that is an outlier in some measure, with these measures."""
    measures_by_draw: defaultdict[int, list[str]] = defaultdict(list)
    for name in FLAGGED_BY:
        measured = [(place, draw.details[name]) for place, draw in enumerate(tier.draws) if name in draw.details]
        outside = _outside([value for _, value in measured])
        for (place, _), is_outside in zip(measured, outside, strict=True):
            if is_outside:
                measures_by_draw[place].append(name)
    return tuple(
        OutlierRound(
            sample_id=scored.sample.sample_id, trial=scored.sample.trial, measures=tuple(measures_by_draw[place])
        )
        for place in sorted(measures_by_draw)
        for scored in tier.draws[place].samples
    )


def _outside(values: Sequence[float]) -> list[bool]:
    if len(values) < FEWEST:
        return [False] * len(values)
    low, high = (float(quartile) for quartile in np.quantile(values, [0.25, 0.75]))
    reach = _REACH * (high - low) + _ROUNDING * max(abs(low), abs(high))
    return [value < low - reach or value > high + reach for value in values]
