"""By what rules a run's prose was measured: figures by different rules have no winner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from contextcliff.records.note import Note
from contextcliff.statistics.descriptive import mean_of
from contextcliff.writing.levels import level_of
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE, CORE, MEASURES, Family
from contextcliff.writing.measures.measured import LENGTH
from contextcliff.writing.prose_findings import MeasureLevel, Writing

COMPOSITES = (COMPOSITE, CLASSIC_COMPOSITE)
"""Up is worse in both."""
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


def different_rules(measure: str, sides: Sequence[WritingSide]) -> Note | None:
    """In which rules for a measure the sides differ; None where they don't."""
    if len({side.rules for side in sides}) > 1:
        return _different([(side.rules,) for side in sides])
    parts = [_parts(measure, side.writing) for side in sides]
    every = list(dict.fromkeys(part for own in parts for part in own))
    rules = [(*_rules(measure, side), _lacking(own, every)) for side, own in zip(sides, parts, strict=True)]
    differing = [values for values in zip(*rules, strict=True) if len(set(values)) > 1]
    return _different(list(zip(*differing, strict=True))) if differing else None


def _different(rules: Sequence[tuple[str, ...]]) -> Note:
    """Those of each run that some other run has otherwise."""
    return Note("measured by different rules ({rules})", rules="; ".join(map(", ".join, dict.fromkeys(rules))))


def unequal_lengths(measure: str, sides: Sequence[WritingSide], common: Sequence[int]) -> Note | None:
    """Why raw figures of answers of different lengths don't compare; None where they do, or no length is stored."""
    if measure not in _BY_LENGTH:
        return None
    lengths = {side.name: length for side in sides if (length := _length(side.writing, common)) is not None}
    longest, shortest = max(lengths.values(), default=0.0), min(lengths.values(), default=0.0)
    if longest - shortest <= _AS_LONG * longest:
        return None
    return Note(
        "the answers are not as long ({lengths} characters on average), on which it depends",
        lengths=[f"{run} {characters:,.0f}" for run, characters in lengths.items()],
    )


def _rules(measure: str, side: WritingSide) -> tuple[str, ...]:
    """By what a figure was taken, in the same places for all sides."""
    embeddings, rules = side.writing.embeddings, []
    if measure in _BY_WORD_LIST:
        rules.append(f"familiar words by {side.word_list or 'an unknown list'}")
    if measure in _BY_LEAST_LENGTH:
        rules.append(f"text missing under {side.least_length or 'an unknown share'} of an answer")
    if measure in COMPOSITES:
        rules.append(f"embeddings by {embeddings}" if embeddings else "no embeddings")
    elif BY_NAME[measure].embeds:
        rules.append(f"embeddings by {embeddings or 'an unnamed model'}")
    return tuple(rules)


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
    lacking = [part for part in every if part not in parts] if parts else []
    return f"without {', '.join(lacking)}" if lacking else "with every part"


def _enters(level: MeasureLevel, family: str) -> bool:
    known = BY_NAME.get(level.name)
    return known is not None and known.family == family and level.z is not None


def _length(writing: Writing, common: Sequence[int]) -> float | None:
    """Mean characters of an answer over the common lengths; None where one of them has none."""
    means = [level_of(tier, LENGTH).mean for tier in writing.tiers if tier.context_tokens in common]
    known = [mean for mean in means if mean is not None]
    return mean_of(known) if known and len(known) == len(means) else None
