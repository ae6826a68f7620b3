"""`comparison.html` as a text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from contextcliff.reporting.comparison.comparison_output import write_comparison
from tests.reporting.compared_reports import compared, run_of
from tests.reporting.report_pages import HOSTILE, packed_in
from tests.simulated_reports import CLIFF, FLAT


def test_the_page_has_the_curves_the_caps_and_what_is_to_be_read_first(tmp_path: Path) -> None:
    comparison = replace(compared(run_of("a", CLIFF), run_of("b", FLAT)), notes=("mind <b>this</b>",))
    write_comparison(comparison, folder=tmp_path, dpi=None)
    page = (tmp_path / "comparison.html").read_text(encoding="utf-8")
    chart = packed_in(page)["charts"]["curves"]
    assert [trace["name"] for trace in chart["traces"]] == ["a (cap 4,096)", "b (cap 8,192)"]
    assert chart["layout"]["annotations"][0]["text"] == "threshold 0.80"
    assert "mind &lt;b&gt;this&lt;/b&gt;" in page
    assert '<td class="n">4,096' in page


def test_equal_curves_lie_beside_each_other(tmp_path: Path) -> None:
    write_comparison(compared(run_of("a"), run_of("b")), folder=tmp_path, dpi=None)
    page = (tmp_path / "comparison.html").read_text(encoding="utf-8")
    one, other = packed_in(page)["charts"]["curves"]["traces"]
    assert one["y"] == other["y"]
    assert all(left < right for left, right in zip(one["x"], other["x"], strict=True))


def test_a_hostile_name_is_text(tmp_path: Path) -> None:
    write_comparison(replace(compared(run_of(HOSTILE)), name=HOSTILE), folder=tmp_path, dpi=None)
    page = (tmp_path / "comparison.html").read_text(encoding="utf-8")
    assert "<script>document" not in page
    assert "<img src=x" not in page


def test_without_html_an_earlier_page_is_removed(tmp_path: Path) -> None:
    write_comparison(compared(run_of("a")), folder=tmp_path, dpi=None)
    write_comparison(compared(run_of("a")), folder=tmp_path, dpi=None, html=False)
    assert not (tmp_path / "comparison.html").exists()
