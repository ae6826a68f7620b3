"""One axis of lengths in a report of prose: measured prompts, which the safe cap speaks of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextcliff.findings.drawing import length_label, length_ticks
from contextcliff.records.report import Report
from contextcliff.writing.figures import core_figure, dashboard_figure, health_figure
from contextcliff.writing.levels import as_shown, shown_lengths
from contextcliff.writing.prose_findings import Writing
from tests.reporting.figure_texts import words
from tests.simulated_reports import edited
from tests.writing.made_writing import TIERS, make_rounds, with_writing, writing_in

PROMPTS = tuple(tokens - 9 for tokens in TIERS)
"""As the server counts the prompts of made rounds."""


def without_prompts(writing: Writing) -> Writing:
    return replace(writing, tiers=tuple(replace(tier, prompt_tokens=None) for tier in writing.tiers))


def test_tables_tests_and_healthy_rounds_are_shown_by_measured_prompts(cliff: Report) -> None:
    writing = writing_in(with_writing(cliff, make_rounds(rounds=8)))
    shown = as_shown(writing)
    assert tuple(tier.context_tokens for tier in shown.tiers) == PROMPTS
    assert {test.context_tokens for test in shown.tests} <= set(PROMPTS)
    assert {step.context_tokens for step in shown.steps} <= set(PROMPTS)
    assert shown.health is not None
    assert tuple(level.context_tokens for level in shown.health.levels) == PROMPTS
    assert as_shown(shown) == shown


def test_the_sentences_name_measured_prompts_too(cliff: Report) -> None:
    verdict = str(writing_in(with_writing(cliff, make_rounds(rounds=8))).verdict)
    assert f"{PROMPTS[-1]:,} tokens" in verdict
    assert not any(f"{tokens:,}" in verdict for tokens in TIERS)


def test_every_figure_of_a_run_says_that_its_lengths_are_measured_prompts(cliff: Report) -> None:
    report = with_writing(cliff)
    writing = writing_in(report)
    for figure in (
        core_figure(report, writing),
        dashboard_figure(report, writing),
        health_figure(report, writing),
    ):
        labels = {label for axes in figure.axes if "length" in (label := axes.get_xlabel())}
        assert labels == {"prompt length in tokens, as measured"}
        assert f"{PROMPTS[0]:,}" in words(figure)
        assert f"{TIERS[0]:,}" not in words(figure)


def test_where_a_prompt_is_not_known_lengths_are_as_asked(cliff: Report) -> None:
    report = with_writing(cliff)
    writing = without_prompts(writing_in(report))
    assert shown_lengths(writing).name == "context length in tokens, as asked"
    assert as_shown(writing) == writing
    assert core_figure(report, writing).axes[1].get_xlabel() == "context length in tokens, as asked"


@pytest.mark.parametrize(("answer", "says"), [(1_000, "as measured (median"), (20, "ticks: as asked")])
def test_scores_are_on_the_same_axis_where_an_answer_makes_prompts_much_shorter(
    cliff: Report, answer: int, says: str
) -> None:
    bins = tuple(
        replace(b, asked_tokens=tokens, median_tokens=tokens - answer)
        for b, tokens in zip(cliff.analysis.bins, TIERS, strict=False)
    )
    shown = edited(cliff, bins=bins).analysis.bins
    assert says in length_label(shown)
    assert length_ticks(shown) == [tokens - answer if answer == 1_000 else tokens for tokens in TIERS]
