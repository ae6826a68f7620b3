"""The order in which prompts are sent: neighbours share their prefix, short ones come first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

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
