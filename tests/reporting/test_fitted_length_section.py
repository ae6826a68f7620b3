"""How fitted lengths, the area and the effective length are shown, and what is said of figures from stopped data."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from contextcliff.analysis.fitted_length import FittedLengths
from contextcliff.records.report import Report
from contextcliff.reporting.markdown import render_markdown
from contextcliff.reporting.phrases import interval_outward
from contextcliff.reporting.schema import flatten, unflatten
from contextcliff.reporting.section_list import sections_of
from tests.reporting.figure_texts import drawn, overlaps
from tests.reporting.search_reports import search_report
from tests.simulated_reports import CLIFF, FLAT, FULL, NOTHING_SCORED, WITHOUT_CAP, Law, edited, simulated

MARK = "estimates from stopped data"


def section(report: Report, name: str) -> str:
    page = render_markdown(report, figures=[])
    return re.split(r"^## ", page.split(f"\n## {name}\n")[1], flags=re.MULTILINE)[0]


def fitted_in(report: Report) -> FittedLengths:
    found = report.analysis.finding(FittedLengths)
    assert found is not None
    return found


def test_the_section_says_what_each_estimate_is_and_how_many_samples_it_rests_on() -> None:
    text = section(simulated(), "Fitted length")
    for explained in (
        "x80 and x50 are the prompt lengths",
        "The area is the mean score",
        "The effective length is RULER",
    ):
        assert explained in text
    assert "| Samples | 100 |" in text
    assert "| Effective length | 4,096 tokens" in text
    assert text.startswith("\nEstimates beside the cap")


def test_a_run_judged_by_a_share_of_its_baseline_has_fitted_lengths_of_such_a_share() -> None:
    relative = search_report(relative=True)
    assert "80% and 50% of its value at the shortest length" in section(relative, "Fitted length")
    assert "80% and 50% of its value" not in section(simulated(), "Fitted length")


def test_without_a_score_there_is_no_such_section() -> None:
    assert "## Fitted length" not in render_markdown(simulated(NOTHING_SCORED), figures=[])
    assert flatten(simulated(NOTHING_SCORED))["fitted_length"] is None


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


def test_each_estimate_is_a_metric_and_one_that_there_is_not_has_no_value() -> None:
    found = fitted_in(simulated())
    values = {point.key: point.value for each in sections_of(simulated()) for point in each.metrics(simulated())}
    assert (values["fitted/x80_tokens"], values["fitted/x80_ci_low"]) == (found.x80.tokens, found.x80.ci_low)
    assert (values["fitted/x50_ci_high"], values["fitted/effective_length"]) == (found.x50.ci_high, 4_096)
    assert found.area is not None
    assert values["fitted/score_area"] == found.area.value
    flat = {point.key: point.value for each in sections_of(simulated(FLAT)) for point in each.metrics(simulated(FLAT))}
    assert flat["fitted/x80_tokens"] is None


def test_the_half_life_is_in_caps_and_not_among_the_cap_rules_of_the_page() -> None:
    assert "half_life" in simulated().analysis.caps
    assert "half_life" not in section(simulated(), "Appendix: every cap rule")


def test_figures_that_other_tools_give_stand_in_the_appendix_alone() -> None:
    page = render_markdown(simulated(FULL), figures=[])
    body, appendix = page.split("## Appendix: further figures")
    for word in ("Sarle", "olling variance", "least squares"):
        assert word not in body
        assert word in appendix


@pytest.mark.parametrize("name", ["Fitted length", "Half-life", "Position", "Score by length"])
def test_what_is_estimated_from_stopped_data_is_marked_in_a_search_and_nowhere_else(name: str) -> None:
    assert MARK in section(search_report(), name)
    assert MARK not in section(simulated(FULL), name)


def test_intervals_of_a_search_are_said_to_hold_whenever_it_stopped() -> None:
    method = section(search_report(), "Method")
    assert "confidence sequence" in method
    assert "Wilson" not in method
    assert "Wilson" in section(simulated(), "Method")


def test_beside_a_bound_that_is_rounded_down_an_interval_is_rounded_outward() -> None:
    assert interval_outward(0.806, 0.9911) == "0.80-1.00"
    assert interval_outward(0.8, 0.85) == "0.80-0.85"
    assert interval_outward(None, 0.5) == "-"
    rows = [line.split("|") for line in section(search_report(), "Score by length").splitlines() if line[:3] == "| 5"]
    assert rows[0][6].strip().split("-")[0] == rows[0][7].strip()


@pytest.mark.parametrize("law", [CLIFF, FLAT, WITHOUT_CAP])
def test_the_figure_marks_the_fitted_lengths_that_there_are(law: Law) -> None:
    report = simulated(law)
    figure = drawn(report, "score_by_length")
    assert overlaps(figure) == []
    labels = [text for legend in figure.axes[0].get_children() for text in _texts_of(legend)]
    has_one = any(each.tokens is not None for each in (fitted_in(report).x80, fitted_in(report).x50))
    assert ("fitted length and its interval" in labels) == has_one


def test_a_report_without_fitted_lengths_is_drawn_as_before() -> None:
    assert overlaps(drawn(edited(simulated(), fitted_length=None), "score_by_length")) == []


def _texts_of(artist: object) -> list[str]:
    from matplotlib.legend import Legend

    return [text.get_text() for text in artist.get_texts()] if isinstance(artist, Legend) else []
