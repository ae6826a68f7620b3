"""Samples that a sequential test is likely to take."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.betting import HOPED, Bets, log_of_mixture
from contextcliff.statistics.sequential import (
    ABOVE,
    BELOW,
    BELOW_AT,
    SHARE_ABOVE,
    SHARE_BELOW,
    paired_block,
    require_alpha,
    require_threshold,
)

# What a sequential test will do, before a sample is sent: the chance to pass, to fail, and the samples it takes.
#
# On 0/1 scores the e-values depend on nothing but the number of samples and how many are right. The chance of every
# (samples, right) that is still undecided is carried from block to block, so that the figures are exact, for any
# profile of true scores over the places of a block.

MOST = 20_000
"""A larger number of samples is not practical; None is returned instead."""

_Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class SequentialPower:
    """Chances of the three ends of a sequential test, which sum to 1, and the samples to expect until its end."""

    above: float
    below: float
    open: float
    expected_samples: float


def sequential_power(
    rate: float,
    *,
    threshold: float,
    alpha: float,
    block: int,
    most: int,
    below_at: float = BELOW_AT,
    before: tuple[int, int] = (0, 0),
    gives_up: bool = False,
) -> SequentialPower:
    """For a true score of `rate` at every depth: blocks of `block` samples, at most `most` samples in whole blocks."""
    return profile_power(
        (rate,) * block,
        threshold=threshold,
        alpha=alpha,
        most=most,
        below_at=below_at,
        before=before,
        gives_up=gives_up,
    )


@lru_cache(maxsize=4096)
def profile_power(
    profile: tuple[float, ...],
    *,
    threshold: float,
    alpha: float,
    most: int,
    below_at: float = BELOW_AT,
    before: tuple[int, int] = (0, 0),
    gives_up: bool = False,
) -> SequentialPower:
    """The same for a profile: the true score at each place of a block, in any order.

    `before`: (samples, right ones) of whole blocks that were seen already and decided nothing. `expected_samples`
    counts them. `gives_up`: whether it ends open where `sequential.GivingUp` has it.
    """
    require_alpha(alpha)
    require_threshold(threshold)
    if not 1 <= len(profile) <= most:
        raise ValueError(f"at most {most} samples hold no block of {len(profile)}")
    if not all(0.0 <= rate <= 1.0 for rate in profile):
        raise ValueError(f"true scores lie between 0 and 1, not {profile}")
    if not 0 <= before[1] <= before[0]:
        raise ValueError(f"{before[1]} right of {before[0]} samples is not possible")
    in_a_block = np.ones(1)
    for rate in profile:
        in_a_block = np.convolve(in_a_block, [1.0 - rate, rate])
    above, below, given_up, expected, n = 0.0, 0.0, 0.0, 0.0, before[0]
    in_all = (most - n) // len(profile) * len(profile) + n
    undecided = np.zeros(n + 1)
    undecided[before[1]] = 1.0
    needed = -math.log(alpha)
    while n + len(profile) <= most:
        # Entry i of `undecided` is the chance that no look has decided and i of n samples are right.
        undecided, n = np.convolve(undecided, in_a_block), n + len(profile)
        right = np.arange(n + 1)
        passes = log_e_by_count(ABOVE, 1.0 / threshold - 1.0, right, n) >= needed
        fails = ~passes & (log_e_by_count(BELOW, 1.0 / (1.0 - threshold) - 1.0, n - right, n) >= math.log(below_at))
        above += float(undecided[passes].sum())
        below += float(undecided[fails].sum())
        ends = passes | fails
        if gives_up:
            expected_right = right + (in_all - n) * (right + HOPED) / (n + HOPED)
            hopeless = ~ends & (log_e_by_count(ABOVE, 1.0 / threshold - 1.0, expected_right, in_all) < needed)
            given_up += float(undecided[hopeless].sum())
            ends |= hopeless
        expected += n * float(undecided[ends].sum())
        undecided = np.where(ends, 0.0, undecided)
    left = float(undecided.sum())
    return SequentialPower(
        above=min(1.0, above), below=min(1.0, below), open=given_up + left, expected_samples=expected + n * left
    )


def log_e_by_count(bets: Bets, win: float, wins: NDArray[np.int64] | _Array, n: int) -> _Array:
    """Log e-value where `wins` of `n` samples gained `win` per unit and the others lost their stake: (counts,)."""
    stakes = np.asarray(bets.stakes)[:, None]
    logs = wins * np.log1p(stakes * win) + (n - wins) * np.log1p(-stakes) + np.log(bets.weights)[:, None]
    return np.asarray(np.logaddexp.reduce(logs, axis=0))


def fewest_perfect(threshold: float, *, alpha: float, block: int) -> int | None:
    """Fewest samples, in whole blocks, after which a model without a mistake has passed `threshold`; None above `MOST`.

    Where samples share texts this counts texts. 20 for 0.8 at 95% in blocks of 10. None for a threshold of 1.
    """
    if threshold >= 1.0:
        return None
    require_threshold(threshold)
    return _fewest(ABOVE, 1.0 / threshold - 1.0, alpha, block)


def fewest_perfect_share(share: float, *, alpha: float, block: int) -> int | None:
    """The same against `share` of a perfect baseline, the hardest one. None for a share of 1."""
    return None if share >= 1.0 else _fewest(SHARE_ABOVE, 1.0 / share - 1.0, alpha, block)


@lru_cache(maxsize=256)
def _fewest(bets: Bets, win: float, alpha: float, block: int) -> int | None:
    require_alpha(alpha)
    for n in range(block, MOST + 1, block):
        if log_of_mixture(bets.weights, [n * math.log1p(stake * win) for stake in bets.stakes]) >= -math.log(alpha):
            return n
    return None


# What a sequential test against a share of the baseline will do, before a sample is sent.
#
# A pair of 0/1 scores has four outcomes, too many counts to carry exactly from block to block as above.
# So the counts of each block are drawn, with a fixed seed: the same question has the same answer.

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

    `gives_up`: whether it ends open where `sequential.GivingUp` has it.
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
