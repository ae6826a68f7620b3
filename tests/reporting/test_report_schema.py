"""The published schema of `report.json` is that of the records, and refuses what no report holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from contextcliff.records.report import Report
from contextcliff.reporting.data_files import json_text
from contextcliff.reporting.report_schema import report_schema
from contextcliff.reporting.schema import flatten
from tests.simulated_reports import edited
from tests.valid_reports import SCHEMA_FILE, faults

PINNED = {
    "": "schema_version run_id fingerprint model engine kv_policy task dataset tokenizer max_context_tokens bins zones"
    " safe_cap caps half_life usage counts",
    "Bin": "min_tokens median_tokens max_tokens n_samples n_unscored mean ci_low ci_high std failure_rate failures"
    " ttft_ms_median latency_ms_median",
    "Zone": "name min_tokens max_tokens",
    "SafeCap": "tokens ci_low ci_high censored fraction_of_max rule threshold confidence verdict reason shape evidence",
    "HalfLife": "tokens ci_low ci_high censored",
    "Usage": "prompt_tokens cached_tokens completion_tokens computed_prompt_tokens usd wall_s",
    "Counts": "planned completed reused unscored controls errors",
}
"""What programs outside the project read."""


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    published: dict[str, Any] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return published


def objects_in(schema: object) -> Iterator[dict[str, Any]]:
    """Every part of a schema that lists keys."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict) and "type" in schema:
            yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from objects_in(part)


def test_the_published_schema_is_that_of_the_records() -> None:
    is_current = SCHEMA_FILE.read_text(encoding="utf-8") == json_text(report_schema())
    assert is_current, "stale: python -m contextcliff.reporting.report_schema > docs/report.schema.json"


def test_no_object_of_a_report_admits_further_keys(schema: dict[str, Any]) -> None:
    objects = list(objects_in(schema))
    assert len(objects) > len(schema["$defs"])
    assert all(each["additionalProperties"] is False for each in objects)


def test_every_pinned_key_is_required(schema: dict[str, Any]) -> None:
    for name, keys in PINNED.items():
        assert set(keys.split()) <= set((schema["$defs"][name] if name else schema)["required"]), name


def test_a_report_without_findings_keeps_to_it(cliff: Report) -> None:
    bare = flatten(edited(cliff, **dict.fromkeys(cliff.analysis.findings)))
    assert bare["half_life"] is bare["guide"] is bare["early_warnings"] is None
    assert "prefill" not in bare
    assert faults(bare) == []
