"""`report.json`, schema 1: a report as one flat object, and the way back. A finding that the run lacks is null under
its key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from contextcliff.findings.finding import FINDINGS, Finding, findings_with
from contextcliff.records.analysis import Analysis, outcome_of
from contextcliff.records.note import Note
from contextcliff.records.report import (
    EMBEDDED,
    SCHEMA_VERSION,
    SIMULATED,
    STARTED_HERE,
    Counts,
    Report,
    RunRecord,
    Usage,
    shown_model,
)

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
    """A report from what `flatten` gave, now or in an earlier version. Raises `ValueError` where it is not of this
    schema. All notes come back as those of the run."""
    if not isinstance(flat, Mapping):
        raise ValueError("a report is an object")
    flat = _with_outcome(flat)
    sections = findings_with([name for name, value in flat.items() if value is not None])
    found = {section.key: _finding(section, flat) for section in sections}
    findings = {key: finding for key, finding in found.items() if finding is not None}
    report = Report(
        run=_adapter(RunRecord).validate_python(_present(RunRecord, flat)),
        analysis=_adapter(Analysis).validate_python({**_present(Analysis, flat), "notes": (), "findings": findings}),
        usage=_adapter(Usage).validate_python(flat.get("usage")),
        counts=_adapter(Counts).validate_python(flat.get("counts")),
    )
    return report if "simulated" in flat else _as_shown_now(report)


def _as_shown_now(report: Report) -> Report:
    """The report of an earlier version, whose model and KV policy had no names for tables."""
    from contextcliff.findings.kv_cache import KVCache

    run, cache = report.run, report.analysis.finding(KVCache)
    model, simulated = shown_model(run.model, engine=run.engine), run.engine == SIMULATED
    run = replace(run, model=model, simulated=simulated)
    if cache is None:
        return replace(report, run=run)
    facts = cache.facts
    remote = run.engine not in (*EMBEDDED, SIMULATED) and STARTED_HERE not in run.server
    is_plain = not facts.evicts and facts.key_type == facts.value_type == "f16"
    facts = replace(facts, as_started=remote and is_plain and not facts.declared)
    findings = {**report.analysis.findings, "kv_cache": replace(cache, facts=facts)}
    run, analysis = replace(run, kv_policy=facts.shown), replace(report.analysis, findings=findings)
    return replace(report, run=run, analysis=analysis)


def _with_outcome(flat: Mapping[str, object]) -> Mapping[str, object]:
    """A report of an earlier version with the outcome that its safe cap stands for: that of the answers alone."""
    cap = flat.get("safe_cap")
    if not isinstance(cap, Mapping) or "outcome" in cap:
        return flat
    outcome = outcome_of(cap.get("tokens"), cap.get("shape"), cap.get("evidence"))
    no_fall = cap.get("censored") or (flat.get("partial") and cap.get("ci_high") is None)
    limited_by = None if outcome == "safe" and no_fall else "quality"
    return {**flat, "safe_cap": {**cap, "outcome": outcome, "limited_by": limited_by}}


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
