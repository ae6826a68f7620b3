"""What a leaderboard says of a job."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.leaderboard import cap_words, cells

ROW = SweepRow(job=0, model="small", task="niah", kv_policy="none", state="done", verdict="cliff", evidence="settled")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (replace(ROW, outcome="safe", limited_by="quality", cap_tokens=2_047), "2,047"),
        (replace(ROW, outcome="safe", censored=True, cap_tokens=7_992), "at least 7,992"),
        (replace(ROW, outcome="safe", censored=True, cap_tokens=7_992, state="partial"), "at least 7,992 (partial)"),
        (replace(ROW, outcome="below", limited_by="quality"), "below"),
        (replace(ROW, outcome="undecided", limited_by="latency"), "undecided"),
        (replace(ROW, state="failed", evidence=""), "failed"),
        (replace(ROW, state="running", evidence=""), "under way"),
    ],
)
def test_a_job_without_a_cap_says_why(row: SweepRow, said: str) -> None:
    assert cap_words(row) == said
    (cell,) = cells([row])
    assert cell["safe_cap"] == said
    assert cell["limited_by"] == (row.limited_by or "")


def test_a_verdict_is_said_without_underscores() -> None:
    unsettled = replace(ROW, verdict="insufficient_evidence", evidence="unsettled", shape="below")
    assert cells([unsettled])[0]["verdict"] == "insufficient evidence"
