"""The published schema of `report.json` is that of the records, and refuses what no report holds."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from contextcliff.records.report import Report
from contextcliff.reporting.report_schema import as_text, report_schema
from contextcliff.reporting.schema import flatten
from tests.reporting.search_reports import search_report
from tests.simulated_reports import edited
from tests.valid_reports import SCHEMA_FILE, faults, valid_report

Change = Callable[[dict[str, Any]], object]

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


@pytest.fixture
def written(full: Report) -> dict[str, Any]:
    """A report with every finding of a needle task, as it is written."""
    return deepcopy(valid_report(json.dumps(flatten(full))))


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
    is_current = SCHEMA_FILE.read_text(encoding="utf-8") == as_text(report_schema())
    assert is_current, "stale: python -m contextcliff.reporting.report_schema > docs/report.schema.json"


def test_it_is_a_schema_of_draft_2020_12(schema: dict[str, Any]) -> None:
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    Draft202012Validator.check_schema(schema)


def test_no_object_of_a_report_admits_further_keys(schema: dict[str, Any]) -> None:
    objects = list(objects_in(schema))
    assert len(objects) > len(schema["$defs"])
    assert all(each["additionalProperties"] is False for each in objects)


def test_every_reference_leads_to_a_definition_and_none_is_left_over(schema: dict[str, Any]) -> None:
    references = set(re.findall(r'"\$ref": "#/\$defs/(\w+)"', json.dumps(schema)))
    assert references == set(schema["$defs"])


@pytest.mark.parametrize("name", PINNED)
def test_every_pinned_key_is_required(schema: dict[str, Any], name: str) -> None:
    assert set(PINNED[name].split()) <= set((schema["$defs"][name] if name else schema)["required"])


def test_a_report_of_a_search_keeps_to_it() -> None:
    assert valid_report(json.dumps(flatten(search_report())))["search"] is not None


def test_a_report_without_findings_keeps_to_it(cliff: Report) -> None:
    bare = flatten(edited(cliff, **dict.fromkeys(cliff.analysis.findings)))
    assert bare["half_life"] is bare["guide"] is bare["early_warnings"] is None
    assert "prefill" not in bare
    assert faults(bare) == []


def _set(place: str, value: object) -> Change:
    """Puts a value at a dotted place."""

    def change(report: dict[str, Any]) -> None:
        *path, name = (int(step) if step.isdigit() else step for step in place.split("."))
        part: Any = report
        for step in path:
            part = part[step]
        part[name] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda report: report.pop("run_id"), "$: 'run_id' is a required property"),
        (lambda report: report.pop("half_life"), "$: 'half_life' is a required property"),
        (lambda report: report["bins"][1].pop("ci_low"), "$.bins[1]: 'ci_low' is a required property"),
        (lambda report: report["caps"].pop("blueprint"), "$.caps: 'blueprint' is a required property"),
        (lambda report: report["counts"].pop("pilot"), "$.counts: 'pilot' is a required property"),
    ],
)
def test_a_report_with_a_missing_key_is_refused(written: dict[str, Any], change: Change, said: str) -> None:
    change(written)
    assert faults(written) == [said]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_set("model", None), "$.model: None is not of type 'string'"),
        (_set("schema_version", 2), "$.schema_version: 1 was expected"),
        (_set("safe_cap.tokens", "4096"), "$.safe_cap.tokens: '4096' is not of type 'integer', 'null'"),
        (_set("safe_cap.censored", 0), "$.safe_cap.censored: 0 is not of type 'boolean'"),
        (_set("bins.0.max_tokens", 512.5), "$.bins[0].max_tokens: 512.5 is not of type 'integer'"),
        (_set("bins.0.failures", {"empty": None}), "$.bins[0].failures.empty: None is not of type 'integer'"),
        (_set("notes", [{"text": "<b>"}]), "$.notes[0]: {'text': '<b>'} is not of type 'string'"),
        (_set("usage", None), "$.usage: None is not of type 'object'"),
    ],
)
def test_a_report_with_a_wrong_type_is_refused(written: dict[str, Any], change: Change, said: str) -> None:
    change(written)
    assert faults(written) == [said]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("safe_cap.verdict", "steep"),
        ("safe_cap.shape", "hill"),
        ("safe_cap.evidence", "some"),
        ("zones.0.name", "calm"),
        ("guide.rows.0.level", "fine"),
        ("position.pattern", "edges"),
    ],
)
def test_a_report_with_an_unknown_name_is_refused(written: dict[str, Any], place: str, value: str) -> None:
    _set(place, value)(written)
    assert faults(written)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("verdict", "$: Additional properties are not allowed ('verdict' was unexpected)"),
        ("usage.eur", "$.usage: Additional properties are not allowed ('eur' was unexpected)"),
        ("bins.0.median", "$.bins[0]: Additional properties are not allowed ('median' was unexpected)"),
        ("caps.__proto__", "$.caps: Additional properties are not allowed ('__proto__' was unexpected)"),
    ],
)
def test_a_report_with_an_unknown_key_is_refused(written: dict[str, Any], place: str, said: str) -> None:
    _set(place, 1)(written)
    assert faults(written) == [said]


def test_a_report_with_a_number_that_json_lacks_is_refused(written: dict[str, Any]) -> None:
    for value in (math.nan, math.inf, -math.inf):
        with pytest.raises(AssertionError, match="no JSON"):
            valid_report(json.dumps({**written, "mean": value}))


def test_descriptions_are_those_of_the_records(schema: dict[str, Any]) -> None:
    cap = schema["$defs"]["SafeCap"]
    assert cap["description"].startswith("The answer: the longest tested length up to which every tested length clears")
    assert cap["properties"]["threshold_score"]["description"] == (
        "The threshold as a score; null where it is relative to a baseline without one."
    )
