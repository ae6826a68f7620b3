"""A report of answers to questions shows F1, exact match and the contained share, and explains each tag."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from contextcliff.analysis.answer_measures import AnswerMeasures
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.markdown import render_markdown
from contextcliff.reporting.report_facts import EXPLAINED_TAGS, FailureTag
from contextcliff.reporting.schema import flatten, unflatten
from contextcliff.reporting.words import english, japanese
from contextcliff.tracking.metrics import measurements
from tests.reporting.made_answer_measures import MEASURES
from tests.simulated_reports import edited


@pytest.fixture(scope="module")
def report(cliff: Report) -> Report:
    bins = tuple(replace(b, failures={"verbose": 5, "wrong": 2, "timeout": 1}) for b in cliff.analysis.bins)
    return edited(cliff, bins=bins, answer_measures=MEASURES)


def test_every_measure_has_its_interval_and_n_by_length_and_over_all(report: Report) -> None:
    section = render_markdown(report, figures=[]).split("## Answers")[1].split("\n## ")[0]
    assert "| 512 | 20 | 0.30 | 0.20-0.40 | 0.10 | 0.00-0.20 | 0.60 | 0.50-0.70 |" in section
    assert "| all | 40 | 0.30 | 0.25-0.35 | 0.10 | 0.05-0.15 | 0.60 | 0.55-0.65 |" in section


def test_the_tags_that_occur_are_explained_before_any_table_of_failures(report: Report) -> None:
    page = render_markdown(report, figures=[])
    section = page.split("## Answers")[1].split("\n## ")[0]
    assert "- verbose: right, but said in too many words" in section
    assert "- wrong: " in section
    assert "- drift: " not in section
    assert page.index("- verbose: ") < page.index("verbose x5")


def test_the_console_has_one_line_and_the_tags_that_it_shows(report: Report, tmp_path: Path) -> None:
    out = io.StringIO()
    render_console(report, console=Console(file=out, width=200), folder=tmp_path, tracking_command=None)
    assert "exact match 10% (5%-15%), contain the accepted answer 60% (55%-65%); n = 40" in out.getvalue()
    assert "verbose: right, but said in too many words" in out.getvalue()
    assert "wrong: of the text" not in out.getvalue()


def test_they_are_figures_of_the_run_and_of_each_length(report: Report) -> None:
    points = {(each.key, each.step): each.value for each in measurements(report)}
    assert points["answers/contains_reference", 0] == 0.6
    assert points["answers/contains_reference_n", 0] == 40
    assert points["by_length/contains_reference", 1024] == 0.6
    assert points["by_length/contains_reference_ci_low", 512] == pytest.approx(0.5)
    assert (points["by_length/exact_match", 512], points["by_length/f1", 512]) == (0.1, 0.3)


def test_they_are_in_report_json_and_read_back(report: Report, cliff: Report) -> None:
    assert unflatten(flatten(report)).analysis.finding(AnswerMeasures) == MEASURES
    assert flatten(cliff)["answer_measures"] is None


def test_every_tag_of_the_taxonomy_is_explained_in_both_languages() -> None:
    for language in (english, japanese):
        assert len({language.say(FailureTag(tag=tag)) for tag in EXPLAINED_TAGS}) == len(EXPLAINED_TAGS)


def test_a_run_of_needles_has_none_of_it(cliff: Report) -> None:
    page = render_markdown(cliff, figures=[])
    assert "## Answers" not in page
    assert "exact match" not in page
