"""The author's own next words, from the place where every prompt of a run ends."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.records.generation import ScoredSample
from contextcliff.writing.prose_findings import Writing


def original_text(writing: Writing, *, scored: Sequence[ScoredSample]) -> str | None:
    """As many words as the longest round wrote, with what stands between them; None: the document is not kept."""
    document = next((item.document for item in scored if item.document is not None), None)
    if document is None:
        return None
    # Joined by single spaces, verse and paragraphs would be lost.
    rest = document.text[writing.continuation_point :]
    longest, end = words_of_longest(scored), 0
    for word in rest.split(None, longest)[:longest]:
        end = rest.index(word, end) + len(word)
    return rest[:end].strip("\n")


def words_of_longest(scored: Sequence[ScoredSample]) -> int:
    """How many words the longest round has."""
    return max((len(item.generation.text.split()) for item in scored if item.generation is not None), default=0)
