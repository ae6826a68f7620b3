"""What the best possible answers would show: whether a run can give a safe cap at all, before anything is sent.

The planned samples are given a perfect score each and analysed as a run's are, by the same test. Where even that test
stops, no model can get further: there are too few samples, or too few texts that they are cut from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.analysis.analyse import sequence_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.bins import group
from contextcliff.analysis.fixed_sequence import FixedSequenceTest
from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.stop_reason import planned_at
from contextcliff.analysis.threshold import BASELINE_SAMPLES, RelativeThreshold, Threshold
from contextcliff.records.cap_reason import AskedThreshold, SampleCount
from contextcliff.records.fact import Fact
from contextcliff.records.generation import ScoredSample
from contextcliff.records.sample import Sample
from contextcliff.statistics import sample_size


@dataclass(frozen=True, kw_only=True, slots=True)
class NothingBeyondBaseline(Fact):
    """No planned length could be compared with the baseline: all lengths are part of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TooFewForBaseline(Fact):
    """So few samples are planned at the shortest length that they make no baseline."""

    planned: SampleCount
    fewest: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NoLengthInReach(Fact):
    """So many samples a length cannot show the threshold at any length (beyond a baseline of `baseline_tokens`)."""

    threshold: AskedThreshold
    confidence: float
    planned: SampleCount
    binary: bool
    baseline_tokens: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthsOutOfReach(Fact):
    """The samples planned at the length `at_tokens` cannot show the threshold, nor those at `others` longer ones.

    `cap_tokens` is the longest cap in reach; None: none is.
    """

    threshold: AskedThreshold
    confidence: float
    planned: SampleCount
    binary: bool
    at_tokens: int
    others: int
    cap_tokens: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class BestCase:
    """The fixed-sequence test of a perfect model over the planned samples."""

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
    def samples(self) -> SampleCount:
        """What a length has where the test stops, or at its end."""
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
    def _at(self) -> LengthResult:
        return self.sequence.stop or self.sequence.results[-1]

    def shortfall(self) -> Fact:
        """What cap is out of reach and why. The best case must not be enough."""
        sequence, threshold = self.sequence, self.threshold
        if self.is_baseline_alone and sequence.cleared:
            return NothingBeyondBaseline()
        if sequence.cleared == 0 and isinstance(threshold, RelativeThreshold):
            return TooFewForBaseline(planned=planned_at(threshold.baseline), fewest=BASELINE_SAMPLES)
        tested = (
            sequence.results[len(threshold.members) :] if isinstance(threshold, RelativeThreshold) else sequence.results
        )
        failing = [result for result in tested if not threshold.is_shown_above(result)]
        if len(failing) == len(tested):
            return NoLengthInReach(
                threshold=threshold.described,
                confidence=self.confidence,
                planned=self.samples,
                binary=self._at.binary,
                baseline_tokens=sequence.cap_tokens,
            )
        return LengthsOutOfReach(
            threshold=threshold.described,
            confidence=self.confidence,
            planned=planned_at(failing[0]),
            binary=failing[0].binary,
            at_tokens=failing[0].bin.median_tokens,
            others=len(failing) - 1,
            cap_tokens=sequence.cap_tokens,
        )


def best_case(
    planned: Sequence[Sample],
    settings: AnalysisSettings,
    *,
    designed_lengths: bool,
    relative_by_default: bool,
    perfect_score: float,
) -> BestCase:
    """Test at least one planned sample, every one of them at `perfect_score`."""
    scored = [
        ScoredSample(sample=sample, prompt_sha256="", score=perfect_score, failure=None, prediction="", generation=None)
        for sample in planned
    ]
    groups = group(scored, designed_lengths=designed_lengths, bins=settings.bins)
    sequence, threshold = sequence_of(groups, settings, relative=settings.is_relative(by_default=relative_by_default))
    return BestCase(sequence=sequence, threshold=threshold, asked=settings.threshold, confidence=settings.confidence)
