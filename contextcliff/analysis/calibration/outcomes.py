"""What simulated runs of one law come to, and their summary over all runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.calibration.laws import Law
from contextcliff.statistics.intervals import wilson

_INTERVAL = 0.95


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcomes:
    """The caps and the costs of all runs of one law by one design; arrays of shape (runs,)."""

    caps: NDArray[np.int64]
    """Tokens of the cap; 0 where a run has none."""
    tokens: NDArray[np.float64]
    """Prompt tokens asked, each prompt in full: no shared prefix is saved."""
    whole_range: NDArray[np.bool_]
    """Whether the run cleared its longest length."""
    longest: NDArray[np.int64]
    """The longest prompt that could have been the cap."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibrated:
    """How one design did on one law, over `runs` simulated runs."""

    law: str
    design: str
    runs: int
    is_valid: bool
    """Whether its error is expected to be at most alpha."""
    can_err: bool
    """Whether some length is truly not above the threshold, so that a cap can be wrong."""
    errors: int
    """Runs whose cap lies at a length whose true score is not above the threshold."""
    error_low: float
    error_high: float
    """Wilson's 95% interval of the share of errors."""
    with_cap: float
    """Share of runs with a cap."""
    with_whole_range: float
    """Share of runs that cleared the longest length."""
    octaves_lost: float | None
    """Median over all runs of log2(true crossing / cap), of the longest length where there is no crossing before it;
    0 where the cap is above. None where more than half of the runs have no cap, or no cap could be right."""
    tokens: float
    """Mean over all runs of the prompt tokens asked."""

    @property
    def error(self) -> float:
        """Share of runs in error."""
        return self.errors / self.runs


def calibrated(law: Law, design: str, outcomes: Outcomes) -> Calibrated:
    """The summary of at least one run."""
    runs = len(outcomes.caps)
    errors = sum(law.is_error(int(cap)) for cap in outcomes.caps if cap > 0)
    low, high = wilson(errors, runs, _INTERVAL)
    return Calibrated(
        law=law.name,
        design=design,
        runs=runs,
        is_valid=law.is_valid,
        can_err=law.true_score.crossing is not None,
        errors=errors,
        error_low=low,
        error_high=high,
        with_cap=float((outcomes.caps > 0).mean()),
        with_whole_range=float(outcomes.whole_range.mean()),
        octaves_lost=_octaves_lost(law, outcomes),
        tokens=float(outcomes.tokens.mean()),
    )


def _octaves_lost(law: Law, outcomes: Outcomes) -> float | None:
    crossing = law.true_score.crossing
    if crossing == 0.0:
        return None
    reachable = outcomes.longest.astype(np.float64)
    if crossing is not None:
        reachable = np.minimum(reachable, crossing)
    with np.errstate(divide="ignore"):
        lost = np.log2(reachable / outcomes.caps)
    median = float(np.median(np.maximum(lost, 0.0)))
    return median if math.isfinite(median) else None
