"""Is a candidate worse than the baseline? The verdict on each of several candidates.

Worse is tested in two ways that share α: over all lengths together, and at some length. The first finds what is a
little worse everywhere, the second a fall at one length that a mean over all lengths dilutes. Each candidate's p-value
is twice the smaller of both (of a single length they are one), corrected for the number of candidates by Holm. Better
is the same toward the other side. Otherwise the lower end of the interval of the overall difference says whether the
candidate is worse by less than the margin. What is left is unknown, with the pairs that would settle it. It is all that
is said of a baseline that hardly does the task at any length, but for worse and better.

A mean over lengths hides a fall at the longest, where a small KV cache is needed. So of caches *not worse* is a claim
about the longest length that the baseline can do, by the pairs there.

A missing score may be missing because of what it would have been. So each verdict has to hold though every missing
score told against it: for better and for not worse those of the candidate count 0 and those of the baseline 1, for
worse the reverse. What is shown of sizes is of the pairs with both scores.

The overall difference is the mean of the lengths' differences, each length counting alike: a search asks most where the
score falls, and its pairs would say what happens there.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from contextcliff.analysis.walk import LOW_BASELINE
from contextcliff.records.comparison import (
    CandidateVerdict,
    Difference,
    DirectionTest,
    LengthDifference,
    Matching,
    PairedDecision,
    ScoredPair,
)
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.pairs import (
    SEQUENTIAL,
    MeanDifference,
    Unit,
    Units,
    mean_difference,
    mean_of_parts,
    p_better,
    p_better_of_steps,
    p_worse,
    p_worse_of_steps,
    pairs_for_non_inferiority,
    pairs_for_worse,
    sequential_difference,
    weighted,
)
from contextcliff.statistics.ranks import holm, is_significant

MARGIN = 0.05
"""The fall in mean score that does not matter, where nothing else is asked for."""


def decide(matchings: Sequence[Matching], *, confidence: float, margin: float) -> tuple[PairedDecision | None, ...]:
    """The decision on each candidate, given how its samples match the baseline's; None where no pair is scored.

    `margin` is the fall in mean score that would not matter, 0 to 1. Candidates without a pair count for no correction.
    Each is tested at its own share of the error.
    """
    levels = [1.0 - (1.0 - confidence) * each.error_share for each in matchings]
    tests = [
        sequential_tests(each, level) if each.searched else fixed_tests(each, level)
        for each, level in zip(matchings, levels, strict=True)
    ]
    known = [(each, level) for each, level in zip(tests, levels, strict=True) if each is not None]
    worse, better = (iter(_shifts(known, worse=worse)) for worse in (True, False))
    return tuple(
        None if of is None else _decided(of, matching, next(worse), next(better), level, margin)
        for of, matching, level in zip(tests, matchings, levels, strict=True)
    )


def _shifts(tests: Sequence[tuple[PairedTests, float]], *, worse: bool) -> list[DirectionTest]:
    """Of each candidate's tests, at its confidence."""
    overall = [each.overall.p_worse if worse else each.overall.p_better for each, _ in tests]
    corrected = [each.corrected_worse if worse else each.corrected_better for each, _ in tests]
    somewhere = [min(each) for each in corrected]
    both = [min(1.0, each.sharing * min(pair)) for (each, _), *pair in zip(tests, overall, somewhere, strict=True)]
    return [
        DirectionTest(
            p_overall=overall[place], p_somewhere=somewhere[place], p=both[place], p_of_all=p_of_all,
            lengths=tuple(
                tokens
                for tokens, p in zip(each.lengths, corrected[place], strict=True)
                if is_significant(each.sharing * p, confidence)
            ),
        )
        for place, ((each, confidence), p_of_all) in enumerate(zip(tests, holm(both), strict=True))
    ]  # fmt: skip


def _decided(
    tests: PairedTests,
    matching: Matching,
    worse: DirectionTest,
    better: DirectionTest,
    confidence: float,
    margin: float,
) -> PairedDecision:
    of_all = tests.overall
    at_lengths = {n: _difference(each.difference, each.pairs, each.units) for n, each in tests.lengths.items()}
    overall = replace(
        _difference(of_all.difference, of_all.pairs, of_all.units),
        baseline_mean=mean_of([each.baseline_mean for each in at_lengths.values()]),
        candidate_mean=mean_of([each.candidate_mean for each in at_lengths.values()]),
    )
    # Two runs that get nothing right differ by nothing, and that says nothing.
    is_low = all(each.baseline_mean < LOW_BASELINE for each in at_lengths.values())
    longest = _at_longest(matching, confidence)
    low = min(overall.low, tests.worst_low) if longest is None else longest.low
    verdict = _verdict(worse, better, -1.0 if is_low else low, confidence, margin)
    area, more_pairs = area_difference(tests), None
    if verdict == "unknown" and not is_low:
        more_pairs = _more_pairs(tests, longest, matching, confidence, margin)
    return PairedDecision(
        verdict=verdict, confidence=confidence, margin=margin, quantity=matching.quantity, sequential=matching.searched,
        worse=worse, better=better, overall=overall, worst_low=tests.worst_low,
        area=None if area is None else _difference(area, of_all.pairs, of_all.units), longest=longest,
        longest_tokens=None if longest is None or matching.longest is None else matching.longest[1],
        lengths=tuple(
            LengthDifference(
                context_tokens=tokens, difference=at_lengths[tokens], p_worse=tested.p_worse,
                p_worse_corrected=p_lower, p_better=tested.p_better, p_better_corrected=p_higher,
            )
            for (tokens, tested), p_lower, p_higher in zip(
                tests.lengths.items(), tests.corrected_worse, tests.corrected_better, strict=True
            )
        ),
        more_pairs=more_pairs, low_baseline=is_low,
        only_baseline=matching.only_baseline, only_candidate=matching.only_candidate,
        other_prompt=matching.other_prompt, not_sent=matching.not_sent, too_long=matching.too_long,
        n_unscored=matching.n_unscored,
    )  # fmt: skip


def _verdict(
    worse: DirectionTest, better: DirectionTest, low: float, confidence: float, margin: float
) -> CandidateVerdict:
    if is_significant(worse.p_of_all, confidence):
        return "worse"
    if is_significant(better.p_of_all, confidence):
        return "better"
    return "not_worse" if low > -margin else "unknown"


def _difference(of: MeanDifference, pairs: Sequence[ScoredPair], units: Units) -> Difference:
    return Difference(
        mean=of.mean, low=of.low, high=of.high, method=of.method, n_pairs=len(pairs), n_units=len(units.units),
        baseline_mean=math.fsum(pair.baseline or 0.0 for pair in pairs) / len(pairs),
        candidate_mean=math.fsum(pair.candidate or 0.0 for pair in pairs) / len(pairs), worse=units.worse,
        better=units.better,
    )  # fmt: skip


def _more_pairs(
    tests: PairedTests, longest: Difference | None, matching: Matching, confidence: float, margin: float
) -> int | None:
    """Planned for half of the difference that was seen, which chance may have enlarged, and then for all of it."""
    n, seen, k = len(tests.overall.pairs), tests.overall.difference.mean, len(tests.lengths)
    # n times the variance of the mean of the lengths' differences: what n pairs as these tell of it.
    variance = n * math.fsum(_variance(each.units, k) / (k * k * each.units.n_pairs) for each in tests.lengths.values())
    if longest is not None:
        n, seen = longest.n_pairs, longest.mean
        variance = (longest.worse + longest.better + 2.0) / (n + 2.0) - seen * seen
    times = SEQUENTIAL if matching.searched else 1.0
    for difference in (0.5 * seen, seen):
        needed = pairs_for_non_inferiority(
            variance=variance, margin=margin, difference=difference, confidence=confidence
        ) or pairs_for_worse(variance=variance, difference=difference, confidence=confidence)
        if needed is not None and math.ceil(times * needed) > n:
            return math.ceil(times * needed) - n
    return None


def _variance(units: Units, k: int) -> float:
    """Of a pair's difference at one of `k` lengths; two made-up pairs over all of them keep it above 0."""
    spread = math.fsum(unit.total**2 for unit in units.units)
    mean = units.mean
    return (spread + 2.0 / k) / (units.n_pairs + 2.0 / k) - (0.0 if abs(mean) >= 1.0 else mean * mean)


def longest_done(scores: Iterable[tuple[int, float | None]]) -> int | None:
    """The longest length at which the mean of the baseline's scores is not low; None without one."""
    lengths: defaultdict[int, list[float]] = defaultdict(list)
    for tokens, score in scores:
        if score is not None:
            lengths[tokens].append(score)
    return max((tokens for tokens, each in lengths.items() if mean_of(each) >= LOW_BASELINE), default=None)


def is_settled(steps: Sequence[Sequence[ScoredPair]], *, confidence: float, margin: float = MARGIN) -> bool:
    """Whether the steps of one length say that the candidate is worse there, or that it is not by the margin."""
    found = _with_missing(steps, confidence, searched=True)
    if found is None:
        return False
    name = unit_names([pair for step in steps for pair in step])
    worse = p_worse_of_steps(_units([[pair.at_best for pair in step] for step in steps], name))
    return found.low > -margin or worse <= LENGTHS_SHARE * (1.0 - confidence)


def _at_longest(matching: Matching, confidence: float) -> Difference | None:
    """The difference at the longest length; None where that is not known, or no pair of it is scored."""
    if matching.longest is None:
        return None
    low, high = matching.longest
    steps: Sequence[Sequence[ScoredPair]] = [[pair for pair in matching.pairs if low <= pair.context_tokens <= high]]
    if matching.searched:
        steps = [step for tokens, each in matching.whole_steps.items() if low <= tokens <= high for step in each]
    found = _with_missing(steps, confidence, searched=matching.searched)
    if found is None:
        return None
    scored = [pair for step in steps for pair in step if pair.is_scored]
    return _difference(found, scored, units_of(scored, unit_names(scored)))


def _with_missing(steps: Sequence[Sequence[ScoredPair]], confidence: float, *, searched: bool) -> MeanDifference | None:
    """The difference over steps, with the ends that missing scores leave; None where no pair is scored."""
    name = unit_names([pair for step in steps for pair in step])

    def over(steps: Sequence[Sequence[ScoredPair]]) -> MeanDifference:
        units = _units(steps, name)
        if searched:
            return sequential_difference(units, confidence)
        return mean_difference(Units.of(itertools.chain.from_iterable(each.units for each in units)), confidence)

    if not _units(steps, name):
        return None
    shown = over(steps)
    low = over([[pair.at_worst for pair in step] for step in steps]).low
    high = over([[pair.at_best for pair in step] for step in steps]).high
    return replace(shown, low=min(shown.low, low), high=max(shown.high, high))


def _units(steps: Sequence[Sequence[ScoredPair]], name: Name) -> Sequence[Units]:
    return [each for step in steps if (each := units_of(step, name)).units]


LENGTHS_SHARE = 0.02
"""The part of the error that tests of one length have at least, as several lengths and candidates share it."""
WALK_SHARE = 0.75
"""Part of the error "at some length" that the lengths of a search's walk share; refined ones share the rest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TestedPairs:
    """Pairs that were tested together, and what came out."""

    __test__ = False  # not a class of tests

    pairs: Sequence[ScoredPair]
    units: Units
    difference: MeanDifference
    p_worse: float
    p_better: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PairedTests:
    """All tests of one candidate; `lengths` in ascending order, corrected p-values in theirs."""

    overall: TestedPairs
    worst_low: float
    lengths: Mapping[int, TestedPairs]
    corrected_worse: Sequence[float]
    corrected_better: Sequence[float]
    sharing: int = 2
    """How many tests share the error: that over all lengths and those at each; of a single length they are one."""


def fixed_tests(matching: Matching, confidence: float) -> PairedTests | None:
    """The exact tests of a design of fixed numbers of samples; None where no pair is scored on both sides."""
    if not matching.scored:
        return None
    name = unit_names(matching.pairs)

    def tested(pairs: Sequence[ScoredPair]) -> TestedPairs:
        scored = [pair for pair in pairs if pair.is_scored]
        units = units_of(scored, name)
        return TestedPairs(
            pairs=scored, units=units, difference=mean_difference(units, confidence),
            p_worse=p_worse(units_of((pair.at_best for pair in pairs), name)),
            p_better=p_better(units_of((pair.at_worst for pair in pairs), name)),
        )  # fmt: skip

    lengths = {
        tokens: tested(pairs)
        for tokens, pairs in by_length(matching.pairs).items()
        if any(pair.is_scored for pair in pairs)
    }
    overall = tested(matching.pairs)
    difference = over_lengths(matching.scored, name, confidence)
    worst = difference.low
    if matching.n_unscored:
        worst = over_lengths(tuple(pair.at_worst for pair in matching.pairs), name, confidence).low
    return PairedTests(
        overall=replace(overall, difference=difference), worst_low=worst, lengths=lengths,
        corrected_worse=holm([each.p_worse for each in lengths.values()]),
        corrected_better=holm([each.p_better for each in lengths.values()]), sharing=1 if len(lengths) == 1 else 2,
    )  # fmt: skip


def over_lengths(pairs: Sequence[ScoredPair], name: Name, confidence: float) -> MeanDifference:
    """The mean of the lengths' differences, each length counting alike, over at least one pair."""
    lengths = by_length(pairs)
    weights = {tokens: len(pairs) / (len(lengths) * len(of_length)) for tokens, of_length in lengths.items()}
    units, parts = units_of(pairs, name, weights), [units_of(of_length, name) for of_length in lengths.values()]
    is_single = len(units.units) == len(pairs) and all(part.is_right_or_wrong for part in parts)
    if not is_single or units.is_right_or_wrong:
        return mean_difference(units, confidence)
    return mean_of_parts([mean_difference(part, confidence) for part in parts])


def sequential_tests(matching: Matching, confidence: float) -> PairedTests | None:
    """The bets on the steps of a search; None where both runs have none of them scored."""
    name = unit_names(matching.pairs)
    blocks = matching.whole_steps

    def tested(of_blocks: Sequence[Sequence[ScoredPair]]) -> TestedPairs:
        units = _units(of_blocks, name)
        return TestedPairs(
            pairs=[pair for block in of_blocks for pair in block if pair.is_scored],
            units=Units.of(unit for each in units for unit in each.units),
            difference=sequential_difference(units, confidence),
            p_worse=p_worse_of_steps([units_of((pair.at_best for pair in block), name) for block in of_blocks]),
            p_better=p_better_of_steps([units_of((pair.at_worst for pair in block), name) for block in of_blocks]),
        )

    everything = [block for of_length in blocks.values() for block in of_length]
    known = {tokens for tokens, each in blocks.items() if any(pair.is_scored for block in each for pair in block)}
    if not known:
        return None
    lengths = {tokens: tested(blocks[tokens]) for tokens in sorted(known)}
    shares = _shares(matching)
    difference = mean_of_parts([each.difference for each in lengths.values()])
    worst = difference.low
    if any(not pair.is_scored for block in everything for pair in block):
        at_worst = ([[pair.at_worst for pair in block] for block in of_length] for of_length in blocks.values())
        worst = mean_of_parts([sequential_difference(_units(each, name), confidence) for each in at_worst]).low
    return PairedTests(
        overall=replace(tested(everything), difference=difference), worst_low=worst, lengths=lengths,
        corrected_worse=[min(1.0, each.p_worse / shares[tokens]) for tokens, each in lengths.items()],
        corrected_better=[min(1.0, each.p_better / shares[tokens]) for tokens, each in lengths.items()],
    )  # fmt: skip


def area_difference(tests: PairedTests) -> MeanDifference | None:
    """The difference of the areas under the score over log length, as a mean score; None below two lengths."""
    tokens = list(tests.lengths)
    if len(tokens) < 2:
        return None
    at = [math.log(each) for each in tokens]
    steps = [high - low for low, high in itertools.pairwise(at)]
    whole = at[-1] - at[0]
    weights = [0.5 * (before + after) / whole for before, after in zip([0.0, *steps], [*steps, 0.0], strict=True)]
    return weighted([each.difference for each in tests.lengths.values()], weights)


def _shares(matching: Matching) -> Mapping[int, float]:
    """Of each length of a search its part of the error, fixed before any answer: they sum to at most 1."""
    walk, refined = matching.lengths[: matching.n_walk_lengths], matching.lengths[matching.n_walk_lengths :]
    shares = dict.fromkeys(walk, WALK_SHARE / max(1, len(walk)))
    return shares | {tokens: (1.0 - WALK_SHARE) / (k * (k + 1)) for k, tokens in enumerate(refined, 1)}


Name = Callable[[ScoredPair], str]


def unit_names(pairs: Sequence[ScoredPair]) -> Name:
    """What names the unit of a pair: its text where several texts have several pairs each, else its question.

    Where all pairs share one text they are independent given that text, and the claim is about it.
    """
    texts = Counter(pair.cluster for pair in pairs if pair.cluster)
    share_texts = len(texts) > 1 and max(texts.values()) > 1

    def name(pair: ScoredPair) -> str:
        if share_texts and pair.cluster:
            return f"text {pair.cluster}"
        return f"question {pair.item}" if pair.item else f"sample {pair.sample_id}"

    return name


def units_of(pairs: Iterable[ScoredPair], name: Name, weights: Mapping[int, float] | None = None) -> Units:
    """The differences of pairs that are scored on both sides, those of one name as one unit.

    `weights` has the weight of a pair at each length; each counts 1 if it is None.
    """
    totals: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for pair in pairs:
        if pair.baseline is not None and pair.candidate is not None:
            weight = 1.0 if weights is None else weights[pair.context_tokens]
            totals[name(pair)].append((weight * (pair.candidate - pair.baseline), weight))
    return Units.of(
        Unit(total=_sum([total for total, _ in each]), pairs=math.fsum(weight for _, weight in each))
        for each in totals.values()
    )


def by_length(pairs: Iterable[ScoredPair]) -> Mapping[int, Sequence[ScoredPair]]:
    """Lengths ascending."""
    lengths: defaultdict[int, list[ScoredPair]] = defaultdict(list)
    for pair in pairs:
        lengths[pair.context_tokens].append(pair)
    return {tokens: lengths[tokens] for tokens in sorted(lengths)}


def _sum(differences: Sequence[float]) -> float:
    # Sums of thirds and tenths come out a rounding off a whole number.
    total = sum(differences)
    return round(total) if abs(total - round(total)) < 1e-9 else total
