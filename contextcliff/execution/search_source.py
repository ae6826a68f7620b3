"""The samples of a search, handed out as the answers decide: what it needs next, and, where slots are free, what it is
likely to need after that."""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from contextcliff.analysis.search import (
    BlockKey,
    BlockScores,
    Followed,
    GuessedBlocks,
    block_key,
    block_scores,
    blocks_used,
    even_block,
    follow,
)
from contextcliff.execution.schedule import in_prefix_order
from contextcliff.execution.store import PlannedSample
from contextcliff.records.generation import Outcome, ScoredSample
from contextcliff.records.search_record import LengthStanding, Search, SearchPlan, SearchRule, TestedLength


@dataclass(kw_only=True, slots=True)
class SearchSource:
    """Hands out the samples of a search.

    Decisions are those of `follow`, which looks at complete blocks in their order: neither the order of answers nor
    what was asked ahead has any influence on them. What was asked ahead and is not needed any more is not sent.
    """

    plan: SearchPlan
    rule: SearchRule
    build: Callable[[BlockKey], Sequence[PlannedSample]]
    """Gives the samples of a block, with its controls."""
    recall: Callable[[Sequence[PlannedSample]], Iterable[Outcome]]
    """Records samples as part of the run, and gives the outcomes of those that are answered already."""
    score: Callable[[Outcome], ScoredSample]
    ahead: int
    """Samples that may be asked beyond the blocks that are needed now: so many at most are asked in vain by a decision
    that was not expected."""
    on_change: Callable[[tuple[LengthStanding, ...]], None] = lambda _: None
    """Hears how the lengths stand whenever a block is complete."""
    replayed: tuple[BlockKey, ...] = ()
    """Blocks that are asked whatever the search needs, so that another run has its pairs; no decision rests on them."""
    _planned: dict[str, PlannedSample] = field(default_factory=dict)
    """By id, every sample and control of each block that was ever asked."""
    _answered_before: Counter[BlockKey] = field(default_factory=Counter)
    """By block, samples that were answered before."""
    _order: tuple[BlockKey, ...] | None = None
    """The blocks that are asked now, the most needed first; None if a block was completed since."""
    _unsent: dict[BlockKey, deque[PlannedSample]] = field(default_factory=dict)
    """Of each block that was ever asked, what was not handed out, its controls included."""
    _held: dict[str, PlannedSample] = field(default_factory=dict)
    """By id, the controls of blocks that are only replayed: they are sent when the search needs the block itself."""
    _open: dict[BlockKey, dict[str, ScoredSample | None]] = field(default_factory=dict)
    """The samples of each block that was ever asked, by id; None while there is no outcome."""
    _sent: set[str] = field(default_factory=set)
    """Keys that were handed out: the samples of a key share one generation, and it is paid once."""
    _waiting: defaultdict[str, list[PlannedSample]] = field(default_factory=lambda: defaultdict(list))
    """By key, the samples that have no outcome yet."""
    _failed: dict[str, Outcome] = field(default_factory=dict)
    """By key, outcomes without an answer."""
    complete: dict[BlockKey, BlockScores] = field(default_factory=dict)
    """The blocks that are answered."""
    _followed: Followed | None = None
    """The search over the complete blocks; None if a block was completed since."""

    def next(self) -> PlannedSample | None:
        """The next sample; None while the search waits for answers, and at its end."""
        while (order := self._order) is None:
            self._ask()
        # A block whose samples were answered before may have controls that were not.
        for key in (*order, *(key for key in self._unsent if key in self.complete)):
            unsent = self._unsent[key]
            while unsent:
                item = unsent.popleft()
                if item.key not in self._sent:
                    self._sent.add(item.key)
                    return item
        return None

    def ended(self, outcome: Outcome) -> None:
        """Take an outcome into account, for every sample that shares its generation."""
        key = self._planned[outcome.sample.sample_id].key
        if outcome.generation is None:
            self._failed[key] = outcome
        for item in self._waiting.pop(key, ()):
            self._take(item, outcome)

    @property
    def search(self) -> Search:
        """How the search stands."""
        return self._follow().search

    @property
    def is_over(self) -> bool:
        """Whether nothing more is needed, by the search or to replay."""
        return not self._follow().wanted and all(key in self.complete for key in self.replayed)

    @property
    def reused(self) -> int:
        """Samples that were answered before, but those that were only replayed."""
        only_replayed = set(self.replayed) - self._needed()
        return sum(count for key, count in self._answered_before.items() if key not in only_replayed)

    def asked(self) -> tuple[PlannedSample, ...]:
        """Every sample and control that was asked, in an order that does not depend on when answers came.

        Those that were not sent after all are left out: nothing rests on them.
        """
        unsent = chain(chain.from_iterable(self._unsent.values()), self._held.values())
        left_out = {item.sample.sample_id for item in unsent if item.key not in self._sent}
        asked = (item.sample for name, item in self._planned.items() if name not in left_out)
        return tuple(self._planned[sample.sample_id] for sample in in_prefix_order(asked))

    def _follow(self) -> Followed:
        if self._followed is None:
            self._followed = follow(self.plan, self.rule, self.complete)
        return self._followed

    def _ask(self) -> None:
        """Determine the blocks to ask. One that is new may be answered already, which changes what is needed."""
        needed = self._follow().wanted
        most = len(needed) + -(-self.ahead // self.plan.block)
        keys = blocks_ahead(self.plan, self.rule, self.complete, most=most) if needed and self.ahead else needed
        # What is replayed is needed for certain: it comes before what is only likely to be.
        order = dict.fromkeys((*needed, *self.replayed, *keys))
        self._order = tuple(key for key in order if key not in self.complete)
        for key in self._order:
            if key not in self._open:
                self._open_block(key, with_controls=key in keys)
            if self._order is None:
                return
        for key in (*keys, *self._needed()) if self._held else ():
            controls = {name for each in self._open[key] for name in self._planned[each].sample.controls}
            for name in controls & self._held.keys():
                self._unsent[key].append(self._held.pop(name))

    def _needed(self) -> frozenset[BlockKey]:
        """The blocks that the decisions so far rest on, and the next one needs."""
        followed = self._follow()
        return blocks_used(followed.search, relative=self.rule.relative).union(followed.wanted)

    def _open_block(self, key: BlockKey, *, with_controls: bool) -> None:
        planned = [item for item in self.build(key) if item.sample.sample_id not in self._planned]
        if key.index % 2:  # there and back again: a block begins with the prompt that is most like the last one
            planned.reverse()
        self._planned |= {item.sample.sample_id: item for item in planned}
        ordinary = [item for item in planned if item.sample.is_ordinary]
        self._open[key] = {item.sample.sample_id: None for item in ordinary}
        answered = {outcome.sample.sample_id: outcome for outcome in self.recall(planned)}
        self._answered_before[key] = sum(outcome.sample.is_ordinary for outcome in answered.values())
        self._unsent[key] = deque()
        for item in planned:
            outcome = answered.get(item.sample.sample_id) or self._failed.get(item.key)
            if outcome is not None:
                self._take(item, outcome)
                continue
            self._waiting[item.key].append(item)
            if with_controls or item.sample.is_ordinary:
                self._unsent[key].append(item)
            else:
                self._held[item.sample.sample_id] = item

    def _take(self, item: PlannedSample, outcome: Outcome) -> None:
        key = block_key(item.sample)
        if key is None or not item.sample.is_ordinary:
            return
        block = self._open[key]
        block[item.sample.sample_id] = self.score(replace(outcome, sample=item.sample))
        samples = [scored for scored in block.values() if scored is not None]
        if len(samples) == len(block):
            self.complete[key] = block_scores(samples)
            self._followed = self._order = None
            self.on_change(self.standing())

    def standing(self) -> tuple[LengthStanding, ...]:
        """How each tested length stands, in the order of testing."""
        return tuple(map(self._standing, self.search.tested))

    def _standing(self, tested: TestedLength) -> LengthStanding:
        keys = (BlockKey(context_tokens=tested.context_tokens, index=index) for index in range(tested.n_blocks))
        blocks = (self.complete[key] for key in keys if key in self.complete)
        scores = [score or 0.0 for block in blocks for text in block.texts for score in text]
        return LengthStanding(
            context_tokens=tested.context_tokens,
            decision=tested.decision,
            score_sum=math.fsum(scores),
            answered=len(scores),
        )


def blocks_ahead(
    plan: SearchPlan, rule: SearchRule, blocks: Mapping[BlockKey, BlockScores], *, most: int
) -> tuple[BlockKey, ...]:
    """The blocks, at most `most`, that the search wants now, and those that it is likely to want next.

    Every answer is guessed to be right, but wrong at a length where fewer than the threshold are right so far.
    Guesses never enter a decision.
    """
    scores: defaultdict[int, list[float]] = defaultdict(list)
    for key, block in blocks.items():
        scores[key.context_tokens] += [score or 0.0 for score in block.scores]
    means = {tokens: math.fsum(each) / len(each) for tokens, each in scores.items()}
    bar = rule.threshold * (means.get(plan.lengths[0], 1.0) if rule.relative else 1.0)
    guessed = GuessedBlocks(
        blocks, lambda tokens: even_block(plan, float(means.get(tokens, 1.0) >= bar)), most=len(blocks) + most
    )
    follow(plan, rule, guessed)
    return tuple(guessed)[len(blocks) :]
