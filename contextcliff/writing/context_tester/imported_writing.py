"""Means, spreads and intervals of an imported run, computed as for this project's runs. Nothing is tested.

The other tool has its own rules (for words, sentences and familiar words), so its figures are on other scales than ours
of the same name. Where it stored the texts, they can be measured by our rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from contextcliff.analysis.items import Item
from contextcliff.records.note import as_it_is
from contextcliff.writing.analysis.draws import DrawnTier
from contextcliff.writing.analysis.tier_summary import writing_tier
from contextcliff.writing.measures.measure import CLASSIC_COMPOSITE, MEASURES, ORIGINAL
from contextcliff.writing.measures.measured import measure_prose
from contextcliff.writing.measures.readability import WordList
from contextcliff.writing.passage import classic
from contextcliff.writing.prose_findings import Writing, WritingTier


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedRound:
    """One continuation."""

    values: Mapping[str, float]
    """The measures by name."""
    text: str = ""
    """Empty where it was not stored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedTier:
    """One context length with its rounds."""

    context_tokens: int
    rounds: tuple[ImportedRound, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedRun:
    """A run of another tool."""

    run_id: str
    """The name of its folder or file."""
    tool: str
    model: str
    text: str
    """The name of the continued text; empty where it is unknown."""
    label: str
    parameters: Mapping[str, str]
    """The settings, under this project's keys."""
    tiers: tuple[ImportedTier, ...]
    """Shortest first."""
    original: Mapping[str, float]
    """The measures of the author's own next words."""


_EMBEDDED = tuple(measure.name for measure in MEASURES if measure.embeds)
_LANGUAGE = "en"
"""Of the texts: the formulas of the other tool are for English alone."""


def imported_writing(run: ImportedRun, *, confidence: float) -> Writing:
    """The findings of a run. Equal rounds of a length (temperature 0) count as one."""
    absent = frozenset(_stored_as_zero(run))
    original = {ORIGINAL + name: value for name, value in run.original.items() if name not in absent}
    tiers = tuple(_of_rounds(tier, absent=absent, original=original, confidence=confidence) for tier in run.tiers)
    measured = {level.name for tier in tiers for level in tier.measures}
    embedded = any(name in measured for name in _EMBEDDED)
    return Writing(
        document_id=run.text or f"a text that {run.tool} does not name",
        continuation_point=0,
        tiers=tiers,
        tests=(),
        trends=(),
        steps=(),
        verdict=as_it_is(f"imported from {run.tool}; nothing was tested"),
        settling_rounds=None,
        warnings=tuple(map(as_it_is, _warnings(run, absent, tiers))),
        embeddings=f"an unnamed model ({run.tool})" if embedded else None,
        unmeasured=tuple(measure.name for measure in MEASURES if measure.name not in measured),
        confidence=confidence,
    )


def remeasured(run: ImportedRun, *, word_list: WordList) -> ImportedRun:
    """The run with its texts measured by our rules, as English. Coherence stays as it was stored.

    The author's own text is never stored, so its figures, which are by the other rules, are dropped. Raises
    `ValueError` where the text of a round was not stored.
    """
    return replace(
        run,
        tiers=tuple(
            replace(tier, rounds=tuple(_measured(one, word_list) for one in _rounds_with_texts(tier)))
            for tier in run.tiers
        ),
        original={name: value for name, value in run.original.items() if name in _EMBEDDED},
    )


def _rounds_with_texts(tier: ImportedTier) -> tuple[ImportedRound, ...]:
    if not all(one.text for one in tier.rounds):
        raise ValueError(f"the texts at {tier.context_tokens:,} tokens were not kept")
    return tier.rounds


def _measured(one: ImportedRound, word_list: WordList) -> ImportedRound:
    ours = measure_prose(one.text, language=_LANGUAGE, word_list=word_list)
    stored = {name: one.values[name] for name in _EMBEDDED if name in one.values}
    return replace(one, values={**ours, **stored})


def _stored_as_zero(run: ImportedRun) -> Iterable[str]:
    """The measures of embeddings that are 0 in every row: the tool writes 0 for what it did not measure."""
    for name in _EMBEDDED:
        stored = [one.values[name] for tier in run.tiers for one in tier.rounds if name in one.values]
        if stored and not any(stored):
            yield name


def _of_rounds(
    tier: ImportedTier, *, absent: frozenset[str], original: Mapping[str, float], confidence: float
) -> WritingTier:
    draws: dict[object, Item] = {}
    for kept in tier.rounds:
        values = {name: value for name, value in kept.values.items() if name not in absent}
        composite = classic(values)
        details = {**values, **original, **({} if composite is None else {CLASSIC_COMPOSITE: composite})}
        # `setdefault`: what differs between equal texts is how long they took.
        draws.setdefault(kept.text or tuple(sorted(values.items())), Item(score=0.0, repeats=(0.0,), details=details))
    drawn = DrawnTier(context_tokens=tier.context_tokens, draws=tuple(draws.values()))
    names = [m.name for m in MEASURES if any(m.name in draw.details for draw in drawn.draws)]
    return replace(writing_tier(drawn, names, confidence=confidence), n_rounds=len(tier.rounds))


def _warnings(run: ImportedRun, absent: Iterable[str], tiers: Iterable[WritingTier]) -> Iterable[str]:
    if absent:
        yield f"coherence is stored as 0 in every row: {run.tool} had no embeddings, and it counts as not measured"
    if any(tier.n_distinct < tier.n_rounds for tier in tiers):
        yield "rounds of a length are the same draw (temperature 0): they count as one"
