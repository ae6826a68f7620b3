"""What is shown of documents of natural length: the histogram, the bins, the failures, several runs at once."""

from __future__ import annotations

import itertools
import json
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from contextcliff.findings.natural_lengths import length_classes
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.report import Report
from contextcliff.reporting.figures.run_curves import comparable_runs, draw_curves
from contextcliff.reporting.plan_report import render_audit
from contextcliff.reporting.schema import flatten
from contextcliff.reporting.stored_reports import stored_reports
from tests.make import known
from tests.simulated_reports import edited


@pytest.fixture(scope="module")
def report(cliff: Report) -> Report:
    return cliff


@given(st.lists(st.integers(0, 200_000), min_size=1, max_size=200))
def test_every_document_is_in_exactly_one_class(lengths: list[int]) -> None:
    classes = length_classes(lengths)
    assert sum(documents for _, _, documents in classes) == len(lengths)
    assert len(classes) <= 12
    assert all(high + 1 == low for (_, high, _), (low, _, _) in itertools.pairwise(classes))


def test_an_empty_set_has_no_class_and_can_still_be_drawn() -> None:
    assert length_classes(()) == []
    empty = LengthAudit(lengths=(), too_short=0, too_long=0, bins=())
    render_audit(empty, Console(file=StringIO()))


def test_runs_of_the_same_task_and_texts_are_drawn_together(report: Report, tmp_path: Path) -> None:
    others = {
        "same": edited(report, run_id="same", model="another"),
        "other-task": edited(report, run_id="other-task", task="another"),
        "other-texts": edited(report, run_id="other-texts", dataset="another"),
    }
    for name, other in others.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(json.dumps(flatten(other)), encoding="utf-8")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "report.json").write_text("{", encoding="utf-8")
    beside = stored_reports(tmp_path)[0]
    assert {other.run.run_id for other in comparable_runs(report, beside=beside).values()} == {
        report.run.run_id,
        "same",
    }
    drawn = known(draw_curves(report, folder=tmp_path, dpi=50, beside=beside))
    assert drawn.name == f"runs-{report.run.task}.png"


@pytest.mark.parametrize("policies", [("none", "q4_0"), ("none", "none")])
def test_runs_are_named_by_what_tells_them_apart(report: Report, tmp_path: Path, policies: tuple[str, str]) -> None:
    other = edited(report, run_id="b", kv_policy=policies[1], created_at="2027-01-01T00:00:00+00:00")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "report.json").write_text(json.dumps(flatten(other)), encoding="utf-8")
    names = list(comparable_runs(edited(report, kv_policy=policies[0]), beside=stored_reports(tmp_path)[0]))
    assert len(names) == len(set(policies))
    assert all(name.startswith(report.run.model) for name in names)
