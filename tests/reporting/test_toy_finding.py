"""A finding is one file and one line in the list of findings; it is then wherever a report is."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from contextcliff.findings import finding
from contextcliff.findings.finding import Listed
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.files import write_report_files
from contextcliff.reporting.schema import flatten
from contextcliff.reporting.stored_reports import read_report
from contextcliff.tracking.metrics import digest, measurements, tags
from tests.simulated_reports import CLIFF, edited, simulated

FINDING = '''
"""The largest fall of the mean score between neighbouring lengths."""

from dataclasses import dataclass
from itertools import pairwise

from contextcliff.findings.drawing import blank
from contextcliff.findings.finding import FigureOf, Finding, Image, Line, Measurement, Pairs, Text, from_finding


@dataclass(frozen=True, kw_only=True, slots=True)
class LargestFall:
    """From the mean score at one length to that at the next."""

    from_tokens: int
    to_tokens: int
    fall: float


def _figure(report, finding):
    figure, axes = blank(width=3, height=2)
    axes.plot([finding.from_tokens, finding.to_tokens], [finding.fall, 0.0])
    return figure


class LargestFallFinding(Finding[LargestFall]):
    key = "largest_fall"
    title = "Largest fall"
    record = LargestFall
    cap_rules = {"before_largest_fall": "the length from which most is lost"}
    figures = (
        FigureOf(
            name="largest_fall",
            caption="The largest fall",
            has_data=lambda report: report.analysis.finding(LargestFall) is not None,
            draw=from_finding(LargestFall, _figure),
        ),
    )

    def find(self, study):
        scored = [b for b in study.bins if b.mean is not None]
        falls = [
            LargestFall(from_tokens=a.asked_tokens, to_tokens=b.asked_tokens, fall=a.mean - b.mean)
            for a, b in pairwise(scored)
        ]
        return max(falls, key=lambda found: found.fall, default=None)

    def caps(self, found, study):
        return {"before_largest_fall": found.from_tokens}

    def look(self, report):
        finding = self.of(report)
        text = "" if finding is None else f"the score falls by {finding.fall:.2f} at {finding.to_tokens:,} tokens"
        return (Line(text=text, mood="doubtful"),) if text else ()

    def show(self, report):
        found = self.of(report)
        return () if found is None else (Pairs(rows=(("To", f"{found.to_tokens:,}"),)), Image(figure="largest_fall"))

    def metrics(self, report):
        found = self.of(report)
        yield Measurement(key="largest_fall", value=None if found is None else found.fall)

    def tags(self, report):
        return {"has_largest_fall": str(self.of(report) is not None).lower()}
'''

LINE = Listed(path="toy_largest_fall.LargestFallFinding")


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """A run's report once the finding is there."""
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "toy_largest_fall.py").write_text(FINDING, encoding="utf-8")
    monkeypatch.syspath_prepend(modules)
    monkeypatch.setattr(finding, "FINDINGS", (*finding.FINDINGS, LINE))
    # Without the cache of the session: no other test may meet the finding.
    return simulated.__wrapped__(CLIFF)


def test_it_is_in_report_json_and_read_back(report: Report, tmp_path: Path) -> None:
    write_report_files(report, scored=(), manifest={}, folder=tmp_path, figures=False)
    flat = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert flat["largest_fall"] == {"from_tokens": 4096, "to_tokens": 8192, "fall": pytest.approx(0.55)}
    assert flat["caps"]["before_largest_fall"] == 4096
    again = read_report(tmp_path / "report.json")
    assert again.analysis.findings["largest_fall"] == report.analysis.findings["largest_fall"]
    assert flatten(again) == flat


def test_it_is_on_the_console_and_in_the_report_with_its_figure(report: Report, tmp_path: Path) -> None:
    out = io.StringIO()
    render_console(report, console=Console(file=out, width=80), folder=tmp_path, tracking_command=None)
    assert "the score falls by 0.55 at 8,192 tokens" in out.getvalue().split("WARNINGS")[1]


def test_it_is_on_the_page_with_its_figure_and_its_cap_rule(folder: Path) -> None:
    page = (folder / "report.md").read_text(encoding="utf-8")
    assert "| before_largest_fall | 4,096 | the length from which most is lost |" in page
    section = page.split("## Largest fall")[1]
    assert "Where most is lost." in section
    assert "| To | 8,192 |" in section
    assert "![The largest fall](figures/largest_fall.png)" in section
    assert (folder / "figures" / "largest_fall.png").read_bytes().startswith(b"\x89PNG")


def test_it_is_a_metric_a_tag_and_part_of_the_digest(report: Report) -> None:
    (point,) = (each for each in measurements(report) if each.key == "largest_fall")
    assert point.step == 0
    assert point.value == pytest.approx(0.55)
    assert tags(report)["has_largest_fall"] == "true"
    assert digest(report) != digest(edited(report, largest_fall=None))


def test_a_report_from_before_the_finding_is_still_read(report: Report, tmp_path: Path) -> None:
    flat = flatten(report)
    del flat["largest_fall"]
    (tmp_path / "report.json").write_text(json.dumps(flat), encoding="utf-8")
    again = read_report(tmp_path / "report.json")
    assert "largest_fall" not in again.analysis.findings
    assert flatten(again)["largest_fall"] is None
