"""Reports checked against the published schema, `docs/report.schema.json`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA_FILE = Path(__file__).resolve().parent.parent / "docs" / "report.schema.json"


def valid_report(text: str) -> dict[str, Any]:
    """The report that a `report.json` holds. Raises `AssertionError` where it is not as the schema says."""
    report: dict[str, Any] = json.loads(text, parse_constant=_refuse)
    assert faults(report) == []
    return report


def faults(report: object) -> list[str]:
    """What the schema does not allow in a report: where it stands, and why."""
    return [f"{fault.json_path}: {fault.message}" for fault in _validator().iter_errors(report)]


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")
