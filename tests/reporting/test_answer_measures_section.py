"""A report of answers to questions shows F1, exact match and the contained share, and explains each tag."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextcliff.analysis.answer_measures import AnswerMeasures
from contextcliff.records.report import Report
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
