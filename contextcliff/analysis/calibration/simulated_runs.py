"""Many runs of the fixed design at once: the same number of samples at every length, tested exactly from the shortest
length up, as `analysis.walk` does.

The tests are the product's own. A test depends on the scores alone, so that each distinct set of scores is tested once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.calibration.laws import NATURAL_BINS as BINS
from contextcliff.analysis.calibration.laws import TEXT_SAMPLES, Evidence, Law, Parts
from contextcliff.analysis.search import BASELINE_SAMPLES, SearchRule
from contextcliff.seeding import seed_of
from contextcliff.statistics.clusters import Evidence as Scores
from contextcliff.statistics.clusters import clusters_from
from contextcliff.statistics.intervals import weighted_mean_cdf, wilson
from contextcliff.statistics.melding import binary_p_at_most_share
from contextcliff.statistics.ranks import is_significant

_DEPTHS = 10
Key = tuple[int, ...]
"""All that a test depends on: how often each score came, right answers in each text, or right answers here and at the
baseline."""


@dataclass(frozen=True, kw_only=True)
class SimulatedFixed:
    """`runs` runs of one law with `samples` samples at each length: ten depths, or texts of five samples."""

    law: Law
    lengths: tuple[int, ...]
    samples: int
    rule: SearchRule
    runs: int
    seed: int

    def scores(self, tokens: int) -> Parts:
        """The scores of all runs at a length, in parts: shape (runs, trials or texts, samples of one)."""
        places = TEXT_SAMPLES if self.law.shares_text else _DEPTHS
        rng = np.random.default_rng(seed_of("calibration", self.seed, self.law.name, self.samples, tokens))
        shape = (self.runs, self.samples // places, places)
        return self.law.draw.draw(rng, self.law.true_score.at(tokens), shape)

    def outcomes(self) -> Outcomes:
        """Walk in every run."""
        keys = {tokens: self._keys(tokens) for tokens in self.lengths}
        caps = np.zeros(self.runs, dtype=np.int64)
        walking = np.ones(self.runs, dtype=bool)
        tested: dict[Key, bool] = {}
        for tokens in self.lengths:
            is_baseline = self.rule.relative and tokens == self.lengths[0]
            for run in np.flatnonzero(walking):
                key = tuple(keys[tokens][run].tolist())
                if is_baseline:
                    walking[run] = self.samples >= BASELINE_SAMPLES and key[0] > 0
                    continue
                if self.rule.relative:
                    key = (*key, *keys[self.lengths[0]][run].tolist())
                if key not in tested:
                    tested[key] = self.is_shown_above(key)
                walking[run] = tested[key]
                caps[run] = tokens if tested[key] else caps[run]
        return Outcomes(
            caps=caps, tokens=np.full(self.runs, float(self.samples * sum(self.lengths))),
            whole_range=caps == self.lengths[-1], longest=np.full(self.runs, self.lengths[-1]),
        )  # fmt: skip

    def _keys(self, tokens: int) -> NDArray[np.int64]:
        """What each run's test depends on, of shape (runs, entries)."""
        scores = self.scores(tokens)
        if self.law.evidence == "texts":
            return np.sort(scores.sum(axis=2, dtype=np.int64), axis=1)
        flat = scores.reshape(self.runs, -1)
        if self.law.evidence == "pairs":
            return np.asarray(flat.sum(axis=1, keepdims=True, dtype=np.int64))
        return np.stack([(flat == part).sum(axis=1) for part in range(self.law.draw.parts + 1)], axis=1)

    def is_shown_above(self, key: Key) -> bool:
        """The exact test of one length at the rule's confidence."""
        return _TESTS[self.law.evidence](self, key)


def _samples_above(fixed: SimulatedFixed, key: Key) -> bool:
    parts = fixed.law.draw.parts
    scores = tuple(part / parts for part, count in enumerate(key) for _ in range(count))
    if parts == 1:
        return Scores(scores=scores, binary=True).lower(fixed.rule.confidence) >= fixed.rule.threshold
    # Gaffke's bound is at least the threshold exactly where this share is at most alpha; finding the bound takes
    # twenty times as long.
    below = weighted_mean_cdf((0.0, *scores), np.array([fixed.rule.threshold]))
    return is_significant(float(below[0]), fixed.rule.confidence)


def _texts_above(fixed: SimulatedFixed, key: Key) -> bool:
    texts = [(1.0,) * right + (0.0,) * (TEXT_SAMPLES - right) for right in key]
    scores = tuple(sorted(score for text in texts for score in text))
    evidence = Scores(scores=scores, binary=True, clusters=clusters_from(texts))
    return evidence.lower(fixed.rule.confidence) >= fixed.rule.threshold


def _pairs_above(fixed: SimulatedFixed, key: Key) -> bool:
    here, baseline = key
    p = binary_p_at_most_share(here, fixed.samples, baseline, fixed.samples, fixed.rule.threshold)
    return is_significant(p, fixed.rule.confidence)


_TESTS: Mapping[Evidence, Callable[[SimulatedFixed, Key], bool]] = {
    "samples": _samples_above,
    "texts": _texts_above,
    "pairs": _pairs_above,
}


@dataclass(frozen=True, kw_only=True)
class SimulatedNatural:
    """`runs` runs of one law with ten bins of `samples` questions, a document each."""

    law: Law
    lengths: tuple[int, ...]
    samples: int
    rule: SearchRule
    runs: int
    seed: int

    def documents(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The length of each document, ascending, and whether its question is answered rightly: (runs, documents)."""
        rng = np.random.default_rng(seed_of("calibration", self.seed, self.law.true_score.crossing, self.samples))
        ends = math.log2(self.lengths[0]), math.log2(self.lengths[-1])
        shape = (self.runs, BINS * self.samples)
        lengths = np.sort(np.round(2.0 ** rng.uniform(*ends, shape)), axis=1)
        # The true score is a function of the length alone; a fine grid in octaves stands for it.
        grid = np.linspace(*ends, 4_001)
        rates = np.interp(np.log2(lengths), grid, [self.law.true_score.at(2.0**octave) for octave in grid])
        return lengths, rng.random(shape) < rates

    def outcomes(self) -> Outcomes:
        """Walk in every run."""
        lengths, right = (array.reshape(self.runs, BINS, self.samples) for array in self.documents())
        counts = right.sum(axis=2)
        caps = np.zeros(self.runs, dtype=np.int64)
        cleared = np.zeros(self.runs, dtype=np.int64)
        for run, (first, *others) in enumerate(counts.tolist()):
            while first and cleared[run] < len(others) and self._is_above(others[cleared[run]], first):
                cleared[run] += 1
            if cleared[run]:
                caps[run] = lengths[run, cleared[run], 0]
        return Outcomes(
            caps=caps, tokens=lengths.sum(axis=(1, 2)), whole_range=cleared == BINS - 1,
            longest=lengths[:, -1, 0].astype(np.int64),
        )  # fmt: skip

    def _is_above(self, right: int, baseline: int) -> bool:
        p = binary_p_at_most_share(right, self.samples, baseline, self.samples, self.rule.threshold)
        return is_significant(p, self.rule.confidence)


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
        law=law.name, design=design, runs=runs, is_valid=law.is_valid, can_err=law.true_score.crossing is not None,
        errors=errors, error_low=low, error_high=high, with_cap=float((outcomes.caps > 0).mean()),
        with_whole_range=float(outcomes.whole_range.mean()), octaves_lost=_octaves_lost(law, outcomes),
        tokens=float(outcomes.tokens.mean()),
    )  # fmt: skip


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
