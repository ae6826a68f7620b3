"""How many errors a simulation of so many runs may have."""

from __future__ import annotations

import os

from scipy import stats

NEARLY_SURE = 1.0 - 1e-4


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
