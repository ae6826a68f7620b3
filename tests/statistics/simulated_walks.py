"""Many runs of a sequential test at once, as arrays; `decide` is compared with them row by row."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from contextcliff.statistics.betting import Bets
from contextcliff.statistics.sequential import SHARE_ABOVE, SHARE_BELOW, SequentialDecision, decision_of, paired_block

Array = NDArray[np.float64]
NEARLY_SURE = 1.0 - 1e-4


def log_e_values(bets: Bets, gains: Array, block: int) -> Array:
    """Of gains with shape (runs, samples), the log e-value at the end of each block: shape (runs, blocks)."""
    logs = np.stack([np.cumsum(np.log1p(stake * gains), axis=1)[:, block - 1 :: block] for stake in bets.stakes])
    return np.asarray(np.logaddexp.reduce(logs + np.log(bets.weights)[:, None, None], axis=0))


def passes(bets: Bets, gains: Array, block: int, alpha: float) -> NDArray[np.bool_]:
    """Whether each run ever reaches 1/alpha at the end of a block."""
    return np.asarray((log_e_values(bets, gains, block) >= -math.log(alpha)).any(axis=1))


def simulated_runs(few: int) -> int:
    """Runs of a long simulation: `few`, or what SIMULATED_RUNS says; 2000 repeats the figures of the docs."""
    return int(os.environ.get("SIMULATED_RUNS", few))


def fewest_hits(runs: int, rate: float) -> int:
    """Hits of this rate that `runs` runs fall short of with a chance of at most 1 in 10,000."""
    return int(stats.binom.ppf(1.0 - NEARLY_SURE, runs, rate))


def most_errors(runs: int, rate: float) -> int:
    """Errors of this rate that `runs` runs exceed with a chance of at most 1 in 10,000."""
    return int(stats.binom.ppf(NEARLY_SURE, runs, rate))


def allowed(rate: float, runs: int) -> int:
    """Events of at most this rate that `runs` runs exceed with a chance of at most 1 in 1,000."""
    return int(stats.binom.ppf(0.999, runs, rate))


def decide_share(blocks: Sequence[Sequence[tuple[float, float]]], *, share: float, alpha: float) -> SequentialDecision:
    """Whether the mean is above `share` times the baseline's, or below; each pair is (score, baseline score)."""
    gains = [paired_block(block, share) for block in blocks]
    return decision_of(gains, above=SHARE_ABOVE, below=SHARE_BELOW, alpha=alpha)
