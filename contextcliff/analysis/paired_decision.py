"""Is a candidate worse than the baseline? The verdict on each of several candidates.

Worse is tested in two ways that share α: over all lengths together, and at some length. The first finds what is a
little worse everywhere, the second a fall at one length that a mean over all lengths dilutes. Each candidate's p-value
is twice the smaller of both (of a single length they are one), corrected for the number of candidates by Holm. Better
is the same toward the other side. Otherwise the lower end of the interval of the overall difference says whether the
candidate is worse by less than the margin, also if every missing score told against it. What is left is unknown, with
the pairs that would settle it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from contextcliff.analysis.paired_tests import (
    PairedTests,
    TestedPairs,
    area_difference,
    fixed_tests,
    sequential_tests,
)
from contextcliff.records.comparison import (
    CandidateVerdict,
    Difference,
    DirectionTest,
    LengthDifference,
    Matching,
    PairedDecision,
)
from contextcliff.statistics.pairs import SEQUENTIAL, MeanDifference, pairs_for_non_inferiority, pairs_for_worse
from contextcliff.statistics.ranks import holm, is_significant


def decide(matchings: Sequence[Matching], *, confidence: float, margin: float) -> tuple[PairedDecision | None, ...]:
    """The decision on each candidate, given how its samples match the baseline's; None where no pair is scored.

    `margin` is the fall in mean score that would not matter, 0 to 1. Candidates without a pair count for no correction.
    """
    tests = [
        sequential_tests(each, confidence) if each.searched else fixed_tests(each, confidence) for each in matchings
    ]
    known = [each for each in tests if each is not None]
    worse = iter(_shifts(known, confidence, worse=True))
    better = iter(_shifts(known, confidence, worse=False))
    return tuple(
        None if of is None else _decided(of, matching, next(worse), next(better), confidence, margin)
        for of, matching in zip(tests, matchings, strict=True)
    )


def _shifts(tests: Sequence[PairedTests], confidence: float, *, worse: bool) -> list[DirectionTest]:
    overall = [each.overall.p_worse if worse else each.overall.p_better for each in tests]
    corrected = [each.corrected_worse if worse else each.corrected_better for each in tests]
    somewhere = [min(each) for each in corrected]
    both = [min(1.0, each.sharing * min(pair)) for each, *pair in zip(tests, overall, somewhere, strict=True)]
    return [
        DirectionTest(
            p_overall=overall[place],
            p_somewhere=somewhere[place],
            p=both[place],
            p_of_all=p_of_all,
            lengths=tuple(
                tokens
                for tokens, p in zip(each.lengths, corrected[place], strict=True)
                if is_significant(each.sharing * p, confidence)
            ),
        )
        for place, (each, p_of_all) in enumerate(zip(tests, holm(both), strict=True))
    ]


def _decided(
    tests: PairedTests,
    matching: Matching,
    worse: DirectionTest,
    better: DirectionTest,
    confidence: float,
    margin: float,
) -> PairedDecision:
    overall = _difference(tests.overall.difference, tests.overall)
    verdict = _verdict(worse, better, min(overall.low, tests.worst_low), confidence, margin)
    area = area_difference(tests)
    return PairedDecision(
        verdict=verdict,
        confidence=confidence,
        margin=margin,
        quantity=matching.quantity,
        sequential=matching.searched,
        worse=worse,
        better=better,
        overall=overall,
        worst_low=tests.worst_low,
        area=None if area is None else _difference(area, tests.overall),
        lengths=tuple(
            LengthDifference(
                context_tokens=tokens,
                difference=_difference(tested.difference, tested),
                p_worse=tested.p_worse,
                p_worse_corrected=p_lower,
                p_better=tested.p_better,
                p_better_corrected=p_higher,
            )
            for (tokens, tested), p_lower, p_higher in zip(
                tests.lengths.items(), tests.corrected_worse, tests.corrected_better, strict=True
            )
        ),
        more_pairs=_more_pairs(tests, matching, confidence, margin) if verdict == "unknown" else None,
        only_baseline=matching.only_baseline,
        only_candidate=matching.only_candidate,
        other_prompt=matching.other_prompt,
        n_unscored=matching.n_unscored,
    )


def _verdict(
    worse: DirectionTest, better: DirectionTest, low: float, confidence: float, margin: float
) -> CandidateVerdict:
    if is_significant(worse.p_of_all, confidence):
        return "worse"
    if is_significant(better.p_of_all, confidence):
        return "better"
    return "not_worse" if low > -margin else "unknown"


def _difference(of: MeanDifference, tested: TestedPairs) -> Difference:
    pairs = tested.pairs
    return Difference(
        mean=of.mean,
        low=of.low,
        high=of.high,
        method=of.method,
        n_pairs=len(pairs),
        n_units=len(tested.units.units),
        baseline_mean=math.fsum(pair.baseline or 0.0 for pair in pairs) / len(pairs),
        candidate_mean=math.fsum(pair.candidate or 0.0 for pair in pairs) / len(pairs),
        worse=tested.units.worse,
        better=tested.units.better,
    )


def _more_pairs(tests: PairedTests, matching: Matching, confidence: float, margin: float) -> int | None:
    """Planned for half of the difference that was seen, which chance may have enlarged, and then for all of it.

    The variance is that of the units, by pairs, with two differing pairs added: without any it would be 0.
    """
    units = tests.overall.units
    n, seen = units.n_pairs, units.mean
    largest_spread = math.fsum(unit.total**2 for unit in units.units)
    variance = (largest_spread + 2.0) / (n + 2.0) - (0.0 if abs(seen) >= 1.0 else seen * seen)
    times = SEQUENTIAL if matching.searched else 1.0
    for difference in (0.5 * seen, seen):
        needed = pairs_for_non_inferiority(
            variance=variance, margin=margin, difference=difference, confidence=confidence
        ) or pairs_for_worse(variance=variance, difference=difference, confidence=confidence)
        if needed is not None and math.ceil(times * needed) > n:
            return math.ceil(times * needed) - n
    return None
