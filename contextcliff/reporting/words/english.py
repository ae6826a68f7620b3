"""What a report says, in English."""

from contextcliff.reporting.words import english_cap, english_findings, english_notes, english_shortfall
from contextcliff.reporting.words.english_say import say

__all__ = ["english_cap", "english_findings", "english_notes", "english_shortfall", "say"]
