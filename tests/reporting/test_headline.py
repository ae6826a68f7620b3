"""The first line of a report, which stdout ends with, and what its reader is told to do."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from contextcliff.findings.answer import AnswerFinding
from contextcliff.findings.finding import Code, Pairs, Text
from contextcliff.findings.phrases import headline
from contextcliff.records.analysis import Limit
from contextcliff.records.note import Note
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_cap
from contextcliff.reporting.text import catalogue
from tests.simulated_reports import FLAT, WITHOUT_CAP, Law, edited, simulated

HOPELESS = Law(right=(2, 2, 1, 0, 0))


def capped(report: Report, **changes: object) -> Report:
    cap = replace(report.analysis.safe_cap, **changes)  # type: ignore[arg-type]  # fields of the cap
    return edited(report, safe_cap=cap)


BY_MEMORY = capped(simulated(FLAT), tokens=1_500, limited_by="memory", limits=(Limit(name="memory", outcome="safe"),))
LATE = Limit(name="latency", outcome="undecided", why=Note("too few requests"), at_tokens=512, more=4)


@pytest.mark.parametrize(
    ("report", "said", "japanese", "mood"),
    [
        (edited(simulated(FLAT), partial=True, stopped="out of budget"),
         "SAFE CAP: at least 8,180 tokens (PARTIAL: stopped by the budget)",
         "安全な上限: 8,180 トークン以上（途中まで: 予算で停止）", "good"),
        (BY_MEMORY, "SAFE CAP: 1,500 tokens (limited by memory, 95% confidence)",
         "安全な上限: 1,500 トークン（メモリによる。信頼度 95%）", "good"),
        (simulated(HOPELESS), "NOT SAFE: the score is 0.10 at the shortest length already (500 tokens)",
         "安全でない: 最短の長さ（500 トークン）ですでにスコアが 0.10", "bad"),
        (simulated(WITHOUT_CAP), "UNDECIDED: 4 samples at 500 tokens do not decide it (score 1.00)",
         "未決定: 500 トークンのサンプル 4 件では決まらない（スコア 1.00）", "doubtful"),
    ],
)  # fmt: skip
def test_the_first_line_says_the_outcome(report: Report, said: str, japanese: str, mood: str) -> None:
    """Those of the planted laws are in the golden reports."""
    assert str(headline(report)) == said
    assert headline(report).said(catalogue("ja")) == japanese
    text, *_ = AnswerFinding().short(report)
    assert isinstance(text, Text)
    assert (text.strong, text.mood) == (True, mood)


def test_no_line_break_enters_the_last_line() -> None:
    out = io.StringIO()
    render_cap(simulated(HOPELESS), console=Console(file=out, width=20))
    assert out.getvalue() == "NOT SAFE: the score is 0.10 at the shortest length already (500 tokens)\n"


@pytest.mark.parametrize(
    ("report", "do"),
    [
        (BY_MEMORY, "keep prompts to 1,500 tokens or fewer"),
        (simulated(HOPELESS), "use none of the tested lengths; test shorter ones, or an easier task"),
        (capped(simulated(FLAT), outcome="undecided", tokens=None, limited_by="latency", limits=(LATE,)),
         "get about 4 more answers at 512 tokens"),
        (capped(simulated(FLAT), outcome="below", tokens=None, limited_by="latency"),
         "allow more time (analysis.latency_slo_ms), or test shorter lengths"),
        (capped(simulated(FLAT), outcome="undecided", tokens=None, limited_by="memory"), "say what the weights are"),
    ],
)  # fmt: skip
def test_what_to_do_follows_from_the_outcome(report: Report, do: str) -> None:
    _, pairs = AnswerFinding().short(report)
    assert isinstance(pairs, Pairs)
    assert str(dict(pairs.rows)["Do"]) == do


def test_the_command_that_decides_it_stands_in_a_line_of_its_own() -> None:
    command = "python -m contextcliff engine=vllm task.trials=auto"
    _, pairs, code = AnswerFinding().short(edited(simulated(WITHOUT_CAP), next_command=command))
    assert isinstance(pairs, Pairs)
    assert str(dict(pairs.rows)["Do"]).endswith(", by the command below")
    assert code == Code(text=command)
