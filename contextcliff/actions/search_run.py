"""Sending as a search: the blocks that it asks for are built, recorded with the run, and sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.prepare_run import Prepared, PreparedSearch, planned_block
from contextcliff.actions.rest_of_search import SearchAhead
from contextcliff.analysis.search import BlockKey, BlockScores
from contextcliff.execution.budget import Meter
from contextcliff.execution.runner import Ended, Runner, send_all
from contextcliff.execution.schedule import in_prefix_order
from contextcliff.execution.scoring import Scorer, recall
from contextcliff.execution.searching import SearchSource
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.records.generation import Outcome
from contextcliff.records.search_record import LengthStanding
from contextcliff.reporting.progress import progress_of

_FORECAST_EVERY_S = 1.0
"""What changes faster can't be read."""


@dataclass(kw_only=True, slots=True)
class SearchRun:
    """One search as part of a run: what was asked so far, and where it is kept."""

    invocation: Invocation
    identity: Identity
    prepared: Prepared
    search: PreparedSearch
    store: Store
    scorer: Scorer
    ahead: SearchAhead | None = None
    """What was ahead of it when it began; None: nothing is said of the time that it will take."""
    asked: list[PlannedSample] = field(default_factory=list)
    """Every sample and control, in the order of asking."""
    answered: Mapping[BlockKey, BlockScores] = field(default_factory=dict)
    """The blocks that have their scores when sending has ended."""
    _controls: set[str] = field(default_factory=set)

    async def send(
        self,
        runner: Runner,
        meter: Meter,
        *,
        title: str,
        shown: bool,
        ended: Callable[[Outcome], str | None] = lambda _: None,
        lengths: Callable[[Sequence[LengthStanding]], None] = lambda _: None,
    ) -> SearchEnded:
        """Search to the end, or as far as the budget goes.

        `ended` hears of each outcome, and may say something of it; `lengths` hears how the lengths stand.
        """
        self.store.begin(self.prepared.run, ())
        ahead = self.ahead if shown else None
        forecast_s = time.monotonic()
        with progress_of(title, shown=shown) as progress:

            def standing(now: Sequence[LengthStanding]) -> None:
                nonlocal forecast_s
                progress.lengths(now)
                lengths(now)
                if ahead is not None and time.monotonic() - forecast_s > _FORECAST_EVERY_S:
                    progress.expect(ahead.tokens_left(source.complete))
                    forecast_s = time.monotonic()

            source = SearchSource(
                plan=self.search.plan,
                rule=self.search.rule,
                build=self._build,
                recall=self._recall,
                score=self.scorer.score,
                ahead=self._ahead,
                on_change=standing,
                replayed=self.search.replayed,
            )

            def show(outcome: Outcome) -> None:
                progress.advance(outcome.sample.built_tokens, answer=outcome.text)
                remark = ended(outcome)
                if remark is not None:
                    progress.remark(remark)

            sent = await send_all(runner, source, meter, ended=show)
        self._settle(source)
        self.answered = source.complete
        made = self.search.blocks.maker.notes({item.sample.sample_id for item in self.asked})
        notes = (*self.prepared.run.facts.notes, *made)
        self.store.change_facts(self.identity.run_id, lambda facts: replace(facts, notes=notes))
        return SearchEnded(ended=sent, reused=source.reused, n_sent=source.n_sent, is_over=source.is_over)

    def _settle(self, source: SearchSource) -> None:
        """Record what was asked in an order that does not depend on when answers came, without what was not sent."""
        asked = {item.sample.sample_id: item for item in self.asked}
        for item in source.unsent():
            asked.pop(item.sample.sample_id)
        self.asked = [asked[sample.sample_id] for sample in in_prefix_order(item.sample for item in asked.values())]
        self.store.begin(self.prepared.run, self.asked)

    @property
    def _ahead(self) -> int:
        """By default four times what is under way at once: blocks wait for the slowest of their answers."""
        engine = self.invocation.engine
        return 4 * engine.concurrency if engine.speculation is None else engine.speculation

    def _build(self, key: BlockKey) -> Sequence[PlannedSample]:
        """The samples of a block, with the controls that no block had before it."""
        planned = planned_block(self.prepared, self.search, self.identity, key)
        new = [item for item in planned if item.sample.sample_id not in self._controls]
        self._controls |= {item.sample.sample_id for item in new if item.sample.control is not None}
        # There and back again: over one text, a block then begins with the prompt that is most like the last one.
        return new[::-1] if key.index % 2 else new

    def _recall(self, planned: Sequence[PlannedSample]) -> Sequence[Outcome]:
        self.store.extend(self.identity.run_id, planned)
        self.asked.extend(planned)
        # Those that failed before are asked again.
        outcomes = recall(self.store, self.identity.run_id, planned)
        return tuple(outcome for outcome in outcomes if outcome.generation is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchEnded:
    """How sending ended."""

    ended: Ended
    reused: int
    """Samples that were answered before."""
    n_sent: int
    """Requests, those of controls among them."""
    is_over: bool
    """Whether every length was decided that the search came to."""
