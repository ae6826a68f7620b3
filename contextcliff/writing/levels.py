"""From scored rounds to levels: what is said of the prose at each context length.

Rounds with the same `Sample.item` (temperature 0, or a `sampling.seed`) are one draw: an item, as in every other task.
Its measures are means over its rounds, and n counts draws. Rounds are asked for and compared by context length, which
holds the answer too; sentences, tables and figures of a run name measured prompts, as the safe cap does."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Literal, TypeVar

import numpy as np

from contextcliff.analysis.bins import median_tokens
from contextcliff.analysis.lengths import Item, LengthResult, items_of
from contextcliff.records.analysis import SafeCap
from contextcliff.records.generation import ScoredSample
from contextcliff.seeding import seed_of
from contextcliff.statistics.descriptive import counted, mean_of_known, standard_deviation
from contextcliff.statistics.intervals import mean_intervals
from contextcliff.writing import prose_findings as prose
from contextcliff.writing.measures import measure as measures
from contextcliff.writing.measures.readability import reading_level
from contextcliff.writing.task.continuation_scoring import fault_of


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnTier:
    """One context length: its scored draws, and the rounds without an answer."""

    context_tokens: int
    draws: tuple[Item, ...]
    unscored: tuple[ScoredSample, ...] = ()

    @property
    def rounds(self) -> tuple[ScoredSample, ...]:
        return tuple(scored for draw in self.draws for scored in draw.samples)

    def values(self, key: str) -> tuple[float, ...]:
        """A detail of every draw that has it, in the order of the draws."""
        return tuple(draw.details[key] for draw in self.draws if key in draw.details)

    def mean(self, key: str) -> float | None:
        return mean_of_known(self.values(key))


def drawn_tiers(scored: Iterable[ScoredSample]) -> tuple[DrawnTier, ...]:
    """The draws of every length, shortest first."""
    by_length: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for sample in sorted(scored, key=lambda s: (s.sample.trial, s.sample.sample_id)):
        by_length[sample.sample.context_tokens].append(sample)
    return tuple(
        DrawnTier(
            context_tokens=tokens,
            draws=items_of(s for s in by_length[tokens] if s.score is not None),
            unscored=tuple(s for s in by_length[tokens] if s.score is None),
        )
        for tokens in sorted(by_length)
    )


_NOTHING = prose.CompositeLevel(n=0, mean=None, std=None, ci_low=None, ci_high=None)


def level_of(tier: prose.WritingTier, name: str) -> prose.MeasureLevel:
    """The level of a measure or composite; without figures if not measured."""
    measured = next((level for level in tier.measures if level.name == name), None)
    if measured is not None:
        return measured
    composites = {measures.COMPOSITE: tier.composite, measures.CLASSIC_COMPOSITE: tier.composite_classic}
    level = composites.get(name, _NOTHING)
    return prose.MeasureLevel(
        name=name, n=level.n, mean=level.mean, std=level.std, ci_low=level.ci_low, ci_high=level.ci_high, cv=None,
        original=None, author_mean=None, author_std=None, z=None, converged=None,
    )  # fmt: skip


Values = tuple[float, ...]


def worsening(measure: measures.Measure, tiers: Sequence[DrawnTier]) -> tuple[Values, ...]:
    """The measure's values at each of `tiers`, on one scale, signed so that up is worse."""
    key = measures.Z + measure.name if scale_of(measure, tiers) == "z" else measure.name
    sign = measure.worse or 1
    return tuple(tuple(sign * value for value in tier.values(key)) for tier in tiers)


def scale_of(measure: measures.Measure, tiers: Sequence[DrawnTier]) -> prose.Scale:
    return "z" if all(has_every_z(measure, tier) for tier in tiers) else "raw"


def has_every_z(measure: measures.Measure, tier: DrawnTier) -> bool:
    """Whether every draw with a value of this measure has a z-score of it."""
    return all(measures.Z + measure.name in draw.details for draw in tier.draws if measure.name in draw.details)


_CONVERGED_WITHIN = 0.1
"""Of the original's value: Context-Tester's limit."""
_ROUNDING = 1e-12
_Interval = tuple[float | None, float | None]


def writing_tier(tier: DrawnTier, measured: Sequence[str], *, confidence: float) -> prose.WritingTier:
    """One length; `measured` are the measures that some round of the run has."""
    intervals = _intervals(tier, (*measured, measures.COMPOSITE, measures.CLASSIC_COMPOSITE), confidence)
    rounds = (*tier.rounds, *tier.unscored)
    return prose.WritingTier(
        context_tokens=tier.context_tokens,
        n_rounds=len(tier.rounds),
        n_unscored=len(tier.unscored),
        n_distinct=len(tier.draws),
        outcomes=counted(scored.failure or prose.COMPLETE for scored in tier.rounds),
        finish_reasons=counted(s.generation.finish_reason for s in tier.rounds if s.generation is not None),
        reading_level=None if (cloze := tier.mean("cloze_score")) is None else reading_level(cloze),
        composite=_composite(tier, measures.COMPOSITE, intervals),
        composite_classic=_composite(tier, measures.CLASSIC_COMPOSITE, intervals),
        measures=tuple(_measure(tier, name, intervals[name]) for name in measured),
        outliers=outlier_rounds(tier),
        prompt_tokens=median_tokens(rounds) if rounds else None,
    )


def measured_names(tiers: Iterable[DrawnTier]) -> tuple[str, ...]:
    measured = {key for tier in tiers for draw in tier.draws for key in draw.details}
    return tuple(measure.name for measure in measures.MEASURES if measure.name in measured)


def _measure(tier: DrawnTier, name: str, interval: _Interval) -> prose.MeasureLevel:
    values = tier.values(name)
    mean, std, original = tier.mean(name), standard_deviation(values), tier.mean(measures.ORIGINAL + name)
    return prose.MeasureLevel(
        name=name,
        n=len(values),
        mean=mean,
        std=std,
        ci_low=interval[0],
        ci_high=interval[1],
        cv=variation(mean, std),
        original=original,
        author_mean=tier.mean(measures.AUTHOR_MEAN + name),
        author_std=tier.mean(measures.AUTHOR_STD + name),
        z=tier.mean(measures.Z + name),
        z_std=standard_deviation(tier.values(measures.Z + name)),
        converged=None
        if mean is None or original is None
        else abs(mean - original) <= _CONVERGED_WITHIN * abs(original) + _ROUNDING,
    )


def _composite(tier: DrawnTier, key: str, intervals: Mapping[str, _Interval]) -> prose.CompositeLevel:
    values = tier.values(key)
    low, high = intervals[key]
    return prose.CompositeLevel(
        n=len(values), mean=tier.mean(key), std=standard_deviation(values), ci_low=low, ci_high=high
    )


def variation(mean: float | None, std: float | None) -> float | None:
    """Coefficient of variation."""
    coefficient = std / abs(mean) if mean and std is not None else math.inf
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
"""Interquartile ranges beyond the quartiles (J. W. Tukey, "Exploratory Data Analysis", 1977)."""


def outlier_rounds(tier: DrawnTier) -> tuple[prose.OutlierRound, ...]:
    """Rounds far from the others in some measures. They are kept: a flag says which texts are worth reading."""
    fences = {name: _fences(values) for name in FLAGGED_BY if len(values := tier.values(name)) >= FEWEST}
    found = []
    for draw in tier.draws:
        details = draw.details
        outside = tuple(name for name, (low, high) in fences.items() if not low <= details.get(name, low) <= high)
        for scored in draw.samples if outside else ():
            sample = scored.sample
            found.append(prose.OutlierRound(sample_id=sample.sample_id, trial=sample.trial, measures=outside))
    return tuple(found)


def _fences(values: Sequence[float]) -> tuple[float, float]:
    low, high = map(float, np.quantile(values, [0.25, 0.75]))
    reach = _REACH * (high - low) + _ROUNDING * max(abs(low), abs(high))
    return low - reach, high + reach


def health_of(results: Sequence[LengthResult], cap: SafeCap) -> prose.Health | None:
    """The health of the walk behind `cap`, by length; None if that rests on another quantity or nothing is scored."""
    if cap.quantity != "healthy" or not any(result.scores for result in results):
        return None
    levels = tuple(map(_level, results))
    at: prose.HealthLevel | None = None
    outcome: Literal["cleared", "below", "open"] = "open"
    if cap.ci_low is not None and cap.ci_low >= results[-1].bin.clears_up_to:
        outcome = "cleared"
    elif cap.ci_high is None:
        beyond = (result.bin.clears_up_to > (cap.ci_low or 0) for result in results)
        at = next(compress(levels, beyond), None)
    else:
        outcome = "below"
        below = (result.bin.below_from >= cap.ci_high for result in results)
        at = next(compress(levels, below), levels[-1])
    return prose.Health(
        threshold=cap.threshold, relative=cap.relative_to_baseline, outcome=outcome, at=at, levels=levels
    )


def _level(result: LengthResult) -> prose.HealthLevel:
    tested = result.bin
    draws = [item for item in result.items if item.score is not None]
    faults = Counter(fault for draw in draws if (fault := _fault(draw)) is not None)
    return prose.HealthLevel(
        context_tokens=tested.asked_tokens,
        n=len(draws),
        n_unscored=len(result.items) - len(draws),
        healthy=len(draws) - faults.total(),
        share=tested.mean,
        ci_low=tested.ci_low,
        ci_high=tested.ci_high,
        tested_low=tested.tested_low,
        faults=dict(faults.most_common()),
    )


def _fault(draw: Item) -> str | None:
    faults = (fault_of(scored.details, scored.failure) for scored in draw.samples if scored.score is not None)
    return next((fault for fault in faults if fault is not None), None)


_AtLength = TypeVar("_AtLength", prose.WritingTier, prose.WritingTest, prose.NeighbourStep, prose.HealthLevel)


def shown_lengths(writing: prose.Writing) -> Mapping[int, int]:
    """Context length as asked to the measured prompt, which is shown."""
    return {tier.context_tokens: tier.prompt_tokens or tier.context_tokens for tier in writing.tiers}


def as_shown(writing: prose.Writing) -> prose.Writing:
    """The same by the shown lengths, for sentences, tables and figures."""
    lengths, health = shown_lengths(writing), writing.health

    def told(some: Iterable[_AtLength]) -> tuple[_AtLength, ...]:
        return tuple(replace(one, context_tokens=lengths.get(one.context_tokens, one.context_tokens)) for one in some)

    if health is not None:
        at = None if health.at is None else told([health.at])[0]
        health = replace(health, at=at, levels=told(health.levels))
    return replace(
        writing, tiers=told(writing.tiers), tests=told(writing.tests), steps=told(writing.steps), health=health
    )
