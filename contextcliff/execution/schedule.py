"""The order in which prompts are sent: neighbours share their prefix, short ones come first."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol

from contextcliff.execution.store import PlannedSample
from contextcliff.records.generation import Outcome
from contextcliff.records.sample import Passage, Sample, Words

_SHARED_TO_WAIT = 0.5
"""Share of a prompt from which on it waits for another one that begins alike."""


def in_prefix_order(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """Sort samples by length, then as the leaves of a prefix tree stand.

    Walking the leaves of a tree in order, whichever way its branches are turned, shares the most with a
    cache that keeps the last prompt: every inner node is computed once. Lengths ascend, so that a run
    that is cut short has its short lengths whole. The recipe is compared and not the prompt: equal
    leading passages are equal text, and of two that begin alike the shorter branches off first.
    """
    return tuple(sorted(samples, key=_place))


def _place(sample: Sample) -> tuple[int, str, tuple[tuple[int, str, int, int], ...], str]:
    recipe = sample.recipe
    return (sample.context_tokens, recipe.system or "", tuple(map(_rank, recipe.user)), sample.sample_id)


def _rank(piece: Words | Passage) -> tuple[int, str, int, int]:
    if isinstance(piece, Words):
        return (0, piece.text, 0, 0)
    return (1, piece.document_id, piece.start, piece.end)


def shared_tokens(samples: Sequence[Sample]) -> int:
    """Prompt tokens that a cache of the last prompt can save when samples are sent in this order (an estimate).

    Counted on the recipes: equal leading pieces, and the common beginning of the first that differs.
    """
    return sum(_shared(earlier, later) for earlier, later in pairwise(samples))


def _shared(earlier: Sample, later: Sample) -> int:
    if earlier.recipe.system != later.recipe.system:
        return 0
    characters = 0
    for one, other in zip(earlier.recipe.user, later.recipe.user, strict=False):
        common = _common_characters(one, other)
        characters += common
        if common < _length(one) or common < _length(other):
            break
    whole = sum(_length(piece) for piece in later.recipe.user)
    return round(later.built_tokens * characters / whole) if whole else 0


def _common_characters(one: Words | Passage, other: Words | Passage) -> int:
    if isinstance(one, Words) and isinstance(other, Words):
        pairs = zip(one.text, other.text, strict=False)
        return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one.text), len(other.text)))
    if isinstance(one, Passage) and isinstance(other, Passage):
        same_place = (one.document_id, one.start) == (other.document_id, other.start)
        return min(_length(one), _length(other)) if same_place else 0
    return 0


def _length(piece: Words | Passage) -> int:
    return len(piece.text) if isinstance(piece, Words) else piece.end - piece.start


class Source(Protocol):
    """Where the samples to send come from."""

    def next(self) -> PlannedSample | None:
        """The next sample; None where there is none, or none until another one has ended."""
        ...

    def ended(self, outcome: Outcome) -> None:
        """A sample has ended, with an answer or without."""
        ...


class FixedSource:
    """Samples that are all known before."""

    def __init__(self, planned: Iterable[PlannedSample]) -> None:
        self._coming = iter(planned)

    def next(self) -> PlannedSample | None:
        return next(self._coming, None)

    def ended(self, outcome: Outcome) -> None:
        """Changes nothing."""


class PrefixGate:
    """Hands out samples in their order, except that those that share a prefix wait until one request has computed it.

    A sample waits for one under way that has the same prompt until that has ended: its generation may be the same. It
    waits for one that shares at least half of its prompt until the first token of that is back: a server that keeps
    prefixes has then computed it.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ready: deque[PlannedSample] = deque()
        self._under_way: dict[str, PlannedSample] = {}
        self._cold: dict[str, PlannedSample] = {}
        self._waiting: defaultdict[str, list[PlannedSample]] = defaultdict(list)

    def next(self) -> PlannedSample | None:
        """A sample that can go now; None where all that are left wait for another one, or none is left."""
        while (item := self._ready.popleft() if self._ready else self._source.next()) is not None:
            leader = self._leader_of(item)
            if leader is None:
                self._under_way[item.sample.sample_id] = self._cold[item.sample.sample_id] = item
                return item
            self._waiting[leader].append(item)
        return None

    def put_back(self, item: PlannedSample) -> None:
        """The sample that `next` gave last could not be sent now."""
        self._forget(item.sample.sample_id)
        self._ready.appendleft(item)

    def answering(self, item: PlannedSample) -> None:
        """The first token of a sample is back: those that share a part of its prompt may go."""
        name = item.sample.sample_id
        if self._cold.pop(name, None) is not None:
            again = [each for each in self._waiting[name] if each.prompt_sha256 == item.prompt_sha256]
            self._ready.extend(each for each in self._waiting[name] if each.prompt_sha256 != item.prompt_sha256)
            self._waiting[name] = again

    def ended(self, item: PlannedSample, outcome: Outcome) -> None:
        """A sample has ended, whether with an answer or without: those that waited for it may go."""
        name = item.sample.sample_id
        self._forget(name)
        self._ready.extend(self._waiting.pop(name, ()))
        self._source.ended(outcome)

    def _forget(self, name: str) -> None:
        self._under_way.pop(name, None)
        self._cold.pop(name, None)

    def _leader_of(self, item: PlannedSample) -> str | None:
        """The sample under way that this one has to wait for."""
        for name, leader in self._under_way.items():
            if leader.prompt_sha256 == item.prompt_sha256:
                return name
        half = _SHARED_TO_WAIT * item.sample.built_tokens
        return next((name for name, leader in self._cold.items() if _shared(leader.sample, item.sample) >= half), None)
