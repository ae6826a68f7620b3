"""What the table of a sweep says of a job, in words."""

from __future__ import annotations

from dataclasses import replace

from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.leaderboard import cells, verdict_words

ROW = SweepRow(job=0, model="small", task="niah", kv_policy="none", state="done", verdict="cliff", evidence="settled")


def test_a_verdict_is_said_without_underscores() -> None:
    assert verdict_words(ROW) == "cliff"
    unsettled = replace(ROW, verdict="insufficient_evidence", evidence="unsettled", shape="below")
    assert verdict_words(unsettled) == "insufficient evidence"


def test_a_job_that_is_shown_to_be_below_everywhere_does_not_lack_evidence() -> None:
    below = replace(ROW, verdict="insufficient_evidence", evidence="settled", shape="below")
    assert verdict_words(below) == "below the threshold"
    assert cells([below])[0]["verdict"] == "below the threshold"
