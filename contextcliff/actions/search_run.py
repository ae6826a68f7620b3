"""Sending as a search: the blocks that it asks for are built, recorded with the run, and sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.prepare_run import Prepared, PreparedSearch, planned_samples
from contextcliff.analysis.search import BlockKey
from contextcliff.errors import RunError
from contextcliff.execution.budget import Meter
from contextcliff.execution.runner import Ended, Runner, send_all
from contextcliff.execution.scoring import Scorer, recall
from contextcliff.execution.searching import SearchSource
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.records.generation import Outcome
from contextcliff.reporting.progress import search_progress


@dataclass(kw_only=True, slots=True)
class SearchRun:
    """One search as part of a run: what was asked so far, and where it is kept."""

    invocation: Invocation
    identity: Identity
    prepared: Prepared
    store: Store
    scorer: Scorer
    asked: list[PlannedSample] = field(default_factory=list)
    """Every sample and control, in the order of asking."""
    _controls: set[str] = field(default_factory=set)

    @property
    def setup(self) -> PreparedSearch:
        """Raises `RunError` for a run without a search."""
        if self.prepared.search is None:
            raise RunError("this run has a fixed number of samples, and no search")
        return self.prepared.search

    async def send(self, runner: Runner, meter: Meter, *, title: str, shown: bool) -> SearchEnded:
        """Search to the end, or as far as the budget goes."""
        self.store.begin(self.prepared.run, ())
        with search_progress(title, shown=shown) as progress:
            source = SearchSource(
                plan=self.setup.plan,
                rule=self.setup.rule,
                build=self._build,
                recall=self._recall,
                score=self.scorer.score,
                ahead=self._ahead,
                on_change=progress.lengths,
            )
            ended = await send_all(runner, source, meter, ended=lambda o: progress.advance(o.sample.built_tokens))
        facts = self.prepared.run.facts
        self.store.record_notes(self.identity.run_id, (*facts.notes, *self.setup.blocks.notes()))
        return SearchEnded(ended=ended, reused=source.reused, n_sent=source.n_sent, is_over=source.is_over)

    @property
    def _ahead(self) -> int:
        """By default twice what is under way at once: a block waits for the slowest of its answers."""
        engine = self.invocation.engine
        return 2 * engine.concurrency if engine.speculation is None else engine.speculation

    def _build(self, key: BlockKey) -> Sequence[PlannedSample]:
        """The samples of a block, with the controls that no block had before it."""
        block = self.setup.blocks.block(key.context_tokens, key.index)
        planned = planned_samples(
            block,
            self.prepared.materials.corpus,
            self.identity.respondent,
            served=self.prepared.served,
        )
        new = [item for item in planned if item.sample.sample_id not in self._controls]
        self._controls |= {item.sample.sample_id for item in new if item.sample.control is not None}
        return new

    def _recall(self, planned: Sequence[PlannedSample]) -> Sequence[Outcome]:
        self.store.extend(self.identity.run_id, planned, first=len(self.asked))
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
