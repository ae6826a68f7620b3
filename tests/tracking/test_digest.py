"""The digest that decides whether MLflow gets a new run covers all that a report says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from contextcliff.findings.extrapolation import Extrapolation
from contextcliff.records.corpus import AuditBin, LengthAudit
from contextcliff.records.note import Note, as_it_is
from contextcliff.records.report import Report
from contextcliff.records.search_record import Search
from contextcliff.reporting.published import published_curves
from contextcliff.reporting.schema import flatten
from contextcliff.tracking.metrics import digest
from tests.analysis.test_entropy_by_length import ENTROPY
from tests.analysis.test_kv_limits import CACHE
from tests.golden.test_shown_reports import beyond_training, slow_and_shared
from tests.reporting.made_reports import MEASURES, search_report
from tests.simulated_reports import edited
from tests.tracking.tracking_runs import report
from tests.writing.made_writing import make_writing

HOW_IT_WAS_MADE = {"run.created_at", "run.command", "run.next_command", "run.stopped", "usage.wall_s", "counts.reused"}


def whole_report() -> Report:
    """A report in which every field has something to change."""
    made, warned = report(), slow_and_shared().analysis.findings
    part = AuditBin(min_tokens=100, max_tokens=900, documents=4, questions=9, drawn_documents=3, drawn_questions=8)
    return edited(
        made,
        label="tuned",
        audit=LengthAudit(lengths=(120, 800), too_short=1, too_long=2, bins=(part,)),
        usage=replace(made.usage, usd=0.25),
        counts=replace(made.counts, errors={"timeout": 2}),
        notes=("one text",),
        stopped="interrupted",
        next_command="python -m contextcliff",
        api="chat",
        rope="yarn x2",
        writing=make_writing(),
        early_warnings=warned["early_warnings"],
        answer_measures=MEASURES,
        search=search_report().analysis.finding(Search),
        kv_cache=CACHE,
        attention_entropy=ENTROPY,
        extrapolation=beyond_training().analysis.finding(Extrapolation),
        task_kind="niah",
        dataset_kind="essays",
        texts="The Tide Clerk",
        judged_by={"analysis.threshold": "0.8"},
        published=published_curves(["ruler:gpt-4-1106-preview"], key="reporting.published"),
    )


def changes(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each field below a value, by its dotted path, with the value as it is where that field alone is another."""
    if isinstance(value, Note):
        yield path, as_it_is("something else")
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            at = f"{path}.{field.name}" if path else field.name
            for name, changed in changes(getattr(value, field.name), at):
                yield name, replace(value, **{field.name: changed})
    elif path == "analysis.findings":
        for key in value:
            for name, changed in changes(value[key], f"{path}.{key}"):
                yield name, {**value, key: changed}
    elif isinstance(value, Mapping):
        yield path, {**value, "something else": 1}
        for key in list(value)[:1]:
            for name, changed in changes(value[key], f"{path}[]"):
                yield name, {**value, key: changed}
    elif isinstance(value, tuple):
        yield path, value[:-1] if value else (as_it_is("something"),)
        for name, changed in changes(value[0], f"{path}[]") if value else ():
            yield name, (changed, *value[1:])
    else:
        yield path, _another(value)


def _another(value: object) -> object:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value} and more"
        case _:
            return 1


def test_the_report_that_is_walked_has_all_its_fields() -> None:
    made = whole_report()
    assert [name for name, value in flatten(made).items() if value in (None, "", [], {})] == []


@pytest.mark.slow
def test_every_field_is_in_the_digest_but_those_that_tell_how_the_report_was_made() -> None:
    made = whole_report()
    before = digest(made)
    found = [(name, digest(changed) == before) for name, changed in changes(made)]
    assert len(found) > 200
    assert {name for name, same in found if same} == HOW_IT_WAS_MADE
