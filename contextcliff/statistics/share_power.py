"""What a sequential test against a share of the baseline will do, before a sample is sent.

A pair of 0/1 scores has four outcomes, too many counts to carry exactly from block to block as `sequential_power.py`
does. So the counts of each block are drawn, with a fixed seed: the same question has the same answer.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.betting import HOPED, Bets
from contextcliff.statistics.score_blocks import paired_block
from contextcliff.statistics.sequential_bets import SHARE_ABOVE, SHARE_BELOW
from contextcliff.statistics.sequential_decision import BELOW_AT, require_alpha
from contextcliff.statistics.sequential_power import SequentialPower

RUNS = 4_000
"""Simulated runs. The standard error of a chance is at most 0.008."""

_SEED = 20_261_122
_OUTCOMES = ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0))
"""Score and baseline score."""


@lru_cache(maxsize=1024)
def share_power(
    rate: float,
    baseline: float,
    *,
    share: float,
    alpha: float,
    block: int,
    most: int,
    below_at: float = BELOW_AT,
    gives_up: bool = False,
) -> SequentialPower:
    """For true scores of `rate` here and of `baseline` there: blocks of `block` pairs, at most `most` pairs.

    `gives_up`: whether it ends open where `sequential_decision.GivingUp` has it.

    Raises ValueError where `most` holds no block, for an `alpha` outside (0, 1), a share outside (0, 1], or a rate
    outside [0, 1].
    """
    require_alpha(alpha)
    if not 1 <= block <= most:
        raise ValueError(f"at most {most} samples hold no block of {block}")
    if not (0.0 <= rate <= 1.0 and 0.0 <= baseline <= 1.0):
        raise ValueError(f"true scores lie between 0 and 1, not {rate} and {baseline}")
    here, there = (rate, 1.0 - rate), (baseline, 1.0 - baseline)
    chances = [a * b for a, b in itertools.product(here, there)]
    counts = np.random.default_rng(_SEED).multinomial(block, chances, size=(RUNS, most // block)).cumsum(axis=1)
    gains = paired_block(_OUTCOMES, share)
    above = _log_e_values(SHARE_ABOVE, gains.above, counts) >= -math.log(alpha)
    below = ~above & (_log_e_values(SHARE_BELOW, gains.below, counts) >= math.log(below_at))
    ends = above | below
    if gives_up:
        seen = block * np.arange(1, most // block + 1)[:, None]
        best = np.array([score == base == 1.0 for score, base in _OUTCOMES])
        expected = counts + (most // block * block - seen) * (counts + HOPED * best) / (seen + HOPED)
        ends |= _log_e_values(SHARE_ABOVE, gains.above, expected) < -math.log(alpha)
    last = np.where(ends.any(axis=1), ends.argmax(axis=1), most // block - 1)
    at_end = np.arange(RUNS), last
    return SequentialPower(
        above=float(above[at_end].mean()),
        below=float(below[at_end].mean()),
        open=float((~above & ~below)[at_end].mean()),
        expected_samples=block * float((last + 1).mean()),
    )


def _log_e_values(
    bets: Bets, gains: tuple[float, ...], counts: NDArray[np.int64] | NDArray[np.float64]
) -> NDArray[np.float64]:
    """`counts` of the four outcomes up to each block, of shape (runs, blocks, 4); the result has (runs, blocks)."""
    logs = np.log1p(np.outer(gains, bets.stakes))
    return np.asarray(np.logaddexp.reduce(counts @ logs + np.log(bets.weights), axis=2))
