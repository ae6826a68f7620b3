"""Every finding of every planted law: what it shows, draws and measures, and that it comes back from the file."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from contextcliff.findings.finding import findings_of, findings_with
from contextcliff.findings.phrases import interval_outward
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.language import catalogue
from contextcliff.reporting.reporting_settings import LanguageName
from contextcliff.reporting.schema import flatten, unflatten
from tests.golden.test_shown_reports import EDITS, REPORTS
from tests.valid_reports import valid_report

# No run leaves a report without caps.
LAWS = [*REPORTS, *(name for name in EDITS if name != "nothing but a head")]


def report_of(law: str) -> Report:
    if law in REPORTS:
        return REPORTS[law]()
    of, change = EDITS[law]
    return change(REPORTS[of]())


@pytest.mark.parametrize("law", LAWS)
def test_every_finding_of_a_report_keeps_to_the_schema_comes_back_and_is_shown_as_before(law: str) -> None:
    report = report_of(law)
    written = json.dumps(flatten(report))
    valid_report(written)
    back = unflatten(json.loads(written))
    assert json.dumps(flatten(back)) == written
    for finding in findings_of(report):
        assert str([*finding.metrics(back)]) == str([*finding.metrics(report)])
        assert [type(block) for block in finding.short(back)] == [type(block) for block in finding.short(report)]
        # A sentence from a file has lost what kind of note it was: one may be shown in another place.
        assert len(finding.show(back)) + len(finding.look(back)) >= len(finding.show(report))


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("law", REPORTS)
def test_no_line_on_the_console_is_wider_than_80_columns(law: str, language: LanguageName) -> None:
    console = Console(file=io.StringIO(), width=80, color_system=None, force_terminal=False)
    render_console(
        REPORTS[law](), console=console, folder=Path("run"), tracking_command=None, language=catalogue(language)
    )
    assert isinstance(console.file, io.StringIO)
    assert max(map(cell_len, console.file.getvalue().splitlines())) <= 80


def test_a_report_from_before_a_finding_is_read_without_it() -> None:
    flat = flatten(REPORTS["everything"]())
    for finding in findings_with():
        if finding.record is not None and not finding.inline:
            less = unflatten({key: value for key, value in flat.items() if key != finding.key})
            assert less.analysis.finding(finding.record) is None


def test_beside_a_bound_that_is_rounded_down_an_interval_is_rounded_outward() -> None:
    assert interval_outward(0.806, 0.9911) == "0.80-1.00"
    assert interval_outward(0.8, 0.85) == "0.80-0.85"
    assert interval_outward(None, 0.5) == "-"
