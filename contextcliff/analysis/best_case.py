"""What the best possible answers would show: whether a run can give a safe cap at all, before anything is sent.

The planned samples are given a perfect score each and analysed as a run's are, by the same walk. Where even that walk
stops, no model can get further: there are too few samples, or too few texts that they are cut from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.analysis.amounts import amount, are
from contextcliff.analysis.analyse import sequence_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.fixed_sequence import FixedSequenceTest
from contextcliff.analysis.groups import group
from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.reasons import cannot_show, planned_at
from contextcliff.analysis.threshold import BASELINE_SAMPLES, RelativeThreshold, Threshold
from contextcliff.records.generation import ScoredSample
from contextcliff.records.sample import Sample
from contextcliff.statistics import sample_size

_EACH = " a length"


@dataclass(frozen=True, kw_only=True, slots=True)
class BestCase:
    """The walk of a perfect model over the planned samples."""

    sequence: FixedSequenceTest
    threshold: Threshold
    asked: float
    """The threshold as it is configured."""
    confidence: float

    @property
    def is_enough(self) -> bool:
        """Whether a perfect model's cap is the whole range, and more than the baseline that it is a share of."""
        return self.sequence.stop is None and not self.is_baseline_alone

    @property
    def is_baseline_alone(self) -> bool:
        """Whether no length is left that could be compared with the baseline."""
        return isinstance(self.threshold, RelativeThreshold) and len(self.threshold.members) == len(
            self.sequence.results
        )

    @property
    def fewest(self) -> int | None:
        """Samples that would do if they shared nothing; None where no number would: none shows a score of 1."""
        return sample_size.fewest_all_right(self.asked, self.confidence)

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
    def _at(self) -> LengthResult:
        return self.sequence.stop or self.sequence.results[-1]

    def shortfall(self) -> str:
        """What cap is out of reach and why, in one sentence without its end. The best case must not be enough."""
        sequence, threshold = self.sequence, self.threshold
        if self.is_baseline_alone and sequence.cleared:
            return "no safe cap can be tested: there is no length beyond the baseline to compare with it"
        if sequence.cleared == 0 and isinstance(threshold, RelativeThreshold):
            base = threshold.baseline
            return (
                f"no safe cap is possible: {planned_at(base)} at the shortest length {are(base.planned)} no baseline, "
                f"which takes at least {BASELINE_SAMPLES}"
            )
        asked = f"{threshold.asked} at {_percent(self.confidence)} confidence"
        tested = (
            sequence.results[len(threshold.members) :] if isinstance(threshold, RelativeThreshold) else sequence.results
        )
        failing = [result for result in tested if not threshold.is_shown_above(result)]
        if len(failing) == len(tested):
            beyond = f" beyond the baseline ({sequence.cap_tokens:,} tokens)" if sequence.cleared else ""
            return f"no safe cap{beyond} is possible: {cannot_show(self._at, asked, each=_EACH)}"
        beyond = f" beyond {sequence.cap_tokens:,} tokens" if sequence.cleared else ""
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
    sequence, threshold = sequence_of(groups, settings, relative=settings.is_relative(by_default=relative_by_default))
    return BestCase(sequence=sequence, threshold=threshold, asked=settings.threshold, confidence=settings.confidence)
