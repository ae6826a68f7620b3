"""The order in which prompts are sent: neighbours share their prefix, short ones come first."""

from __future__ import annotations

from collections.abc import Iterable

from contextcliff.records import Passage, Sample, Words


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
