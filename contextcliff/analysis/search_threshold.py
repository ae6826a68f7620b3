"""The threshold of a search: a length is above or below it as its e-process decided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.search import SearchRule, block_key, block_scores, blocks_used, complete_blocks, follow
from contextcliff.analysis.threshold import RelativeThreshold, Threshold
from contextcliff.records.cap_reason import AskedThreshold
from contextcliff.records.generation import NOT_SENT, ScoredSample
from contextcliff.records.search_record import Decision, Search, SearchPlan, TestedLength, ThirdName
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.confidence_sequence import sequential_bounds


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
    def described(self) -> AskedThreshold:
        return replace(self.asked.described, every_depth=self.every_depth)

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
    What was asked ahead and not needed does not count.
    """
    followed = follow(plan, rule, complete_blocks(scored, plan))
    used = blocks_used(followed.search, relative=rule.relative)
    return followed.search, tuple(
        item
        for item in scored
        if (key := block_key(item.sample)) in used or (key in followed.wanted and item.failure != NOT_SENT)
    )


def with_sequential_bound(result: LengthResult, threshold: SearchThreshold) -> LengthResult:
    """The result with the bound that was tested: the highest threshold that its e-process would have passed.

    None where the length was compared with a baseline.
    """
    tested = threshold.search.of(result.bin.asked_tokens)
    bound = None
    if tested is not None and tested.n_blocks and not threshold.described.relative:
        bound, _ = sequential_bounds(_scores(result, tested), alpha=tested.alpha)
    return replace(result, bin=replace(result.bin, tested_low=bound))


def _scores(result: LengthResult, tested: TestedLength) -> tuple[float, ...]:
    """The scores that counted, one a text, unscored samples as 0."""
    counted = block_scores(
        [item for each in result.items for item in each.samples if (item.sample.block or 0) < tested.n_blocks]
    )
    return tuple(math.fsum(score or 0.0 for score in text) / len(text) for text in counted.texts)
