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

_EACH = " a length"


@dataclass(frozen=True, kw_only=True, slots=True)
class BestCase:
    """The walk of a perfect model over the planned samples."""

    walk: Walk
    bar: Bar
    threshold: float
    confidence: float

    @property
    def is_enough(self) -> bool:
        """Whether a perfect model's cap is the whole range, and more than the baseline that it is a share of."""
        return self.walk.stop is None and not self.is_baseline_alone

    @property
    def is_baseline_alone(self) -> bool:
        """Whether no length is left that could be compared with the baseline."""
        return isinstance(self.bar, RelativeBar) and len(self.bar.members) == len(self.walk.levels)

    @property
    def fewest(self) -> int | None:
        """Samples that would do if they shared nothing; None where no number would: none shows a score of 1."""
        return sample_size.fewest_to_clear(self.threshold, self.confidence)

    @property
    def samples(self) -> str:
        """What a length has where the walk stops, or at its end: `20 samples a length in 8 texts`."""
        return planned_at(self._at, each=_EACH)

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
        walk, bar = self.walk, self.bar
        if self.is_baseline_alone and walk.cleared:
            return "no safe cap can be tested: there is no length beyond the baseline to compare with it"
        if walk.cleared == 0 and isinstance(bar, RelativeBar):
            base = bar.baseline
            return (
                f"no safe cap is possible: {planned_at(base)} at the shortest length {are(base.planned)} no baseline, "
                f"which takes at least {BASELINE_SAMPLES}"
            )
        asked = f"{bar.asked} at {_percent(self.confidence)} confidence"
        tested = walk.levels[len(bar.members) :] if isinstance(bar, RelativeBar) else walk.levels
        failing = [level for level in tested if not bar.clears(level)]
        if len(failing) == len(tested):
            beyond = f" beyond the baseline ({walk.cap_tokens:,} tokens)" if walk.cleared else ""
            return f"no safe cap{beyond} is possible: {cannot_show(self._at, asked, each=_EACH)}"
        beyond = f" beyond {walk.cap_tokens:,} tokens" if walk.cleared else ""
        others = "" if len(failing) == 1 else f", nor those at {amount(len(failing) - 1, 'longer lengths')}"
        at = f"at {failing[0].bin.median_tokens:,} tokens"
        return f"no safe cap{beyond} is possible: {at} {cannot_show(failing[0], asked)}{others}"


def _percent(confidence: float) -> str:
    return f"{100.0 * confidence:.6g}%"


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
    return BestCase(walk=walk, bar=bar, threshold=settings.threshold, confidence=settings.confidence)
