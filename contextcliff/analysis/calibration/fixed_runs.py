"""Many runs of the fixed design at once: the same number of samples at every length, tested exactly from the shortest
length up, as `analysis.fixed_sequence` does.

The tests are the product's own. A test depends on the scores alone, so that each distinct set of scores is tested once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.calibration.laws import TEXT_SAMPLES, Evidence, Law
from contextcliff.analysis.calibration.outcomes import Outcomes
from contextcliff.analysis.calibration.score_draws import Parts
from contextcliff.analysis.search import BASELINE_SAMPLES
from contextcliff.records.search_record import SearchRule
from contextcliff.seeding import seed_of
from contextcliff.statistics.clusters import Evidence as Scores
from contextcliff.statistics.clusters import clusters_from
from contextcliff.statistics.intervals import weighted_mean_cdf
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
            caps=caps,
            tokens=np.full(self.runs, float(self.samples * sum(self.lengths))),
            whole_range=caps == self.lengths[-1],
            longest=np.full(self.runs, self.lengths[-1]),
        )

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
