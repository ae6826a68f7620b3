"""Many runs over documents of their own lengths at once: quantile bins, tested as a task of questions does.

The first bin is the baseline. The cap of a run is the shortest prompt of the last bin that cleared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.calibration.laws import NATURAL_BINS as BINS
from contextcliff.analysis.calibration.laws import Law
from contextcliff.analysis.calibration.outcomes import Outcomes
from contextcliff.records.search_record import SearchRule
from contextcliff.seeding import seed_of
from contextcliff.statistics.melding import binary_p_at_most_share
from contextcliff.statistics.ranks import is_significant


@dataclass(frozen=True, kw_only=True)
class SimulatedNatural:
    """`runs` runs of one law with ten bins of `samples` questions, a document each.

    Lengths are drawn evenly in octaves from the shortest to the longest of `lengths`.
    """

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
            caps=caps,
            tokens=lengths.sum(axis=(1, 2)),
            whole_range=cleared == BINS - 1,
            longest=lengths[:, -1, 0].astype(np.int64),
        )

    def _is_above(self, right: int, baseline: int) -> bool:
        p = binary_p_at_most_share(right, self.samples, baseline, self.samples, self.rule.threshold)
        return is_significant(p, self.rule.confidence)
