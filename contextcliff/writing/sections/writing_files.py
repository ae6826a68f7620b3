"""The files that only a continuation run leaves: its figures as tables and JSON, and all that was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import SCHEMA_VERSION, Report
from contextcliff.reporting.data_files import csv_text, json_text
from contextcliff.writing.measures.measure import (
    AUTHOR_DISTANCE,
    AUTHOR_MEAN,
    AUTHOR_STD,
    CLASSIC_COMPOSITE,
    COMPOSITE,
    MEASURES,
    ORIGINAL,
    Z,
)
from contextcliff.writing.prose_findings import MeasureLevel, Writing, WritingTier
from contextcliff.writing.sections.generations_file import generations_text
from contextcliff.writing.sections.writing_rows import in_order, outcome, round_number, round_rows, tier_rows
from contextcliff.writing.words.english_writing import say


def writing_files(
    report: Report, writing: Writing, *, scored: Sequence[ScoredSample], parameters: Mapping[str, str]
) -> dict[str, str]:
    """What a run's prose was, as texts of files by name.

    `context_N_results.json` a length, `writing.csv` (a row a length), `writing_detailed.csv` (a row a round),
    `degradation_analysis.json` and `generations.txt`. `parameters` is the flattened configuration
    (`sampling.temperature` …). Raises `ValueError` where a number is not finite.
    """
    tiers = tier_rows(report, writing, scored=scored, parameters=parameters)
    rounds = round_rows(report, writing, scored=scored, parameters=parameters)
    return {
        **{results_name(tier.context_tokens): json_text(_results(report, tier, scored)) for tier in writing.tiers},
        "writing.csv": csv_text(tiers),
        "writing_detailed.csv": csv_text(rounds),
        "degradation_analysis.json": json_text(_analysis(report, writing)),
        "generations.txt": generations_text(report, writing, scored=scored),
    }


def results_name(context_tokens: int) -> str:
    """Name of the file with everything of one context length."""
    return f"context_{context_tokens}_results.json"


def _results(report: Report, tier: WritingTier, scored: Sequence[ScoredSample]) -> dict[str, object]:
    rounds = [item for item in in_order(scored) if item.sample.context_tokens == tier.context_tokens]
    return {**_run(report), **asdict(tier), "rounds": [_round(item) for item in rounds]}


def _run(report: Report) -> dict[str, object]:
    return {"schema_version": SCHEMA_VERSION, "run_id": report.run.run_id, "model": report.run.model}


def _round(item: ScoredSample) -> dict[str, object]:
    sample, generation, details = item.sample, item.generation, item.details
    return {
        "sample_id": sample.sample_id,
        "round": round_number(item),
        "seed": sample.seed,
        "item": sample.item,
        "outcome": outcome(item),
        "finish_reason": generation.finish_reason if generation else None,
        "score": item.score,
        **{name: details.get(name) for name in (COMPOSITE, CLASSIC_COMPOSITE, AUTHOR_DISTANCE)},
        "prompt_tokens": generation.prompt_tokens if generation else None,
        "completion_tokens": generation.completion_tokens if generation else None,
        "measures": {
            measure.name: {
                "raw": details.get(measure.name),
                "original": details.get(ORIGINAL + measure.name),
                "author_mean": details.get(AUTHOR_MEAN + measure.name),
                "author_std": details.get(AUTHOR_STD + measure.name),
                "z": details.get(Z + measure.name),
            }
            for measure in MEASURES
        },
        "text": generation.text if generation else None,
    }


def _analysis(report: Report, writing: Writing) -> dict[str, object]:
    """What the rounds say together; what stands in `context_N_results.json` alone is left there."""
    return {
        **_run(report),
        "document_id": writing.document_id,
        "continuation_point": writing.continuation_point,
        "verdict": say(writing.verdict),
        "settling_rounds": writing.settling_rounds,
        "warnings": [say(warning) for warning in writing.warnings],
        "embeddings": writing.embeddings,
        "unmeasured": list(writing.unmeasured),
        "composites": [
            {
                "context_tokens": tier.context_tokens,
                COMPOSITE: asdict(tier.composite),
                CLASSIC_COMPOSITE: asdict(tier.composite_classic),
            }
            for tier in writing.tiers
        ],
        "tests": [asdict(test) for test in writing.tests],
        "trends": [asdict(trend) for trend in writing.trends],
        "steps": [asdict(step) for step in writing.steps],
        "convergence": [
            {
                "context_tokens": tier.context_tokens,
                "measures": {level.name: _convergence(level) for level in tier.measures},
            }
            for tier in writing.tiers
        ],
        "outliers": [
            {"context_tokens": tier.context_tokens, **asdict(outlier), "round": outlier.trial + 1}
            for tier in writing.tiers
            for outlier in tier.outliers
        ],
    }


def _convergence(level: MeasureLevel) -> dict[str, object]:
    return {"mean": level.mean, "original": level.original, "cv": level.cv, "converged": level.converged}
