"""How a run was configured, for pages and comparisons of several runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from contextcliff.records.report import Report
from contextcliff.reporting.run_names import parameters_of_findings

_MOST_KEYS, _LONGEST_VALUE = 2_000, 2_000
"""Limits of what is read: the file of a configuration may be anybody's."""


def run_parameters(report: Report, configured: Mapping[str, str]) -> dict[str, str]:
    """A run's flattened configuration after what its report says: detected names come first."""
    run = report.run
    named = {
        "model": run.model,
        "kv_policy": run.kv_policy,
        "rope": run.rope,
        "engine": run.engine,
        "dataset": run.dataset,
        "text": run.texts,
        "label": run.label,
        **parameters_of_findings(report),
        "run": run.run_id,
        "created": run.created_at,
    }
    return {**named, **{key: value for key, value in configured.items() if key not in named}}


def read_parameters(manifest: Path) -> Mapping[str, str]:
    """The flattened configuration that a run's manifest keeps; empty where there is none to be read."""
    try:
        configured = json.loads(manifest.read_text(encoding="utf-8"))["configuration"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    if not isinstance(configured, dict):
        return {}
    return {str(key): str(value)[:_LONGEST_VALUE] for key, value in islice(configured.items(), _MOST_KEYS)}
