"""What a search has ahead of it: the blocks that are answered already, and what is left to ask."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.load import Load, load_of_blocks, with_what_they_go
from contextcliff.actions.prepare_run import Prepared, PreparedSearch, planned_block
from contextcliff.analysis.search import BlockKey, BlockScores, block_key, block_scores, follow, perfect_path
from contextcliff.execution.budget import NOTHING, Cost, Meter
from contextcliff.execution.scoring import Scorer, recall
from contextcliff.execution.store import PlannedSample, Store

SCORE = 0.98
"""True score of the model whose search is expected where nothing else is known of it."""


@dataclass(frozen=True, kw_only=True)
class SearchAhead:
    """The rest of a search. Loads count what is not stored; half a block that is stored counts as none."""

    invocation: Invocation
    prepared: Prepared
    search: PreparedSearch
    known: Mapping[BlockKey, BlockScores]
    """The blocks that are answered, as far as the search would use them."""
    stored: int
    """Samples that are answered, among those that the search wants first."""
    planned: tuple[PlannedSample, ...]
    """The whole search of a perfect model, and what it replays, what is stored included, in the order of sending."""
    least: tuple[PlannedSample, ...]
    """The part of it that is not stored."""
    replayed: Mapping[int, int]
    """By length, blocks that are not stored whole and are asked anyway, to stay paired with another run."""

    def expected(self, score_at: Callable[[int], float]) -> tuple[Mapping[int, float], Load]:
        """Samples at each length, and their load, to expect of a model with these true scores."""
        from contextcliff.analysis.forecast import expected_blocks  # imported late, since it loads numpy

        blocks = expected_blocks(self.search.plan, self.search.rule, score_at, self.known)
        beside = self._beside(blocks)
        both = {length: blocks.get(length, 0.0) + beside.get(length, 0.0) for length in {**blocks, **beside}}
        return {length: count * self.search.plan.block for length, count in both.items()}, self._load(blocks)

    def tokens_left(self, known: Mapping[BlockKey, BlockScores]) -> int:
        """Prompt tokens to expect beyond these blocks, if the true score is `SCORE` at every length that is open."""
        _, load = replace(self, known=known).expected(lambda _: SCORE)
        return round(load.prompt_tokens)

    @property
    def most(self) -> Load:
        """The worst case."""
        from contextcliff.analysis.forecast import most_blocks

        return self._load(most_blocks(self.search.plan, self.search.rule, self.known))

    def share(self, load: Load) -> float:
        """The samples of a search with this load, and what is stored, as a multiple of those of a perfect model."""
        return (self.stored + load.samples) / sum(item.sample.is_ordinary for item in self.planned)

    def _beside(self, blocks: Mapping[int, float]) -> Mapping[int, float]:
        """At each length the replayed blocks that these do not cover: both begin with the first of the length."""
        left = {length: count - blocks.get(length, 0.0) for length, count in self.replayed.items()}
        return {length: count for length, count in left.items() if count > 0.0}

    def _load(self, blocks: Mapping[int, float]) -> Load:
        """That of the blocks of the search, and of those that are replayed beside them, which go without controls."""
        built, block, sampling = self.prepared.planned, self.search.plan.block, self.invocation.sampling
        own = load_of_blocks(blocks, built, block=block, sampling=sampling)
        beside = self._beside(blocks)
        if not beside:
            return own
        ordinary = [item for item in built if item.sample.is_ordinary]
        return own + load_of_blocks(beside, ordinary, block=block, sampling=sampling)


def search_ahead(
    invocation: Invocation, identity: Identity, prepared: Prepared, search: PreparedSearch, store: Store
) -> SearchAhead:
    """Follow the stored answers as far as they go, and build what a perfect model would be asked beyond them."""
    built: dict[BlockKey, tuple[PlannedSample, ...]] = _blocks_of(prepared.planned)

    def samples_of(keys: Sequence[BlockKey]) -> tuple[PlannedSample, ...]:
        for key in keys:
            if key not in built:
                built[key] = planned_block(prepared, search, identity, key)
        items = {item.sample.sample_id: item for key in keys for item in built[key]}
        return tuple(items.values())

    scorer = Scorer(invocation.task, [item.sample for item in prepared.planned], prepared.documents)
    known: dict[BlockKey, BlockScores] = {}
    stored = 0
    while wanted := follow(search.plan, search.rule, known).wanted:
        items = samples_of(wanted)
        missing = {item.key for item in store.missing(items)}
        stored += sum(item.sample.is_ordinary and item.key not in missing for item in items)
        if missing:
            break
        for key in wanted:
            ordinary = [item for item in built[key] if item.sample.is_ordinary]
            known[key] = block_scores([scorer.score(each) for each in recall(store, identity.run_id, ordinary)])
    _, keys = perfect_path(search.plan, search.rule, known, perfect_score=invocation.task.perfect_score)
    own = samples_of((*known, *keys))
    beside = [key for key in search.replayed if key not in known and key not in keys]
    planned = (*own, *(item for item in samples_of(beside) if item.sample.is_ordinary))
    missing = {item.key for item in store.missing(planned)}
    samples = {key: [item.key for item in built[key] if item.sample.is_ordinary] for key in search.replayed}
    stored += sum(each not in missing for key in beside for each in samples[key])
    return SearchAhead(
        invocation=invocation,
        prepared=prepared,
        search=search,
        known=known,
        stored=stored,
        planned=planned,
        least=tuple(store.missing(planned)),
        replayed=Counter(key.context_tokens for key in search.replayed if not missing.isdisjoint(samples[key])),
    )


def _blocks_of(planned: Sequence[PlannedSample]) -> dict[BlockKey, tuple[PlannedSample, ...]]:
    """The blocks that were built already, each in the order of sending."""
    blocks: defaultdict[BlockKey, list[PlannedSample]] = defaultdict(list)
    for item, asked in with_what_they_go(planned):
        key = block_key(asked)
        if key is not None:
            blocks[key].append(item)
    return {key: tuple(items) for key, items in blocks.items()}


def refuse_beyond(
    meter: Meter, missing: Sequence[PlannedSample], ahead: SearchAhead | None, *, beside: Cost = NOTHING
) -> None:
    """Raise `OverBudgetError` where the run, and what goes `beside` it, could take more than the budget.

    A search may stop at its budget: it is refused only where not even a perfect model would come to its end.
    """
    if ahead is None:
        meter.refuse_beyond(missing, beside=beside)
    else:
        replays = ", with what it replays," if ahead.replayed else ""
        meter.refuse_beyond(ahead.least, beside=beside, what=f"even the search of a model without a mistake{replays}")
