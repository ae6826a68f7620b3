"""The order in which prompts are sent: neighbours share their prefix, short ones come first."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from typing import Protocol

from contextcliff.execution.store import PlannedSample
from contextcliff.records.generation import Outcome
from contextcliff.records.sample import Passage, Sample, Words

_SAVED_TO_WAIT = 0.5
"""Share of the tokens to compute for a prompt that has to be saved by waiting for one that begins alike."""
_REMEMBERED = 64
"""Prompts of which the gate takes it that the server still has them computed."""


def in_prefix_order(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """Sort samples by length, then as the leaves of a prefix tree stand.

    Walking the leaves in order, whichever way the branches are turned, shares the most with a cache that keeps the last
    prompt: every inner node is computed once. Lengths ascend, so that a run that is cut short has its short lengths
    whole. Recipes are compared and not prompts: of two passages that begin alike the shorter branches off first."""
    return tuple(sorted(samples, key=_place))


def _place(sample: Sample) -> tuple[int, str, tuple[tuple[int, str, int, int], ...], str]:
    ranks = (
        (0, piece.text, 0, 0) if isinstance(piece, Words) else (1, piece.document_id, piece.start, piece.end)
        for piece in sample.recipe.pieces()
    )
    return (sample.context_tokens, sample.recipe.system or "", tuple(ranks), sample.sample_id)


def shared_tokens(samples: Sequence[Sample]) -> list[int]:
    """Tokens of each prompt that a cache of the last one can save when samples are sent in this order (an estimate)."""
    return [0, *(_shared(earlier, later) for earlier, later in pairwise(map(_Outline, samples)))][: len(samples)]


class _Outline:
    """What of a prompt is compared with others, worked out once."""

    def __init__(self, sample: Sample) -> None:
        self.system, self.pieces, self.tokens = sample.recipe.system, tuple(sample.recipe.pieces()), sample.built_tokens
        self.characters = sum(map(_length, self.pieces))
        leading = sum(map(_length, takewhile(lambda piece: isinstance(piece, Words), self.pieces)))
        self.own_context = _SAVED_TO_WAIT * self.tokens
        """Shared tokens from which on another prompt has the same context: more than what stands before its first
        passage, or half of a prompt without passages."""
        if leading < self.characters:
            self.own_context = 1.0 + self.tokens * leading / self.characters


def _shared(earlier: _Outline, later: _Outline) -> int:
    if earlier.system != later.system:
        return 0
    characters = 0
    for one, other in zip(earlier.pieces, later.pieces, strict=False):
        common = _common_characters(one, other)
        characters += common
        if common < max(_length(one), _length(other)):
            break
    return round(later.tokens * characters / later.characters) if characters else 0


def _common_characters(one: Words | Passage, other: Words | Passage) -> int:
    if one == other:
        return _length(one)
    if isinstance(one, Words) and isinstance(other, Words):
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one.text, other.text, strict=False)))
    if isinstance(one, Words) or isinstance(other, Words):
        return 0
    same_place = (one.document_id, one.start) == (other.document_id, other.start)
    return min(_length(one), _length(other)) if same_place else 0


def _length(piece: Words | Passage) -> int:
    return len(piece.text) if isinstance(piece, Words) else piece.end - piece.start


class Source(Protocol):
    """Where the samples to send come from."""

    def next(self) -> PlannedSample | None:
        """The next sample; None if there is none, or none until another one has ended."""

    def ended(self, outcome: Outcome) -> None:
        """A sample has ended, with an answer or without."""


class Listed:
    def __init__(self, planned: Iterable[PlannedSample]) -> None:
        self.planned = tuple(planned)
        self._coming = iter(self.planned)

    def next(self) -> PlannedSample | None:
        return next(self._coming, None)

    def ended(self, outcome: Outcome) -> None:
        """Changes nothing."""


class PrefixGate:
    """Hands out samples in their order, except that those that share a prefix wait until one request has computed it.

    A sample waits for the end of one under way with the same prompt: its generation may be the same. It waits for the
    first token of one that at least halves what has to be computed for it: a server that keeps prefixes has then
    computed what they share. Of those that wait for a request that fails one takes its place. With one request at a
    time the order is the one given.

    `in_slots`, for a server whose slots each keep one prompt: samples of one context go one after another."""

    def __init__(self, source: Source, *, in_slots: bool = False) -> None:
        self._source, self._in_slots = source, in_slots
        self.changed = asyncio.Event()
        self._ready: deque[PlannedSample] = deque()
        self._under_way: dict[str, PlannedSample] = {}
        """Without those that failed and wait to be sent again."""
        self._cold: dict[str, _Outline] = {}
        """Those of them without a first token yet."""
        self._warm: deque[_Outline] = deque(maxlen=_REMEMBERED)
        self._waiting: defaultdict[str, list[PlannedSample]] = defaultdict(list)

    def next(self) -> PlannedSample | None:
        """A sample that can go now; None if all that are left wait for another one."""
        while (item := self._ready.popleft() if self._ready else self._source.next()) is not None:
            outline = _Outline(item.sample)
            leader = self._leader_of(item, outline)
            if leader is None:
                self._under_way[item.sample.sample_id] = item
                self._cold[item.sample.sample_id] = outline
                return item
            self._waiting[leader].append(item)
        return None

    def put_back(self, item: PlannedSample) -> None:
        self._forget(item)
        self._ready.appendleft(item)

    def answering(self, item: PlannedSample) -> None:
        """The first token of a sample is back: those that share a part of its prompt may go."""
        if not self._in_slots:
            self._computed(item)

    def _computed(self, item: PlannedSample) -> None:
        name = item.sample.sample_id
        if (outline := self._cold.pop(name, None)) is not None:
            self.changed.set()
            self._warm.append(outline)
            waiting = self._waiting.pop(name, [])
            self._ready.extend(each for each in waiting if each.prompt_sha256 != item.prompt_sha256)
            if again := [each for each in waiting if each.prompt_sha256 == item.prompt_sha256]:
                self._waiting[name] = again

    def failed(self, item: PlannedSample) -> None:
        self._forget(item)
        self.changed.set()
        self._ready.extend(self._waiting.pop(item.sample.sample_id, ()))

    def ended(self, item: PlannedSample, outcome: Outcome) -> None:
        if outcome.generation is not None:  # an engine that does not stream tells of no first token
            self._computed(item)
        self.failed(item)
        self._source.ended(outcome)

    def _forget(self, item: PlannedSample) -> None:
        self._under_way.pop(item.sample.sample_id, None)
        self._cold.pop(item.sample.sample_id, None)

    def _leader_of(self, item: PlannedSample, outline: _Outline) -> str | None:
        for name, other in self._under_way.items():
            if other.prompt_sha256 == item.prompt_sha256:
                return name
        shared = {name: _shared(cold, outline) for name, cold in self._cold.items()}
        if self._in_slots:
            tokens, name = max(((tokens, name) for name, tokens in shared.items()), default=(0, ""))
            return name if tokens >= outline.own_context else None
        # Most samples share little with those under way: what is computed already is looked up for the others alone.
        if max(shared.values(), default=0) < _SAVED_TO_WAIT * outline.tokens:
            return None
        computed = max((_shared(warm, outline) for warm in self._warm), default=0)
        least = computed + max(1.0, _SAVED_TO_WAIT * (outline.tokens - computed))
        return next((name for name, tokens in shared.items() if tokens >= least), None)
