"""How fitted lengths, the area and the effective length are shown, and what is said of figures from stopped data."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from contextcliff.findings.fitted_length import FittedLengths
from contextcliff.findings.phrases import interval_outward
from contextcliff.records.report import Report
from contextcliff.reporting.markdown import render_markdown
from contextcliff.reporting.schema import flatten, unflatten
from tests.reporting.figure_texts import drawn, overlaps
from tests.reporting.search_reports import search_report
from tests.simulated_reports import edited, simulated


def section(report: Report, name: str) -> str:
    page = render_markdown(report, figures=[])
    return re.split(r"^## ", page.split(f"\n## {name}\n")[1], flags=re.MULTILINE)[0]


def fitted_in(report: Report) -> FittedLengths:
    found = report.analysis.finding(FittedLengths)
    assert found is not None
    return found


def test_the_file_has_every_estimate_and_comes_back() -> None:
    report = simulated()
    flat = json.loads(json.dumps(flatten(report)))
    assert set(flat["fitted_length"]) == {
        *("x80", "x50", "area", "effective_length", "n_samples", "n_lengths", "relative"),
    }
    assert set(flat["fitted_length"]["x80"]) == {"tokens", "ci_low", "ci_high", "censored", "score", "reason"}
    again, found = fitted_in(unflatten(flat)), fitted_in(report)
    assert replace(again, x80=found.x80, x50=found.x50) == found
    assert replace(again.x80, reason=found.x80.reason) == found.x80


def test_a_report_of_an_earlier_version_has_none() -> None:
    flat = {name: value for name, value in flatten(simulated()).items() if name != "fitted_length"}
    assert unflatten(json.loads(json.dumps(flat))).analysis.finding(FittedLengths) is None


def test_beside_a_bound_that_is_rounded_down_an_interval_is_rounded_outward() -> None:
    assert interval_outward(0.806, 0.9911) == "0.80-1.00"
    assert interval_outward(0.8, 0.85) == "0.80-0.85"
    assert interval_outward(None, 0.5) == "-"
    rows = [line.split("|") for line in section(search_report(), "Score by length").splitlines() if line[:3] == "| 5"]
    assert rows[0][6].strip().split("-")[0] == rows[0][7].strip()


def test_a_report_without_fitted_lengths_is_drawn_as_before() -> None:
    assert overlaps(drawn(edited(simulated(), fitted_length=None), "score_by_length")) == []
