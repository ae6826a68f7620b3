"""A calibration: every law by every design, many runs at once.

A search decides as `analysis.search.follow`, for all runs of a law as arrays: following 2,000 of each one by one would
take minutes, and this takes seconds. Gains, bets, levels of error and the order of the lengths are those of `follow`;
`tests/analysis/test_calibration.py` compares run for run. A fixed design has the same number of samples at
every length, tested exactly from the shortest length up, as `analysis.walk` does; a test depends on the scores alone,
so that each distinct set of scores is tested once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.calibration.laws import Law, Parts
from contextcliff.analysis.search import BASELINE_SAMPLES
from contextcliff.records.search_record import SearchPlan, SearchRule
from contextcliff.seeding import seed_of
from contextcliff.statistics.betting import HOPED, Bets
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.intervals import weighted_mean_cdf, wilson
from contextcliff.statistics.melding import binary_p_at_most_share
from contextcliff.statistics.ranks import is_significant
from contextcliff.statistics.sequential import (
    ABOVE,
    BELOW,
    SHARE_ABOVE,
    SHARE_BELOW,
    Block,
    clustered_block,
    paired_block,
    refine_alpha,
)

Outcomes = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Of every run the cap in tokens, 0 for none, and the prompt tokens asked, each prompt in full."""
DesignName = Literal["walk", "refine", "fixed_40", "fixed_500"]
SEARCHES: dict[DesignName, bool] = {"walk": False, "refine": True}
"""Whether a search refines."""
FIXED: dict[DesignName, int] = {"fixed_40": 40, "fixed_500": 500}
"""Samples at each length."""
_DEPTHS = 10
_INTERVAL = 0.95
_Key = tuple[int, ...]
"""All that a test depends on: how often each score came, or right answers here and at the baseline."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CalibrationPlan:
    """What is simulated."""

    lengths: tuple[int, ...]
    """Tokens, ascending, at least four."""
    threshold: float
    confidence: float
    block: int
    """Samples in a block of a search: one at each depth."""
    max_trials: int
    """Most samples of a length in a search."""
    resolution: int | None
    runs: int
    seed: int

    @property
    def alpha(self) -> float:
        return 1.0 - self.confidence

    def rule(self, law: Law) -> SearchRule:
        """What a length has to show."""
        return SearchRule(threshold=self.threshold, relative=law.relative, confidence=self.confidence)

    def search_plan(self, *, refine: bool) -> SearchPlan:
        """What a search may ask."""
        return SearchPlan(
            lengths=self.lengths, block=self.block, block_evidence=self.block,
            most_blocks=self.max_trials // self.block, refine=refine, resolution=self.resolution,
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
        search = plan.search_plan(refine=SEARCHES[design])
        return SimulatedSearches(law=law, plan=search, rule=plan.rule(law), runs=plan.runs, seed=plan.seed).outcomes()
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


@dataclass(frozen=True, kw_only=True, slots=True)
class TestOfLength:
    """How one length was decided; arrays of shape (runs,)."""

    __test__ = False  # not a class of tests

    passed: NDArray[np.bool_]
    below: NDArray[np.bool_]
    blocks: NDArray[np.int64]
    """Blocks that counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogValues:
    """Log e-values at the end of each block, of shape (runs, blocks)."""

    above: NDArray[np.float64]
    below: NDArray[np.float64]
    above_expected: NDArray[np.float64]
    """That of the last block, as it is expected at the end of each block."""


@dataclass(frozen=True, kw_only=True)
class SimulatedSearches:
    """`runs` searches of one law by one plan. Tests and scores are made when a search comes to a length."""

    law: Law
    plan: SearchPlan
    rule: SearchRule
    runs: int
    seed: int
    _tests: dict[tuple[int, int], TestOfLength] = field(default_factory=dict)
    _evidence: dict[int, LogValues] = field(default_factory=dict)

    def scores(self, tokens: int) -> Parts:
        """The scores of all runs at a length, in parts: shape (runs, blocks, samples of a block)."""
        rng = np.random.default_rng(seed_of("calibration", self.seed, self.law.name, "search", tokens))
        shape = (self.runs, self.plan.most_blocks, self.plan.block)
        return self.law.draw(rng, self.law.true_score(tokens), shape)

    def outcomes(self) -> Outcomes:
        """Search in every run."""
        searched = [self._search(run) for run in range(self.runs)]
        return np.array([cap for cap, _ in searched]), np.array([tokens for _, tokens in searched])

    def _search(self, run: int) -> tuple[int, float]:
        """The cap of a run, 0 for none, and the tokens that it asked."""
        path = self.path(run)
        passed = [tokens for tokens, kind, _ in path if kind == "passed"]
        asked = sum(tokens * blocks for tokens, _, blocks in path)
        if self.rule.relative:
            # The baseline's own blocks, and those that longer lengths were paired with.
            asked += self.plan.lengths[0] * (max(blocks for _, _, blocks in path) - path[0][2])
        return max(passed, default=0), float(asked * self.plan.block)

    def path(self, run: int) -> list[tuple[int, str, int]]:
        """The lengths that a run tested, in this order, with the decision and the blocks that counted."""
        path: list[tuple[int, str, int]] = []
        low = high = None
        for tokens in self.plan.lengths:
            path.append(self._decided(run, tokens, failures=0))
            if path[-1][1] not in ("passed", "baseline"):
                high = tokens
                break
            low = tokens
        if not self.plan.refine or low is None or high is None or path[-1][1] != "below":
            return path
        resolution, failures = self.plan.resolution_between(low, high), 1
        while high - low > resolution:
            middle = (low + high) // 2
            path.append(self._decided(run, middle, failures=failures))
            if path[-1][1] == "passed":
                low = middle
            else:
                high, failures = middle, failures + 1
        return path

    def _decided(self, run: int, tokens: int, *, failures: int) -> tuple[int, str, int]:
        test = self._test(tokens, failures)
        kind = "passed" if test.passed[run] else "below" if test.below[run] else "unsettled"
        if kind == "passed" and self._is_baseline(tokens):
            kind = "baseline"
        return tokens, kind, int(test.blocks[run])

    def _is_baseline(self, tokens: int) -> bool:
        return self.rule.relative and tokens == self.plan.lengths[0]

    def _test(self, tokens: int, failures: int) -> TestOfLength:
        if (tokens, failures) not in self._tests:
            made = self._baseline() if self._is_baseline(tokens) else self._test_at(tokens, failures)
            self._tests[tokens, failures] = made
        return self._tests[tokens, failures]

    def _test_at(self, tokens: int, failures: int) -> TestOfLength:
        evidence = self.evidence(tokens)
        alpha = 1.0 - self.rule.confidence
        level = refine_alpha(alpha, failures) if self.plan.refine else alpha
        above = evidence.above >= -math.log(level)
        below = ~above & (evidence.below >= -math.log(alpha))
        ends = above | below
        if failures:
            ends |= evidence.above_expected < -math.log(level)
        last = np.where(ends.any(axis=1), ends.argmax(axis=1), self.plan.most_blocks - 1)
        at_end = np.arange(self.runs), last
        return TestOfLength(passed=above[at_end], below=below[at_end], blocks=last + 1)

    def _baseline(self) -> TestOfLength:
        """The shortest length under a relative threshold: enough samples, and one that is not wholly wrong."""
        right = self.scores(self.plan.lengths[0]).sum(axis=2, dtype=np.int64).cumsum(axis=1) > 0
        enough = np.arange(1, self.plan.most_blocks + 1) * self.plan.block >= BASELINE_SAMPLES
        ready = right & enough
        passed = ready.any(axis=1)
        blocks = np.where(passed, ready.argmax(axis=1) + 1, self.plan.most_blocks)
        return TestOfLength(passed=passed, below=np.zeros(self.runs, dtype=bool), blocks=blocks)

    def evidence(self, tokens: int) -> LogValues:
        """What all blocks of a length show, in every run."""
        if tokens not in self._evidence:
            self._evidence[tokens] = self._evidence_at(tokens)
        return self._evidence[tokens]

    def _evidence_at(self, tokens: int) -> LogValues:
        """By a table of what each score or pair gains."""
        scores, parts = self.scores(tokens), self.law.parts
        if self.rule.relative:
            outcomes = scores.astype(np.intp) * (parts + 1) + self.scores(self.plan.lengths[0])
            values = [score / parts for score in range(parts + 1)]
            gains = paired_block(tuple(itertools.product(values, values)), self.rule.threshold)
            return _tested(outcomes, gains, above=SHARE_ABOVE, below=SHARE_BELOW, best_gain=self.rule.best_gain)
        gains = clustered_block([(score / parts,) for score in range(parts + 1)], self.rule.threshold)
        return _tested(scores.astype(np.intp), gains, above=ABOVE, below=BELOW, best_gain=self.rule.best_gain)


def _tested(outcomes: NDArray[np.intp], gains: Block, *, above: Bets, below: Bets, best_gain: float) -> LogValues:
    """`outcomes` are positions in the gains, of shape (runs, blocks, bets of a block)."""
    products = _log_products(above, np.asarray(gains.above), outcomes)
    blocks, bets = outcomes.shape[1:]
    seen = bets * np.arange(1, blocks + 1)
    best = np.log1p(np.asarray(above.stakes) * best_gain)[:, None, None]
    expected = products + (bets * blocks - seen) * (products + HOPED * best) / (seen + HOPED)
    return LogValues(
        above=_log_e_values(above, products),
        below=_log_e_values(below, _log_products(below, np.asarray(gains.below), outcomes)),
        above_expected=_log_e_values(above, expected),
    )


def _log_products(bets: Bets, gains: NDArray[np.float64], outcomes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Of each bet, of shape (bets, runs, blocks)."""
    return np.stack([np.log1p(stake * gains)[outcomes].sum(axis=2).cumsum(axis=1) for stake in bets.stakes])


def _log_e_values(bets: Bets, log_products: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.log(bets.weights)[:, None, None]
    return np.asarray(np.logaddexp.reduce(log_products + weights, axis=0))


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
