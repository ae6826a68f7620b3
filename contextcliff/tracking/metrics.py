"""What of a report becomes metrics, tags and parameters. Pure: knows MLflow's rules, not its code."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass

from contextcliff.analysis.judged_by import compact, rule_of
from contextcliff.records.analysis import Bin, ControlLevel
from contextcliff.records.fact import Fact
from contextcliff.records.report import Report
from contextcliff.writing.prose_findings import WritingTier
from contextcliff.writing.words.english_writing import say

MAX_KEY = 250
MAX_PARAMETER = 6_000
MAX_TAG = 8_000
RULE = "contextcliff.rule"
_NOT_SAID = frozenset({"created_at", "command", "usage.wall_s", "counts.reused"})
"""Fields of a report that tell how it was made, and nothing of the run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """One point of a metric. `step` is a context length in tokens, 0 for a figure of the whole run."""

    key: str
    value: float
    step: int


def measurements(report: Report) -> list[Measurement]:
    """Every figure of a report that is a number: a point for each length, then the run's own figures."""
    tags = sorted({tag for each in report.bins for tag in each.failures})
    points = [(key, value, each.asked_tokens) for each in report.bins for key, value in _length_figures(each, tags)]
    points += [(key, value, each.asked_tokens) for each in report.controls for key, value in _control_figures(each)]
    if report.writing is not None:
        points += [
            (key, value, tier.context_tokens) for tier in report.writing.tiers for key, value in _writing_figures(tier)
        ]
    points += [(key, value, 0) for key, value in _run_figures(report)]
    return [
        Measurement(key=valid_key(key), value=float(value), step=step)
        for key, value, step in points
        if value is not None and math.isfinite(value)
    ]


def _length_figures(each: Bin, tags: list[str]) -> Iterator[tuple[str, float | None]]:
    yield "score", each.mean
    yield "score_ci_low", each.ci_low
    yield "score_ci_high", each.ci_high
    yield "score_tested_low", each.tested_low
    yield "failure_rate", each.failure_rate
    yield "std", each.std
    yield "n_samples", each.n_samples
    yield "n_unscored", each.n_unscored
    yield "ttft_ms_median", each.ttft_ms_median
    yield "latency_ms_median", each.latency_ms_median
    yield "instability", each.instability
    yield "within_item_variance", each.within_item_variance
    for tag in tags:
        # A tag that this length doesn't have was counted as none here: without the zero, a chart
        # would draw a line over the length.
        yield f"failure.{tag}", each.failures.get(tag, 0)


def _control_figures(each: ControlLevel) -> Iterator[tuple[str, float | None]]:
    yield "control_ceiling", each.ceiling
    yield "control_floor", each.floor


def _writing_figures(tier: WritingTier) -> Iterator[tuple[str, float | None]]:
    yield "writing.composite", tier.composite.mean
    yield "writing.composite_ci_low", tier.composite.ci_low
    yield "writing.composite_ci_high", tier.composite.ci_high
    yield "writing.composite_classic", tier.composite_classic.mean
    for level in tier.measures:
        yield f"writing.{level.name}", level.mean
        yield f"writing.{level.name}_std", level.std
        yield f"writing.{level.name}_original", level.original
        yield f"writing.{level.name}_z", level.z


def _run_figures(report: Report) -> Iterator[tuple[str, float | None]]:
    cap, counts, usage = report.safe_cap, report.counts, report.usage
    half, judged = report.half_life, report.judgement
    yield "safe_cap_tokens", cap.tokens
    yield "safe_cap_fraction", cap.fraction_of_max
    yield "safe_cap_ci_low", cap.ci_low
    yield "safe_cap_ci_high", cap.ci_high
    yield "half_life_tokens", half.tokens
    yield "half_life_ci_low", half.ci_low
    yield "half_life_ci_high", half.ci_high
    yield "half_life_lsq", report.half_life_lsq
    yield "position_p_value", report.position.p_value
    if judged is not None:
        yield "judge_disagreement", judged.share
        yield "judge_mean_rating", judged.mean_rating
    yield "mean_score", report.mean
    yield "successes", report.successes
    yield "planned", counts.planned
    yield "completed", counts.completed
    yield "reused", counts.reused
    yield "unscored", counts.unscored
    yield "prompt_tokens", usage.prompt_tokens
    yield "cached_tokens", usage.cached_tokens
    yield "computed_prompt_tokens", usage.computed_prompt_tokens
    yield "completion_tokens", usage.completion_tokens
    yield "usd", usage.usd
    yield "wall_s", usage.wall_s
    if usage.judge is not None:
        yield "judge_prompt_tokens", usage.judge.prompt_tokens
        yield "judge_completion_tokens", usage.judge.completion_tokens
        yield "judge_usd", usage.judge.usd
    for rule, tokens in report.caps.items():
        yield f"caps.{rule}", tokens


def tags(report: Report) -> dict[str, str]:
    """What runs are filtered and grouped by."""
    named = {
        "contextcliff.run_id": report.run_id,
        "contextcliff.fingerprint": report.fingerprint,
        "contextcliff.label": report.label,
        "contextcliff.digest": digest(report),
        RULE: json.dumps(dict(compact(rule_of(report)))),
        "model": report.model,
        "task": report.task,
        "task_kind": report.task_kind,
        "kv_policy": report.kv_policy,
        "rope": report.rope or "as trained",
        "engine": report.engine,
        "dataset": report.dataset,
        "dataset_kind": report.dataset_kind,
        "texts": report.texts,
        "verdict": report.safe_cap.verdict,
        "partial": str(report.partial).lower(),
    }
    if report.api:
        named["api"] = report.api
    if report.writing is not None:
        named["writing_verdict"] = say(report.writing.verdict)
    if report.position.pattern is not None:
        named["position_pattern"] = report.position.pattern
    return {key: value[:MAX_TAG] for key, value in named.items()}


def parameters(flattened: Mapping[str, str]) -> dict[str, str]:
    """The configuration as MLflow takes it: valid keys, no two alike, values cut at the limit."""
    kept: dict[str, str] = {}
    for name, value in flattened.items():
        key, copies = valid_key(name), 1
        while key in kept:
            copies += 1
            key = f"{valid_key(name)[: MAX_KEY - 8]}_{copies}"
        kept[key] = value[:MAX_PARAMETER]
    return kept


def valid_key(name: str) -> str:
    """A name that MLflow takes on every platform: it would read a slash as a folder."""
    key = re.sub(r"[^\w.\- ]", "_", name)[:MAX_KEY]
    return key if key.strip(". ") and not key.startswith("..") else f"_{key}"[:MAX_KEY]


def digest(report: Report) -> str:
    """SHA-256 of all that a report says: of every field but those of `_NOT_SAID`."""
    return hashlib.sha256(json.dumps(_said(report), sort_keys=True).encode()).hexdigest()


def _said(value: object, path: str = "") -> object:
    """As JSON's own types. `dataclasses.asdict` copies, and a read-only mapping can't be copied."""
    if isinstance(value, Fact):
        return say(value)
    if is_dataclass(value) and not isinstance(value, type):
        inner = {field.name: f"{path}.{field.name}" if path else field.name for field in fields(value)}
        return {name: _said(getattr(value, name), at) for name, at in inner.items() if at not in _NOT_SAID}
    if isinstance(value, Mapping):
        return {str(key): _said(item, f"{path}[]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_said(item, f"{path}[]") for item in value]
    return value
