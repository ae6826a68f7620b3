"""One number for a text: how much worse it is than its author's own text, 0-100, up is worse."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import get_args

from contextcliff.writing.measures.measure import BY_NAME, Family

_FREE = 1.0
"""Standard deviations toward worse up to which a measure adds nothing: the author's own windows vary as much."""
_FULL = 6.0
"""Standard deviations toward worse from which on a measure adds its whole part."""
_MOST = 10.0
"""Largest z-score that counts in the distance: larger ones depend on the measure's floor more than on the text."""


def calibrated(z: Mapping[str, float]) -> float | None:
    """The composite by the author's own windows, from z-scores by measure.

    A measure's part goes from 0 at one standard deviation toward worse to 1 at six, a family's part is the mean of its
    measures', and the composite is 100 times the root mean square of the families' parts. So families count alike,
    however many measures they have, and one bad family shows among good ones. Only what is measured enters. None where
    no family is measured.

    Windows of *Little Women* of 900 to 9,000 characters average 2 and reach 15. One of its paragraphs in a loop gets
    43, one sentence in a loop 76, a page that stands in the prompt 41.
    """
    parts = [part for family in get_args(Family) if (part := _part(family, z)) is not None]
    if not parts:
        return None
    return 100.0 * math.sqrt(sum(part**2 for part in parts) / len(parts))


def with_shortfall(prose: float, shortfall: float) -> float:
    """The composite of a text of which the share `shortfall` is missing: the missing part counts as 100."""
    return 100.0 * (1.0 - (1.0 - shortfall) * (1.0 - prose / 100.0))


def classic(values: Mapping[str, float]) -> float | None:
    """Context-Tester's composite, from the measures themselves.

    25 points each for a type-token ratio under 0.6 down to 0.3, a cloze score over 15 up to 40, an adjacent coherence
    under 0.7 down to 0.3 and a bigram repetition of up to 0.3. A part that is not measured is left out, and the
    others count for more; Context-Tester takes missing embeddings for a coherence of 0. None where no part is measured.
    """
    parts = [
        (values.get("vocabulary_diversity"), 0.6, 0.3),
        (values.get("cloze_score"), 15.0, 40.0),
        (values.get("adjacent_coherence"), 0.7, 0.3),
        (values.get("bigram_repetition_rate"), 0.0, 0.3),
    ]
    shares = [_clip((value - best) / (worst - best)) for value, best, worst in parts if value is not None]
    return 100.0 * sum(shares) / len(shares) if shares else None


def author_distance(z: Mapping[str, float]) -> float | None:
    """Root mean square of all z-scores, each at most 10: about 1 for the author. None where there are none."""
    if not z:
        return None
    return math.sqrt(sum(min(abs(score), _MOST) ** 2 for score in z.values()) / len(z))


def _part(family: str, z: Mapping[str, float]) -> float | None:
    """A family's part of the composite, 0-1; None where none of its measures is in `z`."""
    shares = [
        _clip((BY_NAME[name].worse * score - _FREE) / (_FULL - _FREE))
        for name, score in z.items()
        if BY_NAME[name].family == family
    ]
    return sum(shares) / len(shares) if shares else None


def _clip(share: float) -> float:
    return min(1.0, max(0.0, share))
