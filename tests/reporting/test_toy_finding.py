"""A finding is one file and one line of `FINDINGS`; it is then wherever a report is."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from contextcliff.findings import finding
from contextcliff.findings.finding import FinishedRun
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.figures import draw_figures
from contextcliff.reporting.files import write_report_files
from contextcliff.reporting.schema import flatten
from contextcliff.reporting.stored_reports import read_report
from contextcliff.tracking.metrics import digest, measurements, tags
from tests.simulated_reports import CLIFF, edited, simulated

FILE = '''
"""The largest fall of the mean score between neighbouring lengths."""

from dataclasses import dataclass
from itertools import pairwise

from contextcliff.findings import drawing
from contextcliff.findings.finding import Finding, Image, Pairs, Text
from contextcliff.records.note import Note


@dataclass(frozen=True, kw_only=True, slots=True)
class LargestFall:
    """From the mean score at one length to that at the next."""

    from_tokens: int
    to_tokens: int
    fall: float


def _figure(found):
    figure, axes = drawing.blank(width=3, height=2)
    axes.plot([found.from_tokens, found.to_tokens], [found.fall, 0.0])
    return figure


class LargestFallFinding(Finding[LargestFall]):
    key = "largest_fall"
    title = "Largest fall"
    record = LargestFall
    cap_rules = {"before_largest_fall": "the length from which most is lost"}

    def find(self, study):
        falls = [
            LargestFall(from_tokens=a.asked_tokens, to_tokens=b.asked_tokens, fall=a.mean - b.mean)
            for a, b in pairwise(b for b in study.bins if b.mean is not None)
        ]
        return max(falls, key=lambda found: found.fall, default=None)

    def caps(self, found, study):
        return {"before_largest_fall": found.from_tokens}

    def short(self, report):
        return (Text(text=Note("most is lost at {to:,} tokens", to=self.of(report).to_tokens)),)

    def look(self, report):
        return (Text(text=Note("the score falls by {fall:.2f}", fall=self.of(report).fall)),)

    def show(self, report):
        found = self.of(report)
        figure = Image(name="largest_fall", caption="The largest fall", draw=lambda: _figure(found))
        return (Pairs(rows=(("To", f"{found.to_tokens:,}"),)), figure)

    def tags(self, report):
        return {"has_largest_fall": "true"}
'''
LINE = "toy_largest_fall.LargestFallFinding"


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """A run's report once the finding is there."""
    (tmp_path / "toy_largest_fall.py").write_text(FILE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(finding, "FINDINGS", {**finding.FINDINGS, LINE: ""})
    # Without the cache of the session: no other test may meet the finding.
    return simulated.__wrapped__(CLIFF)


def finished(report: Report) -> FinishedRun:
    return FinishedRun(report=report, scored=(), parameters={})


def test_it_is_in_report_json_and_read_back(report: Report, tmp_path: Path) -> None:
    write_report_files(finished(report), manifest={}, folder=tmp_path, figures=False)
    flat = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert flat["largest_fall"] == {"from_tokens": 4096, "to_tokens": 8192, "fall": pytest.approx(0.55)}
    assert flat["caps"]["before_largest_fall"] == 4096
    again = read_report(tmp_path / "report.json")
    assert again.analysis.findings["largest_fall"] == report.analysis.findings["largest_fall"]
    assert flatten(again) == flat
    del flat["largest_fall"]  # a report from before the finding
    (tmp_path / "report.json").write_text(json.dumps(flat), encoding="utf-8")
    assert flatten(read_report(tmp_path / "report.json"))["largest_fall"] is None


def test_it_is_on_the_console_and_in_the_report_with_its_figure(report: Report, tmp_path: Path) -> None:
    out = io.StringIO()
    render_console(report, console=Console(file=out, width=80), folder=tmp_path, tracking_command=None)
    assert "most is lost at 8,192 tokens" in out.getvalue()
    write_report_files(finished(report), manifest={}, folder=tmp_path, figures=True)
    draw_figures(edited(report, bins=(), cells=()), folder=tmp_path / "figures", dpi=40)
    answer, _, rest = (tmp_path / "report.md").read_text(encoding="utf-8").partition("## Worth a look")
    look, _, details = rest.partition("<details>")
    assert "most is lost at 8,192 tokens" in answer
    assert "- the score falls by 0.55" in look
    assert "| before_largest_fall | 4,096 | the length from which most is lost |" in details
    shown = details.partition("### Largest fall")[2]
    assert "| To | 8,192 |" in shown
    assert "![The largest fall](figures/largest_fall.png)" in shown
    assert (tmp_path / "figures" / "largest_fall.png").read_bytes().startswith(b"\x89PNG")


def test_it_is_a_metric_a_tag_and_part_of_the_digest(report: Report) -> None:
    (point,) = (each for each in measurements(report) if each.key == "largest_fall/fall")
    assert point.step == 0
    assert point.value == pytest.approx(0.55)
    assert tags(report)["has_largest_fall"] == "true"
    assert digest(report) != digest(edited(report, largest_fall=None))
