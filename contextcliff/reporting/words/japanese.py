"""What a report says, in Japanese. Each module of `japanese_*` adds its sentences to `say` when it is imported."""

from contextcliff.reporting.words import (
    japanese_cap,
    japanese_findings,
    japanese_report,
)
from contextcliff.reporting.words.japanese_say import label, say

__all__ = [
    "japanese_cap",
    "japanese_findings",
    "japanese_report",
    "label",
    "say",
]
