"""Does a candidate write worse than the baseline? Every measure over the rounds that both were asked, pair by pair.

The verdict rests on whether rounds are healthy; this says in what they differ. A pair's difference is the candidate's
figure minus the baseline's, as a z-score against the author at equal length where both rounds have one, since a raw
figure depends on how much was written. It is tested by the exact test of signs over all lengths, as the verdict is, and
Holm corrects for all measures of all candidates at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from contextcliff.analysis.paired_units import unit_names, units_of
from contextcliff.records.comparison import ScoredPair
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.pairs import Units, p_better, p_worse, shift_interval
from contextcliff.statistics.ranks import holm, is_significant
from contextcliff.writing.analysis.measuring_rules import (
    COMPOSITES,
    DifferentRules,
    UnequalLengths,
    WritingSide,
    different_rules,
    unequal_lengths,
)
from contextcliff.writing.measures.measure import BY_NAME, MEASURES, Z
from contextcliff.writing.prose_findings import Scale

WORSE_UP = {**dict.fromkeys(COMPOSITES, 1), **{measure.name: int(measure.worse) for measure in MEASURES}}
"""Both composites and every measure, with the direction that is worse: 1 up, -1 down, 0 neither."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PairedRounds:
    """A candidate, and its rounds beside the baseline's."""

    side: WritingSide
    pairs: Sequence[ScoredPair]


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasureDifference:
    """One measure of a candidate against the baseline, over the pairs in which both rounds have it."""

    measure: str
    worse: int
    """The direction that is worse: 1 up, -1 down, 0 neither, and nothing is tested."""
    scale: Scale
    """`raw`: the measure's unit; `z`: the standard deviation of windows of the author's text of that length."""
    baseline_mean: float
    candidate_mean: float
    difference: float
    """The candidate's mean minus the baseline's."""
    low: float | None
    high: float | None
    """Each end holds by itself; None where so few units rule out nothing, or where no unit differs."""
    n_pairs: int
    n_units: int
    """Independent pieces of evidence: rounds of one draw are one."""
    n_unmeasured: int
    """Pairs of answered rounds of which one lacks the measure, mostly since it wrote too little."""
    p_worse: float | None
    p_better: float | None
    p_worse_corrected: float | None
    """For all tested measures of all candidates (Holm)."""
    p_better_corrected: float | None
    shown: Literal["worse", "better"] | None
    """What is shown at the confidence, after the correction."""
    reason: DifferentRules | UnequalLengths | None
    """Why it isn't tested, though one way is worse."""


def measure_differences(
    baseline: WritingSide, candidates: Mapping[str, PairedRounds], *, confidence: float
) -> Mapping[str, tuple[MeasureDifference, ...]]:
    """Both composites and every measure that some pair has, by candidate, in the order of tables."""
    known = {
        name: tuple(
            one
            for measure in WORSE_UP
            if (one := _difference(measure, baseline, rounds, confidence=confidence)) is not None
        )
        for name, rounds in candidates.items()
    }
    rows = [one for each in known.values() for one in each]
    worse = iter(holm([one.p_worse for one in rows if one.p_worse is not None]))
    better = iter(holm([one.p_better for one in rows if one.p_better is not None]))
    return {
        name: tuple(
            one if one.p_worse is None else _corrected(one, next(worse), next(better), confidence=confidence)
            for one in each
        )
        for name, each in known.items()
    }


def _corrected(one: MeasureDifference, worse: float, better: float, *, confidence: float) -> MeasureDifference:
    shown: Literal["worse", "better"] | None = None
    if is_significant(worse, confidence):
        shown = "worse"
    elif is_significant(better, confidence):
        shown = "better"
    return replace(one, p_worse_corrected=worse, p_better_corrected=better, shown=shown)


def _difference(
    measure: str, baseline: WritingSide, rounds: PairedRounds, *, confidence: float
) -> MeasureDifference | None:
    answered = [pair for pair in rounds.pairs if pair.is_scored]
    having = _with_figures(answered, measure)
    if not having:
        return None
    scaled = _with_figures(having, Z + measure)
    scale: Scale = "z" if len(scaled) == len(having) and _has_z(measure) else "raw"
    key = Z + measure if scale == "z" else measure
    before = [pair.baseline_figures[key] for pair in having]
    after = [pair.candidate_figures[key] for pair in having]
    differences = [own - base for base, own in zip(before, after, strict=True)]
    largest = max(map(abs, differences)) or 1.0
    units = _units(rounds.pairs, having, [each / largest for each in differences])
    low, high = (None if end is None else end * largest for end in shift_interval(units, confidence))
    worse = WORSE_UP[measure]
    reason = _obstacle(measure, baseline, rounds.side, having, scale) if worse else None
    tested = units.mirrored() if worse > 0 else units
    is_tested = worse != 0 and reason is None
    return MeasureDifference(
        measure=measure,
        worse=worse,
        scale=scale,
        baseline_mean=mean_of(before),
        candidate_mean=mean_of(after),
        difference=math.fsum(differences) / len(differences),
        low=low,
        high=high,
        n_pairs=len(having),
        n_units=len(units.units),
        n_unmeasured=len(answered) - len(having),
        p_worse=p_worse(tested) if is_tested else None,
        p_better=p_better(tested) if is_tested else None,
        p_worse_corrected=None,
        p_better_corrected=None,
        shown=None,
        reason=reason,
    )


def _with_figures(pairs: Iterable[ScoredPair], key: str) -> list[ScoredPair]:
    return [pair for pair in pairs if key in pair.baseline_figures and key in pair.candidate_figures]


def _has_z(measure: str) -> bool:
    """The author's text is complete: it has no standard deviation of what is missing."""
    return measure in BY_NAME and BY_NAME[measure].of_text


def _units(pairs: Sequence[ScoredPair], having: Sequence[ScoredPair], differences: Sequence[float]) -> Units:
    """The differences, each -1 to 1, of pairs of one draw together; `pairs` are all, of which `having` are some."""
    by_difference = (
        replace(pair, baseline=0.0, candidate=difference) for pair, difference in zip(having, differences, strict=True)
    )
    return units_of(by_difference, unit_names(pairs))


def _obstacle(
    measure: str, baseline: WritingSide, candidate: WritingSide, having: Sequence[ScoredPair], scale: Scale
) -> DifferentRules | UnequalLengths | None:
    """Why the figures of two runs can't be held against each other."""
    sides = (baseline, candidate)
    rules = different_rules(measure, sides)
    if rules is not None or scale == "z":
        return rules
    return unequal_lengths(measure, sides, sorted({pair.context_tokens for pair in having}))
