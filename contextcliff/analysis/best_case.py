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
from contextcliff.analysis.reason import if_perfect, planned_at, threshold_name
from contextcliff.analysis.search import BASELINE_SAMPLES, alpha_of, perfect_path, third_evidence
from contextcliff.analysis.search_threshold import SearchThreshold
from contextcliff.analysis.threshold import RelativeThreshold, Threshold
from contextcliff.records.amounts import Quantity, SampleCount, counted
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import Note
from contextcliff.records.sample import Sample
from contextcliff.records.search_record import SearchPlan, SearchRule
from contextcliff.statistics import sample_size
from contextcliff.statistics.power import fewest_perfect, fewest_perfect_share


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

    def shortfall(self) -> Note:
        """What cap is out of reach and why. The best case must not be enough."""
        sequence, threshold = self.sequence, self.threshold
        if self.is_baseline_alone and sequence.cleared:
            return Note("no safe cap can be tested: there is no length beyond the baseline to compare with it")
        if sequence.cleared == 0 and isinstance(threshold, RelativeThreshold):
            return Note(
                "no safe cap is possible: {planned} at the shortest length {n:is/are} no baseline, which takes at least"
                " {fewest}",
                planned=counted(planned_at(threshold.baseline)),
                n=threshold.baseline.planned,
                fewest=BASELINE_SAMPLES,
            )
        tested = (
            sequence.results[len(threshold.members) :] if isinstance(threshold, RelativeThreshold) else sequence.results
        )
        failing = [result for result in tested if not self.is_shown(result)]
        if len(failing) == len(tested):
            return Note("no safe cap is possible: {short}", short=self._short(self._at, each_length=True))
        cap, others = sequence.cap_tokens, len(failing) - 1
        return Note(
            "no safe cap{beyond} is possible: at {tokens:,} tokens {short}{others}",
            beyond="" if cap is None else Note(" beyond {tokens:,} tokens", tokens=cap),
            tokens=failing[0].bin.median_tokens,
            short=self._short(failing[0]),
            others=Note(", nor those at {n:longer lengths}", n=others) if others else "",
        )

    def _short(self, result: LengthResult, *, each_length: bool = False) -> Note:
        """That the samples of a length cannot show the threshold."""
        threshold = self.threshold
        return Note(
            "{planned} cannot show {threshold} at {confidence:percent} confidence even if {perfect}",
            planned=counted(planned_at(result), each_length=each_length),
            threshold=threshold_name(self.asked, threshold.quantity, relative=threshold.relative is not None),
            confidence=self.confidence,
            perfect=if_perfect(result, threshold.quantity),
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
