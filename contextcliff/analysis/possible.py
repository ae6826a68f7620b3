"""What the best possible answers would show: whether a run can give a safe cap at all, before anything is sent.

The planned samples are given a perfect score each and analysed as a run's are, by the same walk. Where even that walk
stops, no model can get further: there are too few samples, or too few texts that they are cut from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.analysis import sample_size
from contextcliff.analysis.amounts import amount, are
from contextcliff.analysis.analyse import walk_of
from contextcliff.analysis.bar import BASELINE_SAMPLES, Bar, RelativeBar
from contextcliff.analysis.bins import Level, group
from contextcliff.analysis.caps import Walk
from contextcliff.analysis.reasons import cannot_show, planned_at
from contextcliff.analysis.settings import AnalysisSettings
from contextcliff.records import Sample, ScoredSample


@dataclass(frozen=True, kw_only=True, slots=True)
class BestCase:
    """The walk of a perfect model over the planned samples."""

    walk: Walk
    bar: Bar
    confidence: float

    @property
    def is_enough(self) -> bool:
        """Whether a perfect model's cap is the whole range."""
        return self.walk.stop is None

    @property
    def settles_with_samples(self) -> bool:
        """Whether any number of samples could show such a threshold: none shows a score of 1."""
        bar = self.bar
        threshold = bar.share if isinstance(bar, RelativeBar) else bar.score
        return threshold is not None and sample_size.fewest_to_clear(threshold, self.confidence) is not None

    @property
    def samples(self) -> str:
        """What a length has where the walk stops, or at its end: `20 samples in 8 texts`."""
        return planned_at(self._at)

    @property
    def items(self) -> int:
        """Pieces of evidence there."""
        return self._at.planned

    @property
    def has_shared_draws(self) -> bool:
        """Whether samples there are one draw (temperature 0, or a seed for all), so that more of them show no more."""
        return self._at.noun == "distinct samples"

    @property
    def _at(self) -> Level:
        return self.walk.stop or self.walk.levels[-1]

    def shortfall(self) -> str:
        """What cap is out of reach and why, in one sentence without its end. The best case must not be enough."""
        stop, bar = self._at, self.bar
        if self.walk.cleared == 0:
            reach = "no safe cap is possible"
        elif isinstance(bar, RelativeBar) and self.walk.cleared <= len(bar.members):
            reach = f"no safe cap beyond the baseline ({self.walk.cap_tokens:,} tokens) is possible"
        else:
            reach = f"no safe cap beyond {self.walk.cap_tokens:,} tokens is possible"
        if self.walk.cleared == 0 and isinstance(bar, RelativeBar):
            n = len(bar.baseline.scores)
            return f"{reach}: {planned_at(bar.baseline)} {are(n)} no baseline, which takes at least {BASELINE_SAMPLES}"
        return f"{reach}: {self._where()}{cannot_show(stop, bar.asked, confidence=self.confidence)}"

    def _where(self) -> str:
        """The lengths that can't be shown, where others of the walk can."""
        failing = [level for level in self.walk.levels[self.walk.cleared :] if not self.bar.clears(level)]
        if len(failing) == len(self.walk.levels) - (len(self.bar.members) if isinstance(self.bar, RelativeBar) else 0):
            return ""
        further = len(failing) - 1
        also = f" (and at {amount(further, 'longer lengths')})" if further else ""
        return f"at {failing[0].bin.median_tokens:,} tokens{also} "


def best_case(
    planned: Sequence[Sample],
    settings: AnalysisSettings,
    *,
    designed_lengths: bool,
    relative_by_default: bool,
    perfect_score: float,
) -> BestCase:
    """Walk over at least one planned sample, every one of them at `perfect_score`."""
    scored = [
        ScoredSample(sample=sample, prompt_sha256="", score=perfect_score, failure=None, prediction="", generation=None)
        for sample in planned
    ]
    groups = group(scored, designed_lengths=designed_lengths, bins=settings.bins)
    walk, bar = walk_of(groups, settings, relative=settings.is_relative(by_default=relative_by_default))
    return BestCase(walk=walk, bar=bar, confidence=settings.confidence)
