"""What a search has ahead of it: the blocks that are answered already, and what is left to ask."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.prepare_run import Prepared, PreparedSearch, planned_block
from contextcliff.analysis.search import BlockKey, BlockScores, block_key, block_scores, follow, perfect_path
from contextcliff.execution.budget import NOTHING, Cost, Meter, answer_tokens
from contextcliff.execution.schedule import shared_tokens
from contextcliff.execution.scoring import Scorer, recall
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.models.model import Price
from contextcliff.models.sampling import Sampling
from contextcliff.records.sample import Sample


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """Numbers to send; fractions where they are expectations."""

    samples: float
    controls: float
    prompt_tokens: float
    cached_tokens: float
    """The part of `prompt_tokens` that a prefix cache can save."""
    completion_tokens: float
    usd: float
    """With what a prefix cache can save; 0 where no price is known."""
    worst_usd: float
    """The same where no cache saves any."""

    @property
    def computed_tokens(self) -> float:
        """Prompt tokens that are left to compute."""
        return self.prompt_tokens - self.cached_tokens

    def __add__(self, other: Load) -> Load:
        return Load(**{name: getattr(self, name) + getattr(other, name) for name in _FIELDS})


_COUNTS = ("samples", "controls", "prompt_tokens", "cached_tokens", "completion_tokens")
_FIELDS = (*_COUNTS, "usd", "worst_usd")


def load_of(planned: Sequence[PlannedSample], sampling: Sampling, price: Price) -> Load:
    """That of samples and controls which are sent in this order."""
    samples = [item.sample for item in planned]
    ordinary = sum(sample.is_ordinary for sample in samples)
    cached = shared_tokens(samples)

    def usd(saved: Sequence[int]) -> float:
        each = zip(samples, saved, strict=True)
        return sum(_usd(price, one.built_tokens, tokens, answer_tokens([one], sampling)) for one, tokens in each)

    return Load(
        samples=ordinary,
        controls=len(samples) - ordinary,
        prompt_tokens=sum(sample.built_tokens for sample in samples),
        cached_tokens=sum(cached),
        completion_tokens=answer_tokens(samples, sampling),
        usd=usd(cached),
        worst_usd=usd([0] * len(samples)),
    )


def _usd(price: Price, prompt: float, cached: float, completion: float) -> float:
    return price.of(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=completion) or 0.0


def load_of_blocks(
    blocks: Mapping[int, float], built: Sequence[PlannedSample], *, block: int, sampling: Sampling, price: Price
) -> Load:
    """That of so many blocks of `block` samples at each length.

    `built` are whole blocks of some lengths. A block of a length between two of them takes what lies between theirs,
    and all of it costs what the longest prompt of the length does.
    """
    import numpy as np

    at_length: defaultdict[int, list[PlannedSample]] = defaultdict(list)
    for item, asked in with_what_they_go(built):
        at_length[asked.context_tokens].append(item)
    lengths = sorted(at_length)
    loads = [load_of(_by_block(at_length[length]), sampling, price) for length in lengths]
    each = {name: [getattr(load, name) * block / load.samples for load in loads] for name in _COUNTS}
    longest = [max(item.sample.built_tokens for item in at_length[length]) for length in lengths]

    def one(length: int) -> Load:
        counts = {name: float(np.interp(length, lengths, each[name])) for name in _COUNTS}
        rates = price.at(float(np.interp(length, lengths, longest)))
        _, _, prompt, cached, completion = counts.values()
        usd, worst = (_usd(rates, prompt, saved, completion) for saved in (cached, 0.0))
        return Load(**counts, usd=usd, worst_usd=worst)

    ones = [(count, one(length)) for length, count in blocks.items()]
    return Load(**{name: sum(count * getattr(load, name) for count, load in ones) for name in _FIELDS})


def with_what_they_go(planned: Sequence[PlannedSample]) -> list[tuple[PlannedSample, Sample]]:
    """Each with its own sample, and a control with one that it is a control of: it can be shorter than that."""
    controlled = {control: item.sample for item in planned for control in item.sample.controls}
    return [(item, controlled.get(item.sample.sample_id, item.sample)) for item in planned]


def _by_block(planned: Sequence[PlannedSample]) -> list[PlannedSample]:
    """A block after the other, each in the order of sending."""
    return sorted(planned, key=lambda item: item.sample.block or 0)


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
        price = self.invocation.model.price
        own = load_of_blocks(blocks, built, block=block, sampling=sampling, price=price)
        beside = self._beside(blocks)
        if not beside:
            return own
        ordinary = [item for item in built if item.sample.is_ordinary]
        return own + load_of_blocks(beside, ordinary, block=block, sampling=sampling, price=price)


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
    _, keys = perfect_path(search.plan, search.rule, known)
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
