"""What a report says, in English. Each module of `english_*` adds its sentences to `say` when it is imported."""

from contextcliff.reporting.words.english_say import say

__all__ = [
    "label",
    "say",
]


def label(text: str) -> str:
    """A heading or a name: sections write them in English."""
    return text
