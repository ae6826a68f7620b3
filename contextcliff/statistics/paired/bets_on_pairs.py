"""Is the candidate worse, where a search chose how many samples a length gets?

A search stops after answers that settled it: a baseline that passed a length has just been right more often than it is.
Its pairs are then too good on the baseline's side, and a test for a fixed number of pairs finds equal candidates worse.
Here bets decide (`betting.py`): each stakes a fraction f on "the candidate scores lower" and multiplies its wealth by
1 − f·d for a difference d in −1 to 1. Pairs come in whole blocks in the order of the search. Whether a block was asked
depends on earlier blocks alone, so that while the candidate is not worse on average over the pairs asked so far, the
wealth reaches 1/α with a chance of at most α, whenever either run stopped. 1/e is a valid p-value at that place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from contextcliff.statistics.betting import Bets, Wealth
from contextcliff.statistics.confidence_sequence import sequential_bounds
from contextcliff.statistics.paired.differences import Units
from contextcliff.statistics.paired.interval import MeanDifference

BETS = Bets(stakes=(0.1, 0.25, 0.5, 0.85), weights=(0.25, 0.25, 0.25, 0.25))
"""Equal runs that differ in a tenth of their pairs call for low stakes, a cliff that moved for high ones."""


def p_worse_of_blocks(blocks: Sequence[Units]) -> float:
    """The smallest level at which the bets show that the candidate is worse; 1 where they show nothing."""
    wealth = Wealth.before_any_block(BETS)
    for block in blocks:
        wealth = wealth.after(_gains(block))
    return min(1.0, math.exp(-max(0.0, wealth.log_e_value)))


def p_better_of_blocks(blocks: Sequence[Units]) -> float:
    """The same toward better."""
    return p_worse_of_blocks([block.mirrored() for block in blocks])


def sequential_difference(blocks: Sequence[Units], confidence: float) -> MeanDifference:
    """The mean difference over the pairs asked, with a confidence sequence: each end holds at `confidence`.

    Of at least one block; units count alike.
    """
    differences = [-gain for block in blocks for gain in _gains(block)]
    mean = math.fsum(differences) / len(differences)
    return MeanDifference(
        mean=mean,
        low=min(_low(differences, confidence), mean),
        high=max(-_low([-each for each in differences], confidence), mean),
        method="confidence sequence",
    )


def _low(differences: Sequence[float], confidence: float) -> float:
    low, _ = sequential_bounds([0.5 * (1.0 + each) for each in differences], alpha=1.0 - confidence)
    return 2.0 * low - 1.0


def _gains(block: Units) -> tuple[float, ...]:
    """What a bet on "worse" wins by each unit, per unit staked: units of a block by the size of its largest."""
    largest = max(unit.pairs for unit in block.units)
    return tuple(-unit.total / largest for unit in block.units)
