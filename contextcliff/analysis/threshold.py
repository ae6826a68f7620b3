"""The threshold of a safe cap: a score, or a share of the score at the shortest length, and the tests against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.search import BASELINE_SAMPLES
from contextcliff.records.amounts import Quantity
from contextcliff.records.search_record import ThirdName
from contextcliff.statistics import sample_size as observed_sample_size
from contextcliff.statistics.clusters import Evidence, p_at_least_share, p_at_most_share
from contextcliff.statistics.ranks import is_significant

LOW_BASELINE = 0.2
"""Below this score a baseline is hardly one: a share of next to nothing is easily kept."""


class Threshold(Protocol):
    """The threshold of an analysis, and the tests against it."""

    @property
    def score(self) -> float | None:
        """The threshold as a score; None where a relative threshold has no baseline."""
        ...

    @property
    def quantity(self) -> Quantity:
        """What it is a threshold of."""
        ...

    @property
    def every_depth(self) -> bool:
        """Whether each third of the depths has to clear it by itself."""
        ...

    @property
    def relative(self) -> RelativeThreshold | None:
        """The comparison with a baseline; None where the threshold is a score."""
        ...

    @property
    def is_sequential(self) -> bool:
        """Whether a search decided the lengths, and not a test of a fixed number of samples."""
        ...

    def is_shown_above(self, result: LengthResult) -> bool:
        """Whether "the score is below the threshold" is rejected, with every unscored sample counted against."""
        ...

    def is_shown_below(self, result: LengthResult) -> bool:
        """Whether "the score is at the threshold or above" is rejected, every unscored sample counted for it."""
        ...

    def third_below(self, result: LengthResult) -> ThirdName | None:
        """The third of the depths by which a length is below; None where its mean is, or where it is not below."""
        ...

    def could_be_shown_above(self, result: LengthResult, evidence: Evidence) -> bool:
        """Whether this length would be shown above the threshold if `evidence` were its scores."""
        ...

    def is_shown_above_as_scored(self, result: LengthResult) -> bool:
        """Whether this length would be shown above the threshold if no sample were unscored."""
        ...

    def samples_to_settle(self, result: LengthResult, score: float) -> int | None:
        """Samples with which a true score of `score` is shown on its side of the threshold with 80% power.

        Where samples share texts, in texts of as many samples as now and as different. None where no practical number
        is enough.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class AbsoluteThreshold:
    """A fixed score, compared with the one-sided bound of each length."""

    threshold: float
    confidence: float
    quantity: Quantity = "score"
    every_depth: ClassVar[bool] = False
    is_sequential: ClassVar[bool] = False

    @property
    def score(self) -> float | None:
        return self.threshold

    @property
    def relative(self) -> RelativeThreshold | None:
        return None

    def is_shown_above(self, result: LengthResult) -> bool:
        return result.bin.tested_low is not None and result.bin.tested_low >= self.threshold

    def is_shown_below(self, result: LengthResult) -> bool:
        if not result.scores:
            return False
        return result.if_unscored_right.upper(self.confidence) < self.threshold

    def third_below(self, result: LengthResult) -> ThirdName | None:  # noqa: ARG002
        return None

    def could_be_shown_above(self, result: LengthResult, evidence: Evidence) -> bool:  # noqa: ARG002 (a relative threshold needs it)
        return bool(evidence.scores) and evidence.lower(self.confidence) >= self.threshold

    def is_shown_above_as_scored(self, result: LengthResult) -> bool:
        return self.could_be_shown_above(result, result.evidence)

    def samples_to_settle(self, result: LengthResult, score: float) -> int | None:
        has_spread = not (result.binary or result.clusters)
        return observed_sample_size.to_settle_against(
            result.evidence, score, self.threshold, self.confidence, has_spread=has_spread
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class RelativeThreshold:
    """A share of the shortest length's score. The test allows for the baseline being an estimate too.

    In the worst case an unscored sample is wrong at the length in question and right at the baseline. The baseline
    itself passes where it has five scored samples and a mean above zero. It can consist of several lengths: `baseline`
    is all of them together, and `members` are the single ones.
    """

    share: float
    confidence: float
    baseline: LengthResult
    members: tuple[LengthResult, ...]
    quantity: Quantity = "score"
    every_depth: ClassVar[bool] = False
    is_sequential: ClassVar[bool] = False

    @property
    def score(self) -> float | None:
        return None if self.baseline.bin.mean is None else self.share * self.baseline.bin.mean

    @property
    def relative(self) -> RelativeThreshold | None:
        return self

    @property
    def is_low(self) -> bool:
        """Whether the baseline is hardly one."""
        return self.baseline.bin.mean is not None and self.baseline.bin.mean < LOW_BASELINE

    def is_shown_above(self, result: LengthResult) -> bool:
        if not result.scores:
            return False
        if self._is_member(result):
            return self._is_baseline(result.scores, of=result)
        return self._exceeds(result.if_unscored_wrong)

    def _is_member(self, result: LengthResult) -> bool:
        return any(result is member for member in self.members)

    def _is_baseline(self, scores: Sequence[float], *, of: LengthResult) -> bool:
        """Whether the baseline passes if `scores` are those of `of`, one of its lengths."""
        return len(self.baseline.scores) - len(of.scores) + len(scores) >= BASELINE_SAMPLES and max(scores) > 0.0

    def _exceeds(self, evidence: Evidence) -> bool:
        return self._exceeds_share_of(self.baseline.if_unscored_right, evidence)

    def _exceeds_share_of(self, baseline: Evidence, evidence: Evidence) -> bool:
        p = p_at_most_share(evidence, baseline, self.share, self.confidence)
        return is_significant(p, self.confidence)

    def is_shown_above_as_scored(self, result: LengthResult) -> bool:
        if not result.scores or not self.baseline.scores:
            return False
        if self._is_member(result):
            return self._is_baseline(result.scores, of=result)
        return self._exceeds_share_of(self.baseline.evidence, result.evidence)

    def is_shown_below(self, result: LengthResult) -> bool:
        if self._is_member(result) or not result.scores or not self.baseline.scores:
            return False
        p = p_at_least_share(result.if_unscored_right, self.baseline.if_unscored_wrong, self.share, self.confidence)
        return is_significant(p, self.confidence)

    def third_below(self, result: LengthResult) -> ThirdName | None:  # noqa: ARG002
        return None

    def could_be_shown_above(self, result: LengthResult, evidence: Evidence) -> bool:
        if not evidence.scores:
            return False
        if self._is_member(result):
            return self._is_baseline(evidence.scores, of=result)
        return self._exceeds(evidence)

    def samples_to_settle(self, result: LengthResult, score: float) -> int | None:
        """The same number at the baseline, whose score is an estimate too."""
        has_spread = not (result.binary or result.clusters or self.baseline.clusters)
        return observed_sample_size.to_settle_against_share(
            result.evidence,
            self.baseline.evidence,
            score,
            self.share,
            self.confidence,
            has_spread=has_spread,
            least=BASELINE_SAMPLES,
        )


def make_threshold(
    results: Sequence[LengthResult],
    *,
    threshold: float,
    relative: bool,
    confidence: float,
    baseline: LengthResult | None = None,
    quantity: Quantity = "score",
) -> Threshold:
    """The threshold of an analysis with at least one length.

    `baseline` is the result of several short lengths together, the ones whose prompts are no longer than its longest;
    None: the baseline is the shortest length.
    """
    if relative:
        whole = results[0] if baseline is None else baseline
        members = tuple(result for result in results if result.bin.max_tokens <= whole.bin.max_tokens)
        return RelativeThreshold(
            share=threshold, confidence=confidence, baseline=whole, members=members or (whole,), quantity=quantity
        )
    return AbsoluteThreshold(threshold=threshold, confidence=confidence, quantity=quantity)
