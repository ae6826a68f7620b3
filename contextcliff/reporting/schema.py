"""`report.json`, schema 1: a report as one flat object, and the way back. A finding that the run lacks is null under
its key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from contextcliff.findings.finding import FINDINGS, Finding, findings_with
from contextcliff.records.analysis import Analysis
from contextcliff.records.note import Note
from contextcliff.records.report import SCHEMA_VERSION, Counts, Report, RunRecord, Usage

_IN_FRONT = (
    *("run_id", "fingerprint", "label", "partial", "model", "simulated", "engine", "kv_policy", "task", "dataset"),
    *("tokenizer", "max_context_tokens"),
)
"""Fields of the run that stand before the analysis; the rest of them stand at the end."""


def flatten(report: Report) -> dict[str, object]:
    """A report as JSON's own types, tuples as lists."""
    run, analysis = _fields(report.run, but=("notes",)), _fields(report.analysis, but=("findings", "notes"))
    front = {"schema_version": SCHEMA_VERSION, **{name: run.pop(name) for name in _IN_FRONT}}
    took = {"usage": report.usage, "counts": report.counts, "notes": report.notes}
    return {name: plain(value) for name, value in (front | analysis | _findings(report) | took | run).items()}


def _fields(record: Any, *, but: Sequence[str] = ()) -> dict[str, object]:
    return {each.name: getattr(record, each.name) for each in fields(record) if each.name not in but}


def unflatten(flat: object) -> Report:
    """A report from what `flatten` gave. Raises `ValueError` where it is not of this schema. All notes come back as
    those of the run."""
    if not isinstance(flat, Mapping) or "simulated" not in flat:
        raise ValueError("no report of this version")
    sections = findings_with([name for name, value in flat.items() if value is not None])
    found = {section.key: _finding(section, flat) for section in sections}
    findings = {key: finding for key, finding in found.items() if finding is not None}
    return Report(
        run=_adapter(RunRecord).validate_python(_present(RunRecord, flat)),
        analysis=_adapter(Analysis).validate_python({**_present(Analysis, flat), "notes": (), "findings": findings}),
        usage=_adapter(Usage).validate_python(flat.get("usage")),
        counts=_adapter(Counts).validate_python(flat.get("counts")),
    )


def plain(value: object) -> object:
    """As JSON's own types, sentences in English. `dataclasses.asdict` can't copy a read-only mapping."""
    if isinstance(value, Note):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(item) for name, item in _fields(value).items()}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _findings(report: Report) -> dict[str, object]:
    flat: dict[str, object] = {}
    for section in findings_with(report.analysis.findings):
        finding = None if section.record is None else report.analysis.finding(section.record)
        if section.inline and finding is not None:
            flat |= _fields(finding)
        elif section.record is not None:
            flat[section.key] = finding
    return flat | {key: None for key in FINDINGS.values() if key and key not in report.analysis.findings}


def _finding(section: Finding[Any], flat: Mapping[str, object]) -> object:
    if section.record is None:
        return None
    if section.inline:
        present = _present(section.record, flat)
        return _adapter(section.record).validate_python(present) if present else None
    value = flat.get(section.key)
    return None if value is None else _adapter(section.record).validate_python(value)


def _present(record: type[Any], flat: Mapping[str, object]) -> dict[str, object]:
    return {each.name: flat[each.name] for each in fields(record) if each.name in flat}


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""Building one takes milliseconds, and an experiment's folder may hold many reports."""
