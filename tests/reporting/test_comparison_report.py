"""What a comparison of runs without prose writes and shows, and how its parts are told what to add."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from contextcliff.findings.finding import Line, Lines
from contextcliff.reporting.comparison import comparison
from contextcliff.reporting.comparison.comparison import ComparedRun, ComparisonPart, DecidedRun, PartResult, parts_with
from contextcliff.reporting.comparison.comparison_output import write_comparison
from tests.reporting.made_reports import compared, printed, run_of
from tests.reporting.report_pages import HOSTILE, assert_tame
from tests.simulated_reports import CLIFF, FLAT


class LuckComparison(ComparisonPart):
    """A toy: counts lucky runs."""

    key = "luck"

    def compare(
        self, runs: Sequence[ComparedRun], *, decided: Sequence[DecidedRun] = (), confidence: float
    ) -> PartResult:
        return PartResult(
            title="Luck",
            notes=("luck is no skill",),
            lines=(f"{len(runs)} lucky runs",),
            blocks=(Lines(lines=(Line(text="all were lucky"),)),),
            data={"luck": confidence},
            data_of_runs={run.name: {"lucky": True} for run in runs},
            columns=("luck",),
            cells={(runs[0].name, 512): {"luck": 7.0}},
        )


def test_runs_without_prose_need_no_part(tmp_path: Path) -> None:
    assert parts_with(key for key in run_of("a").findings) == ()
    write_comparison(compared(run_of("a"), run_of("b", FLAT)), folder=tmp_path, dpi=30)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("comparison.json", "comparison.html", "comparison.md", "comparison.csv", "curves.png"),
    }
    stored = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    # What a reader of prose looks for is there, and empty.
    assert stored["measures"] == []
    assert [run["writing_verdict"] for run in stored["runs"]] == [None, None]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "comparison.csv").read_text(encoding="utf-8"))))
    assert len(rows) == 10
    assert list(rows[0])[-4:] == ["context_length", "score", "score_std", "score_n"]


def test_what_a_part_adds_stands_on_console_page_json_and_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "PARTS", {"luck": f"{__name__}.LuckComparison"})
    runs = (run_of("a"), run_of("b"))
    (part,) = parts_with(["luck", "half_life"])
    lucky = compared(*runs, parts=[part.compare(runs, confidence=0.9)])
    write_comparison(lucky, folder=tmp_path, dpi=30)
    stored = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert stored["luck"] == 0.9
    assert stored["runs"][1]["lucky"] is True
    rows = list(csv.DictReader(io.StringIO((tmp_path / "comparison.csv").read_text(encoding="utf-8"))))
    assert [row["luck"] for row in rows] == ["7.0", *[""] * 9]
    page = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert "## Luck\n\n- all were lucky" in page
    assert "LUCK\n  - 2 lucky runs" in printed(lucky)


def test_a_file_that_a_part_left_goes_with_its_data(tmp_path: Path) -> None:
    (tmp_path / "writing.html").write_text("old", encoding="utf-8")
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    write_comparison(compared(run_of("a"), run_of("b")), folder=tmp_path, dpi=30)
    assert not (tmp_path / "writing.html").exists()
    assert (tmp_path / "mine.txt").exists()


def test_the_page_has_the_curves_the_caps_and_what_is_to_be_read_first_and_hostile_names_are_text(
    tmp_path: Path,
) -> None:
    runs = (run_of("a", CLIFF), run_of("b", FLAT), run_of(HOSTILE))
    comparison = replace(compared(*runs), notes=("mind <b>this</b>",), name=HOSTILE)
    write_comparison(comparison, folder=tmp_path, dpi=40)
    page = (tmp_path / "comparison.html").read_text(encoding="utf-8")
    assert_tame(page, scripts=0)
    assert re.search("<svg[^>]*>.*a \\(cap 4,084\\)<.*b \\(cap at least 8,180\\)<.*</svg>", page, flags=re.DOTALL)
    assert "mind &lt;b&gt;this&lt;/b&gt;" in page
    assert '<td style="text-align:right">4,084' in page
