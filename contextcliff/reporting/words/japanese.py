"""What a report says, in Japanese. Each module of `japanese_*` adds its sentences to `say` when it is imported."""

from contextcliff.reporting.words.japanese_say import label, say

__all__ = [
    "label",
    "say",
]
