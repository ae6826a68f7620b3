"""The files that only a continuation run leaves: its figures as tables and JSON, and all that was written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict

from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import SCHEMA_VERSION, Report
from contextcliff.reporting.data_files import Cell, Row, csv_text, json_text
from contextcliff.reporting.schema import plain
from contextcliff.reporting.text import tame
from contextcliff.writing.levels import level_of
from contextcliff.writing.measures import measure as keys
from contextcliff.writing.prose_findings import (
    COMPLETE,
    CompositeLevel,
    HealthLevel,
    MeasureLevel,
    Writing,
    WritingTier,
)
from contextcliff.writing.task.continuation_scoring import answer_figures


def original_text(writing: Writing, *, scored: Sequence[ScoredSample]) -> str | None:
    """As many words as the longest round wrote, with what stands between them; None: the document is not kept."""
    document = next((item.document for item in scored if item.document is not None), None)
    if document is None:
        return None
    # Joined by single spaces, verse and paragraphs would be lost.
    rest = document.text[writing.continuation_point :]
    return str(re.findall(rf"\A(?:\s*\S+){{0,{words_of_longest(scored)}}}", rest)[0]).strip("\n")


def words_of_longest(scored: Sequence[ScoredSample]) -> int:
    return max((len(item.generation.text.split()) for item in scored if item.generation is not None), default=0)


_PREFIXES = (keys.ORIGINAL, keys.AUTHOR_MEAN, keys.AUTHOR_STD, keys.Z)
_OF_ROUND = (keys.COMPOSITE, keys.CLASSIC_COMPOSITE, keys.AUTHOR_DISTANCE, keys.AUTHOR_LIMIT, keys.HEALTHY)
_SAMPLERS = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")


def _allowed(answer_tokens: int | None) -> Row:
    # A small window allows fewer tokens than the configuration.
    return {} if answer_tokens is None else {"max_tokens": answer_tokens}


def in_order(scored: Sequence[ScoredSample]) -> list[ScoredSample]:
    """The rounds by length, and by number within a length."""
    return sorted(scored, key=lambda item: (item.sample.context_tokens, item.sample.trial))


def round_number(item: ScoredSample) -> int:
    return item.sample.trial + 1


def outcome(item: ScoredSample) -> str:
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
    """A configured value as a number where it is one."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text or "")
    return None if text == "None" else text


def _tier(tier: WritingTier, health: Mapping[int, HealthLevel]) -> Row:
    level = health.get(tier.context_tokens)
    row: Row = {
        "context_length": tier.context_tokens,
        "num_rounds": tier.n_rounds,
        "num_unscored": tier.n_unscored,
        "num_distinct": tier.n_distinct,
        "num_healthy": None if level is None else level.healthy,
        "reading_level": tier.reading_level,
        **_figures(keys.COMPOSITE, tier.composite, _OF_COMPOSITE),
        **_figures(keys.CLASSIC_COMPOSITE, tier.composite_classic, _OF_COMPOSITE),
    }
    for measure in keys.MEASURES:
        row |= _figures(measure.name, level_of(tier, measure.name), _OF_MEASURE)
    return row


_OF_COMPOSITE = ("std", "ci_low", "ci_high")
_OF_MEASURE = (*_OF_COMPOSITE, "n", "original", "author_mean", "author_std", "z", "z_std")


def _figures(name: str, level: CompositeLevel | MeasureLevel, figures: Sequence[str]) -> Row:
    return {name: level.mean, **{f"{name}_{figure}": getattr(level, figure) for figure in figures}}


def _round(item: ScoredSample) -> Row:
    return {
        "context_length": item.sample.context_tokens,
        "round_number": round_number(item),
        **_ended(item),
        **{
            f"{prefix}{m.name}": item.details.get(prefix + m.name) for prefix in ("", *_PREFIXES) for m in keys.MEASURES
        },
    }


def _ended(item: ScoredSample) -> Row:
    generation = item.generation
    return {
        "sample_id": item.sample.sample_id,
        "seed": item.sample.seed,
        "outcome": outcome(item),
        "failure": item.failure,
        "finish_reason": generation.finish_reason if generation else None,
        "prompt_tokens": generation.prompt_tokens if generation else None,
        "completion_tokens": generation.completion_tokens if generation else None,
        "score": item.score,
        **{name: item.details.get(name) for name in _OF_ROUND},
    }


def writing_files(
    report: Report, writing: Writing, *, scored: Sequence[ScoredSample], parameters: Mapping[str, str]
) -> dict[str, str]:
    """Texts of files by name: of each length, of all lengths and of all rounds, Context-Tester's columns first.
    `parameters` is the flattened configuration. Raises `ValueError` where a number is not finite."""
    run = _run(report, writing, parameters=parameters)
    health = {level.context_tokens: level for level in writing.health.levels} if writing.health is not None else {}
    allowed = {item.sample.context_tokens: item.sample.answer_tokens for item in scored}
    tiers = [{**run, **_allowed(allowed.get(tier.context_tokens)), **_tier(tier, health)} for tier in writing.tiers]
    rounds = [{**run, **_allowed(item.sample.answer_tokens), **_round(item)} for item in in_order(scored)]
    return {
        **{
            f"context_{tier.context_tokens}_results.json": json_text(_results(report, tier, scored))
            for tier in writing.tiers
        },
        "writing.csv": csv_text(tiers),
        "writing_detailed.csv": csv_text(rounds),
        "degradation_analysis.json": json_text(_analysis(report, writing)),
        "generations.txt": generations_text(report, writing, scored=scored),
    }


def _results(report: Report, tier: WritingTier, scored: Sequence[ScoredSample]) -> dict[str, object]:
    rounds = [item for item in in_order(scored) if item.sample.context_tokens == tier.context_tokens]
    return {**_head(report), **asdict(tier), "rounds": [_results_of_round(item) for item in rounds]}


def _head(report: Report) -> dict[str, object]:
    return {"schema_version": SCHEMA_VERSION, "run_id": report.run.run_id, "model": report.run.model}


def _results_of_round(item: ScoredSample) -> dict[str, object]:
    of = {"raw": "", **{prefix.rstrip("."): prefix for prefix in _PREFIXES}}
    return {
        **_ended(item),
        "round": round_number(item),
        "item": item.sample.item,
        "measures": {
            measure.name: {name: item.details.get(prefix + measure.name) for name, prefix in of.items()}
            for measure in keys.MEASURES
        },
        "text": item.generation.text if item.generation else None,
    }


_TOLD = (
    *("document_id", "continuation_point", "verdict", "settling_rounds", "health", "warnings", "embeddings"),
    *("unmeasured", "tests", "trends", "steps"),
)


def _analysis(report: Report, writing: Writing) -> dict[str, object]:
    told = plain(writing)
    assert isinstance(told, dict)
    return {
        **_head(report),
        **{name: told[name] for name in _TOLD},
        "composites": [
            {
                "context_tokens": tier.context_tokens,
                keys.COMPOSITE: asdict(tier.composite),
                keys.CLASSIC_COMPOSITE: asdict(tier.composite_classic),
            }
            for tier in writing.tiers
        ],
        "convergence": [
            {
                "context_tokens": tier.context_tokens,
                "measures": {
                    level.name: {key: getattr(level, key) for key in ("mean", "original", "cv", "converged")}
                    for level in tier.measures
                },
            }
            for tier in writing.tiers
        ],
        "outliers": [
            {"context_tokens": tier.context_tokens, **asdict(outlier), "round": outlier.trial + 1}
            for tier in writing.tiers
            for outlier in tier.outliers
        ],
    }


_WIDTH = 100


def generations_text(report: Report, writing: Writing, *, scored: Sequence[ScoredSample]) -> str:
    """`generations.txt`: a header before each text, control characters as escapes."""
    of = {tier.context_tokens: tier.n_rounds + tier.n_unscored for tier in writing.tiers}
    blocks = [
        _header(f"{report.run.model}, {report.run.dataset}: {writing.document_id}, run {report.run.run_id}"),
        *_original(writing, scored=scored),
        *(block for item in in_order(scored) for block in _round_text(item, rounds=of[item.sample.context_tokens])),
    ]
    return tame("\n\n".join(blocks)) + "\n"


def _header(text: str) -> str:
    flat = " ".join(text.split())
    return f"{'=' * _WIDTH}\n{flat}\n{'=' * _WIDTH}"


def _original(writing: Writing, *, scored: Sequence[ScoredSample]) -> Iterator[str]:
    text = original_text(writing, scored=scored)
    title = f"THE ORIGINAL FROM CHARACTER {writing.continuation_point:,} ON"
    if text is None:
        yield _header(f"{title}: the document is not kept with this run")
        return
    yield _header(f"{title} ({words_of_longest(scored):,} words)")
    yield text


def _round_text(item: ScoredSample, *, rounds: int) -> Iterator[str]:
    generation = item.generation
    ended = f", ended by {generation.finish_reason}, {generation.completion_tokens:,} tokens" if generation else ""
    figures = ", ".join(answer_figures(item.details))
    yield _header(
        f"{item.sample.context_tokens:,} TOKENS, ROUND {round_number(item)}/{rounds}: {outcome(item)}{ended}"
        f"{f'. {figures}' if figures else ''}"
    )
    if generation is not None:
        yield generation.text
