"""The samples of a search, handed out as the answers decide: what it needs next, and, where slots are free, what it is
likely to need after that."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from contextcliff.analysis.search import (
    BlockKey,
    BlockScores,
    SearchRule,
    block_scores,
    blocks_ahead,
    follow,
)
from contextcliff.execution.store import PlannedSample
from contextcliff.records.generation import Outcome, ScoredSample
from contextcliff.records.search import LengthStanding, Search, SearchPlan, TestedLength

Build = Callable[[BlockKey], Sequence[PlannedSample]]
"""Gives the samples of a block, with its controls."""
Recall = Callable[[Sequence[PlannedSample]], Sequence[Outcome]]
"""Records samples as part of the run, and gives the outcomes of those that are answered already."""
Score = Callable[[Outcome], ScoredSample]


@dataclass(kw_only=True, slots=True)
class SearchSource:
    """Hands out the samples of a search.

    Decisions are those of `follow`, which looks at complete blocks in their order: neither the order of answers nor
    what was asked ahead has any influence on them.
    """

    plan: SearchPlan
    rule: SearchRule
    build: Build
    recall: Recall
    score: Score
    ahead: int
    """Samples that may be asked beyond the blocks that are needed now."""
    on_change: Callable[[tuple[LengthStanding, ...]], None] = lambda _: None
    """Hears how the lengths stand whenever a block is complete."""
    reused: int = 0
    """Samples that were answered before."""
    _queue: deque[PlannedSample] = field(default_factory=deque)
    _open: dict[BlockKey, dict[str, ScoredSample | None]] = field(default_factory=dict)
    """The samples of each block that is asked, by id; None while there is no outcome."""
    _block_of: dict[str, BlockKey] = field(default_factory=dict)
    _complete: dict[BlockKey, BlockScores] = field(default_factory=dict)
    _asked_at: int = -1
    """Complete blocks when the search was asked last what it needs."""

    def next(self) -> PlannedSample | None:
        """The next sample; None while the search waits for answers, and at its end."""
        while not self._queue and self._ask():
            pass
        return self._queue.popleft() if self._queue else None

    def ended(self, outcome: Outcome) -> None:
        """Take an outcome into account."""
        if outcome.sample.is_ordinary:
            self._take(self.score(outcome))

    @property
    def search(self) -> Search:
        """How the search stands."""
        return follow(self.plan, self.rule, self._complete).search

    def _ask(self) -> bool:
        """Ask for the blocks that are needed and not asked yet; returns False where there are none."""
        if self._asked_at == len(self._complete):  # no block was completed since
            return False
        self._asked_at = len(self._complete)
        needed = follow(self.plan, self.rule, self._complete).wanted
        most = len(needed) + -(-self.ahead // self.plan.block)
        keys = needed if self.ahead == 0 else blocks_ahead(self.plan, self.rule, self._complete, most=most)
        new = [key for key in keys if key not in self._open]
        for key in new:
            self._open_block(key)
        return bool(new) or self._asked_at != len(self._complete)

    def _open_block(self, key: BlockKey) -> None:
        planned = self.build(key)
        ordinary = [item for item in planned if item.sample.is_ordinary]
        self._open[key] = {item.sample.sample_id: None for item in ordinary}
        self._block_of |= {item.sample.sample_id: key for item in ordinary}
        answered = {outcome.sample.sample_id: outcome for outcome in self.recall(planned)}
        self._queue.extend(item for item in planned if item.sample.sample_id not in answered)
        self.reused += sum(outcome.sample.is_ordinary for outcome in answered.values())
        for outcome in answered.values():
            self.ended(outcome)

    def _take(self, scored: ScoredSample) -> None:
        key = self._block_of[scored.sample.sample_id]
        block = self._open[key]
        block[scored.sample.sample_id] = scored
        samples = [item for item in block.values() if item is not None]
        if len(samples) == len(block):
            self._complete[key] = block_scores(samples)
            self.on_change(self.standing())

    def standing(self) -> tuple[LengthStanding, ...]:
        """How each tested length stands, in the order of testing."""
        return tuple(
            LengthStanding(
                context_tokens=tested.context_tokens,
                decision=tested.decision,
                score_sum=math.fsum(scores := self._scores(tested)),
                answered=len(scores),
            )
            for tested in self.search.tested
        )

    def _scores(self, tested: TestedLength) -> list[float]:
        keys = (BlockKey(context_tokens=tested.context_tokens, index=index) for index in range(tested.n_blocks))
        blocks = (self._complete[key] for key in keys if key in self._complete)
        return [score or 0.0 for block in blocks for text in block.texts for score in text]
