"""What a report says, in Japanese."""

from contextcliff.reporting.words import japanese_cap, japanese_findings, japanese_notes, japanese_shortfall
from contextcliff.reporting.words.japanese_say import say

__all__ = ["japanese_cap", "japanese_findings", "japanese_notes", "japanese_shortfall", "say"]
