"""`comparison.html` as a text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from contextcliff.reporting.comparison.comparison_output import write_comparison
from tests.reporting.made_reports import compared, run_of
from tests.reporting.report_pages import HOSTILE, assert_tame
from tests.simulated_reports import CLIFF, FLAT


def test_the_page_has_the_curves_the_caps_and_what_is_to_be_read_first_and_hostile_names_are_text(
    tmp_path: Path,
) -> None:
    runs = (run_of("a", CLIFF), run_of("b", FLAT), run_of(HOSTILE))
    comparison = replace(compared(*runs), notes=("mind <b>this</b>",), name=HOSTILE)
    write_comparison(comparison, folder=tmp_path, dpi=40)
    page = (tmp_path / "comparison.html").read_text(encoding="utf-8")
    assert_tame(page, scripts=0)
    assert re.search("<svg[^>]*>.*a \\(cap 4,096\\)<.*b \\(cap 8,192\\)<.*</svg>", page, flags=re.DOTALL)
    assert "mind &lt;b&gt;this&lt;/b&gt;" in page
    assert '<td style="text-align:right">4,096' in page
