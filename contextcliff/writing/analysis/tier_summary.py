"""What is said of the prose at each context length: every measure with its spread, its outliers, and how rounds ended.

Outliers among the rounds of a length are flagged and never left out: a collapse may be the finding. They are J. W.
Tukey's ("Exploratory Data Analysis", 1977): more than 1.5 interquartile ranges beyond the quartiles. Among ten ordinary
rounds some measure often flags one: a flag says which texts are worth reading.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from contextcliff.seeding import seed_of
from contextcliff.statistics.descriptive import counted, standard_deviation
from contextcliff.statistics.intervals import mean_intervals
from contextcliff.writing.analysis.draws import DrawnTier
from contextcliff.writing.measures.measure import (
    AUTHOR_MEAN,
    AUTHOR_STD,
    CLASSIC_COMPOSITE,
    COMPOSITE,
    MEASURES,
    ORIGINAL,
    Z,
)
from contextcliff.writing.prose_findings import COMPLETE, CompositeLevel, MeasureLevel, OutlierRound, WritingTier

CONVERGED_WITHIN = 0.1
"""Of the original's value: Context-Tester's limit."""

_ROUNDING = 1e-12
_Interval = tuple[float | None, float | None]


def writing_tier(tier: DrawnTier, measured: Sequence[str], *, confidence: float) -> WritingTier:
    """One length; `measured` are the measures that some round of the run has, in their order."""
    intervals = _intervals(tier, (*measured, COMPOSITE, CLASSIC_COMPOSITE), confidence)
    return WritingTier(
        context_tokens=tier.context_tokens,
        n_rounds=len(tier.rounds),
        n_unscored=len(tier.unscored),
        n_distinct=len(tier.draws),
        outcomes=counted(scored.failure or COMPLETE for scored in tier.rounds),
        finish_reasons=counted(s.generation.finish_reason for s in tier.rounds if s.generation is not None),
        reading_level=_reading_level(tier.mean("cloze_score")),
        composite=_composite(tier, COMPOSITE, intervals),
        composite_classic=_composite(tier, CLASSIC_COMPOSITE, intervals),
        measures=tuple(_measure(tier, name, intervals[name]) for name in measured),
        outliers=outlier_rounds(tier),
        prompt_tokens=tier.prompt_tokens if tier.rounds or tier.unscored else None,
    )


def measured_names(tiers: Iterable[DrawnTier]) -> tuple[str, ...]:
    """The measures that some round has."""
    measured = {key for tier in tiers for draw in tier.draws for key in draw.details}
    return tuple(measure.name for measure in MEASURES if measure.name in measured)


def _measure(tier: DrawnTier, name: str, interval: _Interval) -> MeasureLevel:
    values = tier.values(name)
    mean, std, original = tier.mean(name), standard_deviation(values), tier.mean(ORIGINAL + name)
    converged = None
    if mean is not None and original is not None:
        converged = has_converged(mean, original)
    return MeasureLevel(
        name=name,
        n=len(values),
        mean=mean,
        std=std,
        ci_low=interval[0],
        ci_high=interval[1],
        cv=variation(mean, std),
        original=original,
        author_mean=tier.mean(AUTHOR_MEAN + name),
        author_std=tier.mean(AUTHOR_STD + name),
        z=tier.mean(Z + name),
        z_std=standard_deviation(tier.values(Z + name)),
        converged=converged,
    )


def _composite(tier: DrawnTier, key: str, intervals: Mapping[str, _Interval]) -> CompositeLevel:
    values = tier.values(key)
    low, high = intervals[key]
    return CompositeLevel(n=len(values), mean=tier.mean(key), std=standard_deviation(values), ci_low=low, ci_high=high)


def has_converged(mean: float, original: float) -> bool:
    """Whether a mean lies within 10% of the original's."""
    return abs(mean - original) <= CONVERGED_WITHIN * abs(original) + _ROUNDING


def variation(mean: float | None, std: float | None) -> float | None:
    """Coefficient of variation; None where it can't be said."""
    if not mean or std is None:
        return None
    coefficient = std / abs(mean)
    return coefficient if math.isfinite(coefficient) else None


def _intervals(tier: DrawnTier, keys: Sequence[str], confidence: float) -> dict[str, _Interval]:
    """Measures that the same draws have are resampled together."""
    intervals: dict[str, _Interval] = dict.fromkeys(keys, (None, None))
    by_draws: dict[tuple[int, ...], list[str]] = {}
    for key in keys:
        places = tuple(place for place, draw in enumerate(tier.draws) if key in draw.details)
        if len(places) >= 2:
            by_draws.setdefault(places, []).append(key)
    for places, together in by_draws.items():
        columns = np.array([tier.values(key) for key in together]).T
        seed = seed_of("writing bootstrap", tier.context_tokens, list(places))
        intervals.update(zip(together, mean_intervals(columns, confidence=confidence, seed=seed), strict=True))
    return intervals


def _reading_level(cloze: float | None) -> str | None:
    # Imported late: it reads a list of words.
    from contextcliff.writing.measures.readability import reading_level

    return None if cloze is None else reading_level(cloze)


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
