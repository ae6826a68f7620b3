"""Whether a round of writing is healthy, and what is wrong with one that is not.

A mean over rounds hides collapse: where two rounds in five run in a loop, the other three still hold it up. So the safe
cap is tested on the share of rounds that are healthy, each judged by itself and against the author alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from contextcliff.writing.measures.measure import AUTHOR_LIMIT, COMPOSITE

Fault = Literal["too_short", "loop", "beyond_author", "unmeasured"]
"""Why a round is not healthy: too little text, text in a loop, further from the author than the author's own passages
are, or an author of whom too little is known to say."""

LOOP = "repetition"
"""The failure tag of a text in a loop: more than half of its trigrams have occurred before."""
_SHORT = frozenset({"empty", "too_short"})


def is_healthy(details: Mapping[str, float], failure: str | None) -> bool:
    """Whether nothing is wrong with a round, by the details and the failure tag of its score."""
    return fault_of(details, failure) is None


def fault_of(details: Mapping[str, float], failure: str | None) -> Fault | None:
    """What is wrong with a round: the first of what applies, so that a count of faults is one of rounds."""
    if failure in _SHORT:
        return "too_short"
    if failure == LOOP:
        return "loop"
    if COMPOSITE not in details or AUTHOR_LIMIT not in details:
        return "unmeasured"
    return "beyond_author" if details[COMPOSITE] > details[AUTHOR_LIMIT] else None
