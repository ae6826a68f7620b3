"""How a search is shown: on the console, in the page, in the file, in a figure and as metrics."""

from __future__ import annotations

from typing import Any

import pytest

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.reporting.markdown import render_markdown
from tests.make import analysed_search, plan_of, searched
from tests.reporting.made_reports import console_of, search_report


@pytest.mark.parametrize(
    "law",
    [
        {},
        {"cliff_at": 100},
        {"most_asked": 4},
        {"cliff_at": 9_000},
        {"before": 0.8},
        {"relative": True},
        {"most_asked": 1, "relative": True},
        {"before": 0.1, "relative": True},
    ],
    ids=["cliff", "below", "open", "whole range", "unsettled", "share", "share open", "low baseline"],
)
def test_no_sentence_of_a_fixed_design_is_said_of_a_search(law: Any) -> None:
    report = search_report(**law)
    text = f"{render_markdown(report, figures=())} {' '.join(console_of(report).split())}"
    for wrong in ("too few", "a new run with", "exact for 0/1", "at every length tested", "samples were planned"):
        assert wrong not in text
    if report.analysis.safe_cap.tokens is None:
        assert report.analysis.caps["any_depth"] is None
        assert not report.analysis.safe_cap.censored


def test_a_length_of_which_nothing_was_scored_is_said_to_be_that() -> None:
    plan = plan_of(512, 1_024)
    samples = searched(plan, lambda length, _: 1.0 if length == 512 else None, AnalysisSettings())
    analysis = analysed_search(plan, samples)
    assert (analysis.safe_cap.tokens, analysis.safe_cap.verdict) == (512, "insufficient_evidence")
    assert str(analysis.safe_cap.reason).endswith(
        "; at 1,024 all 11 samples are unscored (timeout), and no further answers there could make it clear; look at "
        "the server's log; the same command asks again what has no answer"
    )
