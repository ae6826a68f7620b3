"""What of a report becomes metrics, tags and parameters. Pure: knows MLflow's rules, not its code."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping

from contextcliff.analysis.judged_by import compact, rule_of
from contextcliff.findings.finding import Measurement, findings_of
from contextcliff.records.report import Report, shown_model
from contextcliff.reporting.run_names import with_file_names
from contextcliff.reporting.schema import flatten

_MAX_KEY = 250
_MAX_PARAMETER = 6_000
_MAX_TAG = 8_000
RULE = "contextcliff.rule"
_NOT_SAID = frozenset({"created_at", "command", "next_command", "stopped", "usage.wall_s", "counts.reused"})
_MODEL = ("model", "model.name")

CAP_TO_COME = Measurement(key="safe_cap_tokens", value=math.nan)
"""Not a number until there is a cap: MLflow lists metrics in the order in which they came."""


def measurements(report: Report) -> list[Measurement]:
    return [
        Measurement(key=valid_key(point.key), value=float(point.value), step=point.step)
        for section in findings_of(report)
        for point in section.metrics(report)
        if point.value is not None and math.isfinite(point.value)
    ]


def tags(report: Report) -> dict[str, str]:
    """What runs are filtered and grouped by; none is empty."""
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
        "partial": str(report.run.partial).lower(),
        "api": report.run.api,
        "safe_cap": report.analysis.safe_cap.in_short,
    }
    for section in findings_of(report):
        named |= section.tags(report)
    return {key: value[:_MAX_TAG] for key, value in named.items() if value}


def parameters(flattened: Mapping[str, str]) -> dict[str, str]:
    """The configuration as MLflow takes it: valid keys, values cut at the limit, no class and no path."""
    engine = flattened.get("engine", "")
    kept: dict[str, str] = {}
    for name, value in with_file_names(flattened).items():
        if name.rpartition(".")[2] == "_target_":
            continue
        kept[valid_key(name)] = (shown_model(value, engine=engine) if name in _MODEL else value)[:_MAX_PARAMETER]
    return kept


def valid_key(name: str) -> str:
    """A name that MLflow takes on every platform. Slashes stay: MLflow groups by what stands before the last one."""
    parts = (re.sub(r"[^\w.\- ]", "_", part).strip() for part in name.split("/"))
    return "/".join(part if part.strip(".") else f"_{part}" for part in parts)[:_MAX_KEY].rstrip("/ ")


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
