"""The threshold of a search: a length is above or below it as its e-process decided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.search import BlockScores, block_key, blocks_used, complete_blocks, follow
from contextcliff.analysis.server_counts import truncated
from contextcliff.analysis.threshold import RelativeThreshold, Threshold
from contextcliff.records.amounts import Quantity
from contextcliff.records.generation import NOT_SENT, ScoredSample
from contextcliff.records.search_record import Decision, Search, SearchPlan, SearchRule, ThirdName
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.sequential import confidence_sequence, sequential_bounds


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchThreshold:
    """The threshold that was asked for, and how the search decided each length."""

    asked: Threshold
    search: Search
    every_depth: bool = False
    """Whether each third of the depths has to clear the threshold by itself."""
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

    def decision(self, result: LengthResult) -> Decision:
        """How a length was decided; `open` where it was not tested."""
        tested = self.search.of(result.bin.asked_tokens)
        return "open" if tested is None else tested.decision

    def third_below(self, result: LengthResult) -> ThirdName | None:
        """The third of the depths by which a length is below; None where its mean is, or where it is not below."""
        tested = self.search.of(result.bin.asked_tokens)
        return None if tested is None else tested.third

    def is_given_up(self, result: LengthResult) -> bool:
        """Whether a length was left unsettled before it had asked all that it may."""
        tested = self.search.of(result.bin.asked_tokens)
        return tested is not None and tested.decision == "unsettled" and tested.n_blocks < self.search.plan.most_blocks

    def is_shown_above(self, result: LengthResult) -> bool:
        return self.decision(result) in ("passed", "baseline")

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


def searched(
    scored: Sequence[ScoredSample], plan: SearchPlan, rule: SearchRule
) -> tuple[Search, tuple[ScoredSample, ...]]:
    """How the search went over these samples, and those that count.

    These are the samples that its decisions rest on, and the answered ones of the block at which it ended undecided.
    What was asked ahead and not needed does not count. Samples that the server cut are without a score.
    """
    followed = follow(plan, rule, complete_blocks(scored, plan))
    used = blocks_used(followed.search, relative=rule.relative)
    return followed.search, tuple(
        truncated(item) if item.sample.context_tokens in followed.cut else item
        for item in scored
        if (key := block_key(item.sample)) in used or (key in followed.wanted and item.failure != NOT_SENT)
    )


def with_sequential_bounds(result: LengthResult, threshold: SearchThreshold, confidence: float) -> LengthResult:
    """The result with the interval and the bound that hold though its length was asked until it was decided.

    The interval is a confidence sequence at `confidence` over the complete blocks. The bound is the highest threshold
    that the e-process would have passed, and the interval never ends above it; None where the length was compared with
    a baseline. Where not one block is complete nothing is known of the mean: the interval is 0 to 1.
    """
    tested = threshold.search.of(result.bin.asked_tokens)
    if tested is None or result.bin.mean is None:
        return replace(result, bin=replace(result.bin, tested_low=None))
    samples = [sample for item in result.items for sample in item.samples]
    complete = complete_blocks(samples, threshold.search.plan)
    if not complete:
        return replace(result, bin=replace(result.bin, ci_low=0.0, ci_high=1.0, tested_low=None))
    blocks = [complete[key] for key in sorted(complete)]
    low = confidence_sequence(_values(blocks, unscored_as=0.0), confidence)[0]
    high = confidence_sequence(_values(blocks, unscored_as=1.0), confidence)[1]
    bound = None
    if tested.n_blocks and threshold.relative is None:
        bound, _ = sequential_bounds(_values(blocks[: tested.n_blocks], unscored_as=0.0), alpha=tested.alpha)
    # The mean that is shown leaves unscored samples out, and has those of the block that was not completed.
    ci_low, ci_high = min(low, result.bin.mean, 1.0 if bound is None else bound), max(high, result.bin.mean)
    return replace(result, bin=replace(result.bin, ci_low=ci_low, ci_high=ci_high, tested_low=bound))


def _values(blocks: Sequence[BlockScores], *, unscored_as: float) -> tuple[float, ...]:
    """The mean score of each text, samples without a score counted as this one."""
    return tuple(
        math.fsum(unscored_as if score is None else score for score in text) / len(text)
        for block in blocks
        for text in block.texts
    )
