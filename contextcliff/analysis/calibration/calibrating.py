"""A calibration: every law by every design, many runs of each.

A search is the product's own (`safe_cap_search`). A fixed design has the same number of samples at every length, tested
exactly from the shortest length up, as `analysis.walk` does; a test depends on the scores alone, so that each distinct
set of scores is tested once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.calibration.laws import Law, Parts
from contextcliff.analysis.safe_cap_search import SafeCapSearch
from contextcliff.analysis.search_path import SearchDesign
from contextcliff.records.search_record import BASELINE_SAMPLES
from contextcliff.seeding import seed_of
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.intervals import weighted_mean_cdf, wilson
from contextcliff.statistics.melding import binary_p_at_most_share
from contextcliff.statistics.ranks import is_significant

Outcomes = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Of every run the cap in tokens, 0 for none, and the prompt tokens asked, each prompt in full."""
DesignName = Literal["walk", "refine", "fixed_40", "fixed_500"]
SEARCHES: dict[DesignName, bool] = {"walk": False, "refine": True}
"""Whether a search refines."""
FIXED: dict[DesignName, int] = {"fixed_40": 40, "fixed_500": 500}
"""Samples at each length."""
_DEPTHS = 10
_INTERVAL = 0.95
_PAIRS = 64
"""Lengths, at most, whose samples are paired with the shortest length's."""
_Key = tuple[int, ...]
"""All that a test depends on: how often each score came, or right answers here and at the baseline."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CalibrationPlan:
    """What is simulated."""

    lengths: tuple[int, ...]
    """Tokens, ascending, at least four."""
    threshold: float
    confidence: float
    depths: int
    """That a search draws from."""
    max_trials: int
    """Most samples of a length in a search."""
    resolution: int | None
    runs: int
    seed: int

    @property
    def alpha(self) -> float:
        return 1.0 - self.confidence

    def search(self, law: Law, *, refine: bool) -> SearchDesign:
        """The search of a law."""
        return SearchDesign(
            lengths=self.lengths, threshold=self.threshold, alpha=self.alpha, most=self.max_trials, refine=refine,
            resolution=self.resolution, relative=law.relative,
        )  # fmt: skip

    def fixed_tokens(self, design: DesignName) -> int:
        """Prompt tokens that a fixed design asks."""
        return FIXED[design] * sum(self.lengths)


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibrated:
    """How one design did on one law, over `runs` simulated runs."""

    law: str
    title: str
    """The law's, in words."""
    design: str
    runs: int
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


def calibrate_law(plan: CalibrationPlan, law: Law, designs: Sequence[DesignName]) -> tuple[Calibrated, ...]:
    """The results of a law by each design. The same plan gives the same results."""
    return tuple(calibrated(law, design, simulate(plan, law, design), longest=plan.lengths[-1]) for design in designs)


def simulate(plan: CalibrationPlan, law: Law, design: DesignName) -> Outcomes:
    """All runs of one law by one design."""
    if design in SEARCHES:
        found = [searched(plan, law, run, refine=SEARCHES[design]) for run in range(plan.runs)]
        return np.array([cap for cap, _ in found]), np.array([tokens for _, tokens in found])
    return fixed_outcomes(plan, law, FIXED[design])


def calibrated(law: Law, design: str, outcomes: Outcomes, *, longest: int) -> Calibrated:
    """The summary of at least one run."""
    caps, tokens = outcomes
    runs = len(caps)
    errors = sum(law.is_error(int(cap)) for cap in caps if cap > 0)
    low, high = wilson(errors, runs, _INTERVAL)
    return Calibrated(
        law=law.name, title=law.title, design=design, runs=runs, can_err=law.crossing is not None, errors=errors,
        error_low=low, error_high=high, with_cap=float((caps > 0).mean()),
        with_whole_range=float((caps == longest).mean()), octaves_lost=_octaves_lost(law, caps, longest),
        tokens=float(tokens.mean()),
    )  # fmt: skip


def _octaves_lost(law: Law, caps: NDArray[np.int64], longest: int) -> float | None:
    if law.crossing == 0.0:
        return None
    reachable = float(longest) if law.crossing is None else min(float(longest), law.crossing)
    with np.errstate(divide="ignore"):
        lost = np.log2(reachable / caps)
    median = float(np.median(np.maximum(lost, 0.0)))
    return median if math.isfinite(median) else None


def searched(plan: CalibrationPlan, law: Law, run: int, *, refine: bool) -> tuple[int, float]:
    """The cap of one search, 0 for none, and the prompt tokens that it asked."""
    search, scores, tokens = SafeCapSearch(plan.search(law, refine=refine)), dict[int, NDArray[np.float64]](), 0
    while keys := search.needed():
        for length, number in keys:
            if length not in scores:
                rng = np.random.default_rng(seed_of("calibration", plan.seed, law.name, "search", run, length))
                drawn = law.draw(rng, law.true_score(length), (1, plan.max_trials * _PAIRS, plan.depths))[0]
                depths = rng.integers(plan.depths, size=len(drawn))
                scores[length] = drawn[np.arange(len(drawn)), depths] / law.parts
            tokens += length
            search.tell(length, [float(scores[length][number])], first=number)
    return search.answer.cap or 0, float(tokens)


def fixed_scores(plan: CalibrationPlan, law: Law, samples: int, tokens: int) -> Parts:
    """The scores of all runs of a fixed design at a length, in parts: shape (runs, trials, depths)."""
    rng = np.random.default_rng(seed_of("calibration", plan.seed, law.name, samples, tokens))
    return law.draw(rng, law.true_score(tokens), (plan.runs, samples // _DEPTHS, _DEPTHS))


def fixed_outcomes(plan: CalibrationPlan, law: Law, samples: int) -> Outcomes:
    """Walk in every run, with so many samples at each length."""
    keys = {tokens: _keys(law, fixed_scores(plan, law, samples, tokens)) for tokens in plan.lengths}
    caps = np.zeros(plan.runs, dtype=np.int64)
    walking = np.ones(plan.runs, dtype=bool)
    tested: dict[_Key, bool] = {}
    for tokens in plan.lengths:
        for run in np.flatnonzero(walking):
            key = tuple(keys[tokens][run].tolist())
            if law.relative and tokens == plan.lengths[0]:
                walking[run] = samples >= BASELINE_SAMPLES and key[0] > 0
                continue
            if law.relative:
                key = (*key, *keys[plan.lengths[0]][run].tolist())
            if key not in tested:
                tested[key] = _is_shown_above(plan, law, samples, key)
            walking[run] = tested[key]
            caps[run] = tokens if tested[key] else caps[run]
    return caps, np.full(plan.runs, float(samples * sum(plan.lengths)))


def _keys(law: Law, scores: Parts) -> NDArray[np.int64]:
    """What each run's test depends on, of shape (runs, entries)."""
    flat = scores.reshape(len(scores), -1)
    if law.relative:
        return np.asarray(flat.sum(axis=1, keepdims=True, dtype=np.int64))
    return np.stack([(flat == part).sum(axis=1) for part in range(law.parts + 1)], axis=1)


def _is_shown_above(plan: CalibrationPlan, law: Law, samples: int, key: _Key) -> bool:
    """The exact test of one length."""
    if law.relative:
        here, baseline = key
        p = binary_p_at_most_share(here, samples, baseline, samples, plan.threshold)
        return is_significant(p, plan.confidence)
    scores = tuple(part / law.parts for part, count in enumerate(key) for _ in range(count))
    if law.parts == 1:
        return Evidence(scores=scores, binary=True).lower(plan.confidence) >= plan.threshold
    # Gaffke's bound is at least the threshold exactly where this share is at most alpha; finding the bound takes
    # twenty times as long.
    below = weighted_mean_cdf((0.0, *scores), np.array([plan.threshold]))
    return is_significant(float(below[0]), plan.confidence)
