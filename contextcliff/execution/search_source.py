"""The samples of a search, handed out as the answers decide: what it needs next, and, where slots are free, what it is
likely to need after that."""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from contextcliff.analysis.search import Path, StepScores, step_key, step_scores
from contextcliff.execution.schedule import in_prefix_order
from contextcliff.execution.store import PlannedSample
from contextcliff.records.generation import Outcome, ScoredSample
from contextcliff.records.search_record import Key, LengthStanding, Search, TestedLength


@dataclass(kw_only=True, slots=True)
class SearchSource:
    """Hands out the samples of a search.

    Decisions are those of its path, which takes complete steps in its own order: neither the order of answers nor what
    was asked ahead has any influence on them. What was asked ahead and is not needed any more is not sent."""

    path: Path
    build: Callable[[Key], Sequence[PlannedSample]]
    recall: Callable[[Sequence[PlannedSample]], Iterable[Outcome]]
    """Records samples as part of the run, and gives the outcomes of those that are answered already."""
    score: Callable[[Outcome], ScoredSample]
    ahead: int
    """Steps that may be asked beyond the one that is needed now."""
    on_change: Callable[[tuple[LengthStanding, ...]], None] = lambda _: None
    replayed: tuple[Key, ...] = ()
    """Steps that are asked whatever the search needs, so that another run has its pairs; no decision rests on them."""
    pairs: Callable[[Path, Mapping[Key, StepScores]], Sequence[Key]] | None = None
    """Further steps to replay when the search has ended, given the answers so far; none at their end."""
    complete: dict[Key, StepScores] = field(default_factory=dict)
    _planned: dict[str, PlannedSample] = field(default_factory=dict)
    """By id, every sample and control of each step that was ever asked."""
    _answered_before: Counter[Key] = field(default_factory=Counter)
    _order: tuple[Key, ...] | None = None
    """The steps that are asked now, the most needed first; None if a step was completed since."""
    _unsent: dict[Key, deque[PlannedSample]] = field(default_factory=dict)
    _held: dict[str, PlannedSample] = field(default_factory=dict)
    """By id, the controls of steps that are only replayed: they are sent when the search needs the step itself."""
    _open: dict[Key, dict[str, ScoredSample | None]] = field(default_factory=dict)
    """The samples of each step that was ever asked, by id; None while there is no outcome."""
    _sent: set[str] = field(default_factory=set)
    """Keys that were handed out: the samples of a key share one generation, and it is paid once."""
    _waiting: defaultdict[str, list[PlannedSample]] = field(default_factory=lambda: defaultdict(list))
    _failed: dict[str, Outcome] = field(default_factory=dict)

    def next(self) -> PlannedSample | None:
        """The next sample; None while the search waits for answers, and at its end."""
        while (order := self._order) is None:
            self._ask()
        # A step whose samples were answered before may have controls that were not.
        for key in (*order, *(key for key in self._unsent if key in self.complete)):
            unsent = self._unsent[key]
            while unsent:
                item = unsent.popleft()
                if item.key not in self._sent:
                    self._sent.add(item.key)
                    return item
            if key in self.complete:
                del self._unsent[key]
        return None

    def ended(self, outcome: Outcome) -> None:
        key = self._planned[outcome.sample.sample_id].key
        if outcome.generation is None:
            self._failed[key] = outcome
        for item in self._waiting.pop(key, ()):
            self._take(item, outcome)

    @property
    def search(self) -> Search:
        self.path.follow(self.complete)
        return self.path.search

    @property
    def is_over(self) -> bool:
        """Whether nothing more is needed, by the search or to replay."""
        replayed = all(key in self.complete for key in self.replayed)
        return not self.path.follow(self.complete) and replayed and not self._pairs()

    @property
    def reused(self) -> int:
        """Samples that were answered before, but those that were only replayed."""
        only_replayed = set(self.replayed) - self._needed()
        return sum(count for key, count in self._answered_before.items() if key not in only_replayed)

    def asked(self) -> tuple[PlannedSample, ...]:
        """Every sample and control that was asked and sent, in an order that does not depend on when answers came."""
        unsent = chain(chain.from_iterable(self._unsent.values()), self._held.values())
        left_out = {item.sample.sample_id for item in unsent if item.key not in self._sent}
        asked = (item.sample for name, item in self._planned.items() if name not in left_out)
        return tuple(self._planned[sample.sample_id] for sample in in_prefix_order(asked))

    def _ask(self) -> None:
        needed = self.path.follow(self.complete)
        if not needed and all(key in self.complete for key in self.replayed):
            self.replayed += self._pairs()
        keys = self.path.ahead(self.complete, most=len(needed) + self.ahead) if needed and self.ahead else needed
        # What is replayed is needed for certain: it comes before what is only likely to be.
        order = dict.fromkeys((*needed, *self.replayed, *keys))
        self._order = tuple(key for key in order if key not in self.complete)
        for key in self._order:
            if key not in self._open:
                self._open_step(key, with_controls=key in keys)
            if self._order is None:
                return
        for key in (*keys, *self._needed()) if self._held else ():
            controls = {name for each in self._open[key] for name in self._planned[each].sample.controls}
            for name in controls & self._held.keys():
                self._unsent.setdefault(key, deque()).append(self._held.pop(name))

    def _pairs(self) -> tuple[Key, ...]:
        return () if self.pairs is None else tuple(self.pairs(self.path, self.complete))

    def _needed(self) -> frozenset[Key]:
        return self.path.used.union(self.path.follow(self.complete))

    def _open_step(self, key: Key, *, with_controls: bool) -> None:
        planned = [item for item in self.build(key) if item.sample.sample_id not in self._planned]
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
        key = step_key(item.sample)
        if key is None or not item.sample.is_ordinary:
            return
        step = self._open[key]
        step[item.sample.sample_id] = self.score(replace(outcome, sample=item.sample))
        samples = [scored for scored in step.values() if scored is not None]
        if len(samples) == len(step):
            self.complete[key] = step_scores(samples)
            self._order = None
            self.on_change(tuple(map(self._standing, self.search.tested)))

    def _standing(self, tested: TestedLength) -> LengthStanding:
        keys = ((tested.context_tokens, index) for index in range(tested.steps))
        scores = [self.complete[key].score or 0.0 for key in keys if key in self.complete]
        return LengthStanding(
            context_tokens=tested.context_tokens,
            decision=tested.decision,
            score_sum=math.fsum(scores),
            answered=len(scores),
        )
