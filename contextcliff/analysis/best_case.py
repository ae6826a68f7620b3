"""What the best possible answers would show: whether a run can give a safe cap at all, before anything is sent.

The planned samples are given a perfect score each and analysed as a run's are, by the same test, and in a search by its
own decisions. Where even that test stops, no model can get further: there are too few samples, or too few texts that
they are cut from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from contextcliff.analysis.analyse import sequence_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.bins import group
from contextcliff.analysis.fixed_sequence import FixedSequenceTest
from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.search import BASELINE_SAMPLES, SearchRule, alpha_of, perfect_path, third_evidence
from contextcliff.analysis.search_threshold import SearchThreshold
from contextcliff.analysis.stop_reason import planned_at
from contextcliff.analysis.threshold import RelativeThreshold, Threshold
from contextcliff.records.amounts import Quantity, SampleCount
from contextcliff.records.cap_reason import AskedThreshold
from contextcliff.records.fact import Fact
from contextcliff.records.generation import ScoredSample
from contextcliff.records.sample import Sample
from contextcliff.records.search_record import SearchPlan
from contextcliff.statistics import sample_size
from contextcliff.statistics.power import fewest_perfect, fewest_perfect_share


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
    """So many samples a length cannot show the threshold at any length (beyond the baseline, where there is one)."""

    threshold: AskedThreshold
    confidence: float
    planned: SampleCount
    binary: bool


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
    """The walk of a perfect model over the planned samples."""

    sequence: FixedSequenceTest
    threshold: Threshold
    """Without the decisions of a search."""
    asked: float
    """The threshold as it is configured."""
    confidence: float
    fewest: int | None
    """Samples that would do if they shared nothing; None where no number would: none shows a score of 1."""
    is_shown: Callable[[LengthResult], bool]
    """Whether a length is shown above the threshold."""

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
        failing = [result for result in tested if not self.is_shown(result)]
        if len(failing) == len(tested):
            return NoLengthInReach(
                threshold=threshold.described,
                confidence=self.confidence,
                planned=self.samples,
                binary=self._at.binary,
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


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchToJudge:
    """The search whose decisions a best case rests on."""

    plan: SearchPlan
    rule: SearchRule


def best_case(
    planned: Sequence[Sample],
    settings: AnalysisSettings,
    *,
    designed_lengths: bool,
    relative_by_default: bool,
    perfect_score: float,
    search: SearchToJudge | None = None,
    quantity: Quantity = "score",
) -> BestCase:
    """Test at least one planned sample, every one of them at `perfect_score`, or 1 in another `quantity`.

    Of a search, `planned` are the blocks that a perfect model is asked.
    """
    scored = [
        ScoredSample(
            sample=sample,
            prompt_sha256="",
            score=perfect_score,
            failure=None,
            prediction="",
            generation=None,
            details={quantity: 1.0},
        )
        for sample in planned
    ]
    groups = group(scored, designed_lengths=designed_lengths, bins=settings.bins)
    relative = settings.is_relative(by_default=relative_by_default)
    decided = None
    if search is not None:
        decided, _ = perfect_path(search.plan, search.rule, {}, perfect_score=perfect_score)
    sequence, threshold = sequence_of(groups, settings, relative=relative, search=decided, quantity=quantity)
    return BestCase(
        sequence=sequence,
        threshold=threshold.asked if isinstance(threshold, SearchThreshold) else threshold,
        asked=settings.threshold,
        confidence=settings.confidence,
        fewest=sample_size.fewest_all_right(settings.threshold, settings.confidence)
        if search is None
        else fewest_of_search(search.plan, search.rule),
        is_shown=threshold.is_shown_above,
    )


def fewest_of_search(plan: SearchPlan, rule: SearchRule) -> int | None:
    """Pieces of evidence, in whole blocks, by which a perfect model passes a length; None where no number is enough."""
    fewest = fewest_perfect_share if rule.relative else fewest_perfect
    parts = (third_evidence(plan) if rule.every_depth else ()) or (plan.block_evidence,)
    # The smallest part of a block is the last to be shown.
    needed = fewest(rule.threshold, alpha=alpha_of(plan, rule), block=min(parts))
    return None if needed is None else needed // min(parts) * plan.block_evidence
