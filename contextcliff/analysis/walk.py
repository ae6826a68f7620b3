"""The safe cap: fixed-sequence testing against a threshold, from the shortest length up.

At each length the hypothesis "the score here is below the threshold" is tested one-sided. The sequence stops at the
first length where it cannot be rejected. Since the order is fixed beforehand and nothing is tested after the first
failure, "every tested length up to the cap is above the threshold" holds at the stated confidence without a correction
for the number of lengths (W. Maurer, L. A. Hothorn and W. Lehmacher 1995; P. H. Westfall and A. Krishen, J. Statist.
Plann. Inference 99 (2001) 25-40). Between tested lengths it is assumed that the score falls monotonically.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from contextcliff.analysis.judged_by import differing, worded
from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.search import Path, StepScores, complete_steps, step_key
from contextcliff.analysis.server_counts import truncated
from contextcliff.errors import RunError
from contextcliff.records.amounts import QUANTITIES, Quantity
from contextcliff.records.generation import NOT_SENT, ScoredSample
from contextcliff.records.note import Note
from contextcliff.records.search_record import (
    BASELINE_SAMPLES,
    PASSED,
    Decision,
    Search,
    SearchPlan,
    SearchRule,
    TestedLength,
)
from contextcliff.statistics import sample_size as observed_sample_size
from contextcliff.statistics.betting import bounds_of
from contextcliff.statistics.clusters import Evidence, p_at_least_share, p_at_most_share
from contextcliff.statistics.confidence_sequence import confidence_sequence, sequential_bounds
from contextcliff.statistics.ranks import is_significant


@dataclass(frozen=True, kw_only=True, slots=True)
class FixedSequenceTest:
    """The result of the sequence of tests."""

    results: tuple[LengthResult, ...]
    """Every length, shortest first."""
    cleared: int
    """Number of lengths shown above the threshold before the sequence stopped."""
    degraded: tuple[int, ...]
    """Positions in `results` of the lengths that the walk from the longest one down shows to be below."""
    is_open: bool = False
    """Whether a search ended before the length at which it stood was decided."""
    is_withheld: bool = False
    """Whether what was cleared gives no cap: it is the baseline alone, or is compared with one that is hardly one."""

    @property
    def last_cleared(self) -> LengthResult | None:
        """The longest length shown above the threshold; None where the shortest one is not."""
        return self.results[self.cleared - 1] if self.cleared else None

    @property
    def stop(self) -> LengthResult | None:
        """The length at which the sequence stopped; None where every length was shown above the threshold."""
        return self.results[self.cleared] if self.cleared < len(self.results) else None

    @property
    def cap_tokens(self) -> int | None:
        """The length up to which the last one shown above the threshold clears; None also where it is withheld."""
        return None if self.last_cleared is None or self.is_withheld else self.last_cleared.bin.clears_up_to

    @property
    def below_from(self) -> int | None:
        """The length from which on the score is shown to be below; None where no length is.

        It is above the cap, though measured lengths of neighbouring bins can overlap.
        """
        if not self.degraded:
            return None
        return max(self.results[self.degraded[0]].bin.below_from, (self.cap_tokens or 0) + 1)


def fixed_sequence_test(
    results: Sequence[LengthResult], threshold: Threshold, *, is_open: bool = False
) -> FixedSequenceTest:
    """Test the lengths from the shortest up until one is not shown above, and from the longest down likewise.

    From the longest down each is tested for being below, one-sided at the same confidence: the second sequence of tests
    is as fixed as the first, so that "every degraded length is below" holds at the confidence as a whole.

    `is_open`: a search ended before it had decided its last length.
    """
    results = tuple(results)
    cleared = 0
    while cleared < len(results) and threshold.is_shown_above(results[cleared]):
        cleared += 1
    first_below = len(results)
    while first_below > cleared and threshold.is_shown_below(results[first_below - 1]):
        first_below -= 1
    baseline = threshold.relative
    is_alone = baseline is not None and cleared <= len(baseline.members)
    is_low = baseline is not None and baseline.is_low
    return FixedSequenceTest(
        results=results, cleared=cleared, degraded=tuple(range(first_below, len(results))), is_open=is_open,
        is_withheld=is_alone or is_low,
    )  # fmt: skip


def evidence_suffices(result: LengthResult, threshold: Threshold) -> bool:
    """Whether this length would be shown above the threshold if every scored sample were right."""
    return threshold.could_be_shown_above(result, result.if_scored_right)


LOW_BASELINE = 0.2
"""Below this score a baseline is hardly one: a share of next to nothing is easily kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AbsoluteThreshold:
    """A fixed score, compared with the one-sided bound of each length."""

    threshold: float
    confidence: float
    quantity: Quantity = "score"
    below: float | None = None
    """Score under which a length is below. Only a judge's scores have another one than `threshold`, used if None."""
    is_sequential: ClassVar[bool] = False
    """Whether a search decided the lengths, and not a test of a fixed number of samples."""

    @property
    def score(self) -> float | None:
        """The threshold as a score; None where a relative threshold has no baseline."""
        return self.threshold

    @property
    def relative(self) -> RelativeThreshold | None:
        """The comparison with a baseline; None where the threshold is a score."""
        return None

    def is_shown_above(self, result: LengthResult) -> bool:
        """Whether "the score is below the threshold" is rejected, with every unscored sample counted against."""
        return result.bin.tested_low is not None and result.bin.tested_low >= self.threshold

    def is_shown_below(self, result: LengthResult) -> bool:
        """Whether "the score is at the threshold or above" is rejected, every unscored sample counted for it."""
        if not result.scores:
            return False
        below = self.threshold if self.below is None else self.below
        return result.if_unscored_right.upper(self.confidence) < below

    def could_be_shown_above(self, result: LengthResult, evidence: Evidence) -> bool:  # noqa: ARG002 (a relative threshold needs it)
        """Whether this length would be shown above the threshold if `evidence` were its scores."""
        return bool(evidence.scores) and evidence.lower(self.confidence) >= self.threshold

    def is_shown_above_as_scored(self, result: LengthResult) -> bool:
        """Whether this length would be shown above the threshold if no sample were unscored."""
        return self.could_be_shown_above(result, result.evidence)

    def samples_to_settle(self, result: LengthResult, score: float) -> int | None:
        """Samples, in texts as now, with which a true `score` is shown on its side with 80% power; None if too many."""
        return observed_sample_size.to_settle_against(result.evidence, score, self.threshold, self.confidence)


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
    below: float | None = None
    """Share under which a length is below. Only a judge's scores have another one than `share`, used if None."""
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
        below = self.share if self.below is None else self.below
        p = p_at_least_share(result.if_unscored_right, self.baseline.if_unscored_wrong, below, self.confidence)
        return is_significant(p, self.confidence)

    def could_be_shown_above(self, result: LengthResult, evidence: Evidence) -> bool:
        if not evidence.scores:
            return False
        if self._is_member(result):
            return self._is_baseline(evidence.scores, of=result)
        return self._exceeds(evidence)

    def samples_to_settle(self, result: LengthResult, score: float) -> int | None:
        """The same number at the baseline, whose score is an estimate too."""
        return observed_sample_size.to_settle_against_share(
            result.evidence, self.baseline.evidence, score, self.share, self.confidence, least=BASELINE_SAMPLES
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchThreshold:
    """The threshold that was asked for, and how the search decided each length."""

    asked: Threshold
    search: Search
    rule: SearchRule
    """By which it is judged."""
    is_sequential: ClassVar[bool] = True

    @property
    def score(self) -> float | None:
        return self.asked.score

    @property
    def quantity(self) -> Quantity:
        return self.asked.quantity

    @property
    def relative(self) -> RelativeThreshold | None:
        return self.asked.relative

    @property
    def asked_otherwise(self) -> Note | None:
        """By which other rule the answers were asked, and what asks on by this one; None where it was this."""
        there, here = (
            {
                "analysis.threshold": f"{rule.threshold:g}",
                "analysis.relative_to_baseline": str(rule.relative),
                "analysis.confidence": f"{rule.confidence:g}",
            }
            for rule in (self.search.plan.rule or self.rule, self.rule)
        )
        keys = differing(there, here)
        if not keys:
            return None
        return Note(
            "asked with {there}; the run's command with {here} asks what is missing",
            there=worded(there, keys), here=worded(here, keys),
        )  # fmt: skip

    def decision(self, result: LengthResult) -> Decision:
        """How a length was decided; `open` where it was not tested."""
        tested = self.tested(result)
        return "open" if tested is None else tested.decision

    def tested(self, result: LengthResult) -> TestedLength | None:
        """How a length was tested; None where it was not."""
        return self.search.of(result.bin.asked_tokens)

    def is_shown_above(self, result: LengthResult) -> bool:
        return self.decision(result) in PASSED

    def is_shown_below(self, result: LengthResult) -> bool:
        return self.decision(result) == "below"

    def could_be_shown_above(self, result: LengthResult, evidence: Evidence) -> bool:  # noqa: ARG002
        """A search asks for as many samples as a length needs."""
        return True

    def is_shown_above_as_scored(self, result: LengthResult) -> bool:
        return self.is_shown_above(result)

    def samples_to_settle(self, result: LengthResult, score: float) -> int | None:  # noqa: ARG002 - a search knows none
        """None: the search itself asks for more."""
        return None


Threshold = AbsoluteThreshold | RelativeThreshold | SearchThreshold


def make_threshold(
    results: Sequence[LengthResult], *, threshold: float, relative: bool, confidence: float,
    baseline: LengthResult | None = None, quantity: Quantity = "score",
) -> Threshold:  # fmt: skip
    """The threshold of at least one length. `baseline` is several short lengths as one; None: the shortest length."""
    if relative:
        whole = results[0] if baseline is None else baseline
        members = tuple(result for result in results if result.bin.max_tokens <= whole.bin.max_tokens)
        return RelativeThreshold(
            share=threshold, confidence=confidence, baseline=whole, members=members or (whole,), quantity=quantity
        )
    return AbsoluteThreshold(threshold=threshold, confidence=confidence, quantity=quantity)


def searched(
    scored: Sequence[ScoredSample], plan: SearchPlan, rule: SearchRule
) -> tuple[Search, tuple[ScoredSample, ...]]:
    """How the search goes by a rule over these samples, and those that count: what was asked ahead and is not needed
    does not."""
    if not plan.most_steps:
        raise RunError("it was asked by the search of an earlier version: run its command again; its answers are used")
    path = Path(plan, rule)
    wanted = path.follow(complete_steps(scored, plan))
    return path.search, tuple(
        truncated(item) if item.sample.context_tokens in path.cut else item
        for item in scored
        if (key := step_key(item.sample)) in path.used or (key in wanted and item.failure != NOT_SENT)
    )


def _bounds_of(steps: Iterable[StepScores]) -> tuple[list[float], list[float]]:
    """The lowest and the highest scores of steps; a repeat widens the interval, and never narrows it."""
    lows, highs, seen = list[float](), list[float](), set[Hashable]()
    for step in steps:
        low, high = bounds_of(step.scores)
        is_new = step.adds_to(seen)
        if is_new or low < 1.0:
            lows.append(low if is_new else 0.0)
        if is_new or high > 0.0:
            highs.append(high if is_new else 1.0)
    return lows, highs


def with_sequential_bounds(result: LengthResult, threshold: SearchThreshold, confidence: float) -> LengthResult:
    """The result with the interval and the bound that hold though its length was asked until it was decided.

    The interval is a confidence sequence at `confidence` over the complete steps. The bound is the highest threshold
    that bets with fixed stakes show, and no less than the one that the search showed; the interval never ends above
    it. None where the length was compared with a baseline. Where no step is complete nothing is known of the mean: the
    interval is 0 to 1.
    """
    tested = threshold.tested(result)
    if tested is None or result.bin.mean is None:
        return replace(result, bin=replace(result.bin, tested_low=None))
    steps = complete_steps([sample for item in result.items for sample in item.samples], threshold.search.plan)
    if not steps:
        return replace(result, bin=replace(result.bin, ci_low=0.0, ci_high=1.0, tested_low=None))
    if_wrong, if_right = _bounds_of(steps.values())
    low, high = confidence_sequence(if_wrong, confidence)[0], confidence_sequence(if_right, confidence)[1]
    bound = None
    if tested.steps and threshold.relative is None:
        shown = threshold.rule.threshold if tested.decision == "passed" else 0.0
        bound = max(shown, sequential_bounds(if_wrong, alpha=tested.alpha)[0])
    # The mean that is shown leaves unscored samples out, and has those of the step that was not completed.
    ci_low, ci_high = min(low, result.bin.mean, 1.0 if bound is None else bound), max(high, result.bin.mean)
    return replace(result, bin=replace(result.bin, ci_low=ci_low, ci_high=ci_high, tested_low=bound))


def low_baseline(mean: float, tokens: int, quantity: Quantity = "score") -> Note:
    """That a share of a baseline so low says nothing, whatever length keeps it."""
    return Note(
        "the baseline is a {what} of {mean:.2f} at {tokens:,} tokens, under {least:.2f}: this model hardly does the "
        "task even with short prompts, and keeping a share of that makes no length safe; take an easier task or a "
        "larger model",
        what=QUANTITIES[quantity], mean=mean, tokens=tokens, least=LOW_BASELINE,
    )  # fmt: skip
