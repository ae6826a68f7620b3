"""What of a report becomes metrics, tags and parameters. Pure: knows MLflow's rules, not its code."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from contextcliff.analysis.judged_by import compact, rule_of
from contextcliff.records.analysis import Bin
from contextcliff.records.report import Report
from contextcliff.reporting.schema import flatten
from contextcliff.reporting.section import Measurement
from contextcliff.reporting.section_list import sections_of

MAX_KEY = 250
MAX_PARAMETER = 6_000
MAX_TAG = 8_000
RULE = "contextcliff.rule"
_NOT_SAID = frozenset({"created_at", "command", "usage.wall_s", "counts.reused"})
"""Fields of a report that tell how it was made, and nothing of the run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricPoint:
    """A finite value under a key that MLflow takes. `step` is a context length in tokens, 0 for the whole run."""

    key: str
    value: float
    step: int


def measurements(report: Report) -> list[MetricPoint]:
    """Every figure of a report that is a number: a point for each length, then the run's own figures."""
    tags = sorted({tag for each in report.analysis.bins for tag in each.failures})
    points = [
        *(
            Measurement(key=key, value=value, step=each.asked_tokens)
            for each in report.analysis.bins
            for key, value in _length_figures(each, tags)
        ),
        *(point for section in sections_of(report) for point in section.metrics(report)),
        *(Measurement(key=key, value=value) for key, value in _run_figures(report)),
    ]
    return [
        MetricPoint(key=valid_key(point.key), value=float(point.value), step=point.step)
        for point in points
        if point.value is not None and math.isfinite(point.value)
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


def _run_figures(report: Report) -> Iterator[tuple[str, float | None]]:
    cap, counts, usage = report.analysis.safe_cap, report.counts, report.usage
    yield "safe_cap_tokens", cap.tokens
    yield "safe_cap_fraction", cap.fraction_of_max
    yield "safe_cap_ci_low", cap.ci_low
    yield "safe_cap_ci_high", cap.ci_high
    yield "mean_score", report.analysis.mean
    yield "successes", report.analysis.successes
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
    for rule, tokens in report.analysis.caps.items():
        yield f"caps.{rule}", tokens


def tags(report: Report) -> dict[str, str]:
    """What runs are filtered and grouped by."""
    named = {
        "contextcliff.run_id": report.run.run_id,
        "contextcliff.fingerprint": report.run.fingerprint,
        "contextcliff.label": report.run.label,
        "contextcliff.digest": digest(report),
        RULE: json.dumps(dict(compact(rule_of(report)))),
        "model": report.run.model,
        "task": report.run.task,
        "task_kind": report.run.task_kind,
        "kv_policy": report.run.kv_policy,
        "rope": report.run.rope or "as trained",
        "engine": report.run.engine,
        "dataset": report.run.dataset,
        "dataset_kind": report.run.dataset_kind,
        "texts": report.run.texts,
        "verdict": report.analysis.safe_cap.verdict,
        "partial": str(report.run.partial).lower(),
    }
    if report.run.api:
        named["api"] = report.run.api
    for section in sections_of(report):
        named |= section.tags(report)
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
    """SHA-256 of all that a report says: of everything in `report.json` but the fields of `_NOT_SAID`."""
    flat = flatten(report)
    for path in _NOT_SAID:
        first, _, second = path.partition(".")
        inner = flat[first]
        if second and isinstance(inner, dict):
            inner.pop(second)
        else:
            flat.pop(first)
    return hashlib.sha256(json.dumps(flat, sort_keys=True).encode()).hexdigest()
