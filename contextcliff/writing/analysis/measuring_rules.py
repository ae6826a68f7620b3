"""By what rules a run's prose was measured: figures by different rules have no winner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from contextcliff.statistics.descriptive import mean_of
from contextcliff.writing.analysis.levels import level_of
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE, CORE, MEASURES, Family
from contextcliff.writing.measures.measured import LENGTH
from contextcliff.writing.prose_findings import MeasureLevel, Writing
from contextcliff.writing.sections.contest_words import COMPOSITES

_BY_WORD_LIST = frozenset({*COMPOSITES, *(measure.name for measure in MEASURES if measure.by_word_list)})
_BY_LEAST_LENGTH = frozenset({COMPOSITE, *(measure.name for measure in MEASURES if not measure.of_text)})
_BY_LENGTH = frozenset({CLASSIC_COMPOSITE, *(measure.name for measure in MEASURES if measure.by_length)})
"""What is smaller or larger in a longer text by the same hand, before it is made a z-score."""
_AS_LONG = 0.1
"""The greatest difference of lengths, as a share of the longer, at which such figures are compared."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingSide:
    """A run in the comparison, and by what it was measured; empty: not known, or not asked for."""

    name: str
    writing: Writing
    rules: str
    """Whose words and sentences."""
    word_list: str = ""
    """Whose words are familiar."""
    least_length: str = ""
    """The share of an answer under which text counts as missing (`task.min_tokens_fraction`)."""


def different_rules(measure: str, sides: Sequence[WritingSide]) -> str:
    """In which rules for a measure the sides differ; empty where they don't."""
    if len({side.rules for side in sides}) > 1:
        return _told([side.rules for side in sides])
    parts = [_parts(measure, side.writing) for side in sides]
    every = list(dict.fromkeys(part for found in parts for part in found))
    aspects = [(*_aspects(measure, side), _lacking(found, every)) for side, found in zip(sides, parts, strict=True)]
    differing = [aspect for aspect in zip(*aspects, strict=True) if len(set(aspect)) > 1]
    return _told([", ".join(told) for told in zip(*differing, strict=True)]) if differing else ""


def unequal_lengths(measure: str, sides: Sequence[WritingSide], common: Sequence[int]) -> str:
    """Why raw figures of answers of different lengths don't compare; empty where they do, or no length is stored."""
    if measure not in _BY_LENGTH:
        return ""
    found = {side.name: length for side in sides if (length := _length(side.writing, common)) is not None}
    longest, shortest = max(found.values(), default=0.0), min(found.values(), default=0.0)
    if longest - shortest <= _AS_LONG * longest:
        return ""
    told = ", ".join(f"{name} {length:,.0f}" for name, length in found.items())
    return f"the answers are not as long ({told} characters on average), on which it depends"


def _told(rules: Sequence[str]) -> str:
    return f"measured by different rules ({'; '.join(dict.fromkeys(rules))})"


def _aspects(measure: str, side: WritingSide) -> tuple[str, ...]:
    """By what a figure was taken, in the same places for all sides."""
    embeddings, found = side.writing.embeddings, []
    if measure in _BY_WORD_LIST:
        found.append(f"familiar words by {side.word_list or 'an unknown list'}")
    if measure in _BY_LEAST_LENGTH:
        found.append(f"text missing under {side.least_length or 'an unknown share'} of an answer")
    if measure in COMPOSITES:
        found.append(f"embeddings by {embeddings}" if embeddings else "no embeddings")
    elif BY_NAME[measure].embeds:
        found.append(f"embeddings by {embeddings or 'an unnamed model'}")
    return tuple(found)


def _parts(measure: str, writing: Writing) -> tuple[str, ...]:
    """What goes into a run's composite; of other measures nothing.

    Of the whole run: that a part can't be measured at one length is how it wrote there, and no rule.
    """
    if measure == CLASSIC_COMPOSITE:
        return tuple(
            BY_NAME[name].title.lower()
            for name in CORE
            if any(level_of(tier, name).mean is not None for tier in writing.tiers)
        )
    if measure == COMPOSITE:
        levels = [level for tier in writing.tiers for level in tier.measures]
        return tuple(family for family in get_args(Family) if any(_enters(level, family) for level in levels))
    return ()


def _lacking(parts: Sequence[str], every: Sequence[str]) -> str:
    """Which parts a composite is without. One without any is that of a run that wrote nothing, the worst there is."""
    missing = [part for part in every if part not in parts] if parts else []
    return f"without {', '.join(missing)}" if missing else "with every part"


def _enters(level: MeasureLevel, family: str) -> bool:
    known = BY_NAME.get(level.name)
    return known is not None and known.family == family and level.z is not None


def _length(writing: Writing, common: Sequence[int]) -> float | None:
    """Mean characters of an answer over the common lengths; None where one of them has none."""
    means = [level_of(tier, LENGTH).mean for tier in writing.tiers if tier.context_tokens in common]
    known = [mean for mean in means if mean is not None]
    return mean_of(known) if known and len(known) == len(means) else None
