"""The figures of a continuation run as rows: one a context length, one a round. None: not measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting.data_files import Cell, Row
from contextcliff.writing.analysis.draws import level_of
from contextcliff.writing.measures.measure import (
    AUTHOR_DISTANCE,
    AUTHOR_LIMIT,
    AUTHOR_MEAN,
    AUTHOR_STD,
    CLASSIC_COMPOSITE,
    COMPOSITE,
    HEALTHY,
    MEASURES,
    ORIGINAL,
    Z,
)
from contextcliff.writing.prose_findings import (
    COMPLETE,
    CompositeLevel,
    HealthLevel,
    MeasureLevel,
    Writing,
    WritingTier,
)

_SAMPLERS = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")


def tier_rows(
    report: Report, writing: Writing, *, scored: Sequence[ScoredSample], parameters: Mapping[str, str]
) -> list[Row]:
    """A row a context length, Context-Tester's columns first.

    `scored` are all rounds, for what they were allowed to write; `parameters` is the flattened configuration.
    """
    run = _run(report, writing, parameters=parameters)
    health = {level.context_tokens: level for level in writing.health.levels} if writing.health is not None else {}
    allowed = {item.sample.context_tokens: item.sample.answer_tokens for item in scored}
    return [{**run, **_allowed(allowed.get(tier.context_tokens)), **_tier(tier, health)} for tier in writing.tiers]


def round_rows(
    report: Report, writing: Writing, *, scored: Sequence[ScoredSample], parameters: Mapping[str, str]
) -> list[Row]:
    """A row a round, by length and round, unscored ones too."""
    run = _run(report, writing, parameters=parameters)
    return [{**run, **_allowed(item.sample.answer_tokens), **_round(item)} for item in in_order(scored)]


def _allowed(answer_tokens: int | None) -> Row:
    """The most tokens of a round: a small window allows fewer than the configuration."""
    return {} if answer_tokens is None else {"max_tokens": answer_tokens}


def in_order(scored: Sequence[ScoredSample]) -> list[ScoredSample]:
    """The rounds by length, and by number within a length."""
    return sorted(scored, key=lambda item: (item.sample.context_tokens, item.sample.trial))


def round_number(item: ScoredSample) -> int:
    """Which round it is, counted from 1."""
    return item.sample.trial + 1


def outcome(item: ScoredSample) -> str:
    """`complete`, or what went wrong."""
    return item.failure or COMPLETE


def _run(report: Report, writing: Writing, *, parameters: Mapping[str, str]) -> Row:
    return {
        "model": report.run.model,
        "text": writing.document_id,
        "model_id": report.run.run_id,
        "max_tokens": _number(parameters.get("task.max_tokens", parameters.get("sampling.max_tokens"))),
        **{name: _number(parameters.get(f"sampling.{name}")) for name in _SAMPLERS},
        "engine": report.run.engine,
        "kv_policy": report.run.kv_policy,
        "label": report.run.label or None,
    }


def _number(text: str | None) -> Cell:
    """A configured value as a number where it is one; None where it is null."""
    if text is None or text == "None":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _tier(tier: WritingTier, health: Mapping[int, HealthLevel]) -> Row:
    level = health.get(tier.context_tokens)
    row: Row = {
        "context_length": tier.context_tokens,
        "num_rounds": tier.n_rounds,
        "num_unscored": tier.n_unscored,
        "num_distinct": tier.n_distinct,
        "num_healthy": None if level is None else level.healthy,
        "reading_level": tier.reading_level,
        **_composite(COMPOSITE, tier.composite),
        **_composite(CLASSIC_COMPOSITE, tier.composite_classic),
    }
    for measure in MEASURES:
        row |= _level(level_of(tier, measure.name))
    return row


def _composite(name: str, level: CompositeLevel) -> Row:
    return {
        name: level.mean,
        f"{name}_std": level.std,
        f"{name}_ci_low": level.ci_low,
        f"{name}_ci_high": level.ci_high,
    }


def _level(level: MeasureLevel) -> Row:
    name = level.name
    return {
        name: level.mean,
        f"{name}_std": level.std,
        f"{name}_ci_low": level.ci_low,
        f"{name}_ci_high": level.ci_high,
        f"{name}_n": level.n,
        f"{name}_original": level.original,
        f"{name}_author_mean": level.author_mean,
        f"{name}_author_std": level.author_std,
        f"{name}_z": level.z,
        f"{name}_z_std": level.z_std,
    }


def _round(item: ScoredSample) -> Row:
    sample, generation, details = item.sample, item.generation, item.details
    row: Row = {
        "context_length": sample.context_tokens,
        "round_number": round_number(item),
        "sample_id": sample.sample_id,
        "seed": sample.seed,
        "outcome": outcome(item),
        "failure": item.failure,
        "finish_reason": generation.finish_reason if generation else None,
        "prompt_tokens": generation.prompt_tokens if generation else None,
        "completion_tokens": generation.completion_tokens if generation else None,
        "score": item.score,
        **{name: details.get(name) for name in (COMPOSITE, CLASSIC_COMPOSITE, AUTHOR_DISTANCE, AUTHOR_LIMIT, HEALTHY)},
    }
    for measure in MEASURES:
        row[measure.name] = details.get(measure.name)
    for prefix in (ORIGINAL, AUTHOR_MEAN, AUTHOR_STD, Z):
        for measure in MEASURES:
            row[prefix + measure.name] = details.get(prefix + measure.name)
    return row
