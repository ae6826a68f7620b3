"""The tests of two runs: over all lengths, at each length, and the intervals of the differences.

A design of fixed numbers takes the exact test of signs, a search the bets on pairs. Both give the same figures, so that
a decision need not know which it was.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextcliff.analysis.paired_units import by_length, unit_names, units_of, whole_blocks, worst_case
from contextcliff.records.comparison import Matching, ScoredPair
from contextcliff.statistics.pairs import (
    MeanDifference,
    Units,
    mean_difference,
    p_better,
    p_better_of_blocks,
    p_worse,
    p_worse_of_blocks,
    sequential_difference,
    weighted,
)
from contextcliff.statistics.ranks import holm

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
        units = units_of(pairs, name)
        return TestedPairs(
            pairs=pairs,
            units=units,
            difference=mean_difference(units, confidence),
            p_worse=p_worse(units),
            p_better=p_better(units),
        )

    lengths = {tokens: tested(pairs) for tokens, pairs in by_length(matching.scored).items()}
    overall = tested(matching.scored)
    worst = overall.difference.low
    if matching.n_unscored:
        worst = mean_difference(units_of(map(worst_case, matching.pairs), name), confidence).low
    return PairedTests(
        overall=overall,
        worst_low=worst,
        lengths=lengths,
        corrected_worse=holm([each.p_worse for each in lengths.values()]),
        corrected_better=holm([each.p_better for each in lengths.values()]),
        sharing=1 if len(lengths) == 1 else 2,
    )


def sequential_tests(matching: Matching, confidence: float) -> PairedTests | None:
    """The bets on whole blocks of a search; None where both runs have none of them scored."""
    name = unit_names(matching.pairs)
    blocks = {
        tokens: [block for block in of_length if any(pair.is_scored for pair in block)]
        for tokens, of_length in whole_blocks(matching).items()
    }

    def tested(of_blocks: Sequence[Sequence[ScoredPair]]) -> TestedPairs:
        units = [units_of(block, name) for block in of_blocks]
        return TestedPairs(
            pairs=[pair for block in of_blocks for pair in block if pair.is_scored],
            units=Units.of(unit for each in units for unit in each.units),
            difference=sequential_difference(units, confidence),
            p_worse=p_worse_of_blocks(units),
            p_better=p_better_of_blocks(units),
        )

    everything = [block for of_length in blocks.values() for block in of_length]
    if not everything:
        return None
    lengths = {tokens: tested(blocks[tokens]) for tokens in sorted(blocks) if blocks[tokens]}
    shares = _shares(matching)
    overall = tested(everything)
    worst = overall.difference.low
    if any(not pair.is_scored for block in everything for pair in block):
        units = [units_of(map(worst_case, block), name) for block in everything]
        worst = sequential_difference(units, confidence).low
    return PairedTests(
        overall=overall,
        worst_low=worst,
        lengths=lengths,
        corrected_worse=[min(1.0, each.p_worse / shares[tokens]) for tokens, each in lengths.items()],
        corrected_better=[min(1.0, each.p_better / shares[tokens]) for tokens, each in lengths.items()],
    )


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
