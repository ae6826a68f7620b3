"""The decisions of `analysis.search.follow`, for all simulated runs of a law as arrays.

Following 2,000 runs of each law one by one would take minutes, and this takes seconds. Gains, bets, levels of error and
the order of the lengths are those of `follow`; `tests/analysis/test_calibration_agreement.py` compares run for run.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.calibration.laws import Law, Parts
from contextcliff.analysis.search import BASELINE_SAMPLES, REFINED_TO
from contextcliff.records.search_record import SearchPlan, SearchRule
from contextcliff.seeding import seed_of
from contextcliff.statistics.betting import HOPED, Bets
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


@dataclass(frozen=True, kw_only=True, slots=True)
class TestOfLength:
    """How one length was decided; arrays of shape (runs,)."""

    __test__ = False  # not a class of tests

    passed: NDArray[np.bool_]
    below: NDArray[np.bool_]
    blocks: NDArray[np.int64]
    """Blocks that counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Evidence:
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
    _evidence: dict[int, _Evidence] = field(default_factory=dict)

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
        resolution, failures = self.plan.resolution or max(1, (high - low) // REFINED_TO), 1
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
        if tokens not in self._evidence:
            self._evidence[tokens] = self._evidence_at(tokens)
        evidence = self._evidence[tokens]
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

    def _evidence_at(self, tokens: int) -> _Evidence:
        """By a table of what each score or pair gains."""
        scores, parts = self.scores(tokens), self.law.parts
        if self.rule.relative:
            outcomes = scores.astype(np.intp) * (parts + 1) + self.scores(self.plan.lengths[0])
            values = [score / parts for score in range(parts + 1)]
            gains = paired_block(tuple(itertools.product(values, values)), self.rule.threshold)
            return _evidence_of(outcomes, gains, above=SHARE_ABOVE, below=SHARE_BELOW, best_gain=self.rule.best_gain)
        gains = clustered_block([(score / parts,) for score in range(parts + 1)], self.rule.threshold)
        return _evidence_of(scores.astype(np.intp), gains, above=ABOVE, below=BELOW, best_gain=self.rule.best_gain)


def _evidence_of(outcomes: NDArray[np.intp], gains: Block, *, above: Bets, below: Bets, best_gain: float) -> _Evidence:
    """`outcomes` are positions in the gains, of shape (runs, blocks, bets of a block)."""
    products = _log_products(above, np.asarray(gains.above), outcomes)
    blocks, bets = outcomes.shape[1:]
    seen = bets * np.arange(1, blocks + 1)
    best = np.log1p(np.asarray(above.stakes) * best_gain)[:, None, None]
    expected = products + (bets * blocks - seen) * (products + HOPED * best) / (seen + HOPED)
    return _Evidence(
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
