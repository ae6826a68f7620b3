"""The order in which prompts are sent: neighbours share their prefix, short ones come first."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise

from contextcliff.execution.store import PlannedSample
from contextcliff.records.sample import Passage, Sample, Words


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


class PrefixGate:
    """Hands out samples in their order, except that a prompt's followers wait for its leader."""

    def __init__(self, planned: Iterable[PlannedSample]) -> None:
        self._coming = iter(planned)
        self._ready: deque[PlannedSample] = deque()
        self._waiting: defaultdict[str, list[PlannedSample]] = defaultdict(list)
        self._leaders: set[str] = set()
        self._computed: set[str] = set()

    def next(self) -> PlannedSample | None:
        """A sample that can go now; None where all that are left wait for a leader, or none is left."""
        if self._ready:
            return self._ready.popleft()
        for item in self._coming:
            prompt = item.prompt_sha256
            if prompt in self._leaders:
                self._waiting[prompt].append(item)
                continue
            if prompt not in self._computed:
                self._leaders.add(prompt)
            return item
        return None

    def ended(self, prompt_sha256: str) -> None:
        """A sample with this prompt has ended, whether with an answer or without: its followers may go."""
        self._leaders.discard(prompt_sha256)
        self._computed.add(prompt_sha256)
        self._ready.extend(self._waiting.pop(prompt_sha256, ()))
