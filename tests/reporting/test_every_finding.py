"""Every finding of every planted law: what it shows, draws and measures, how it comes back; the list of sections."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from rich.cells import cell_len

from contextcliff.findings.finding import FINDINGS, findings_of, findings_with
from contextcliff.records.analysis import Analysis
from contextcliff.records.report import Report, RunRecord
from contextcliff.reporting.reporting_settings import LanguageName
from contextcliff.reporting.schema import flatten, unflatten
from tests.golden.test_shown_reports import EDITS, REPORTS
from tests.reporting.made_reports import console_of
from tests.valid_reports import valid_report

# No run leaves a report without caps.
LAWS = [*REPORTS, *(name for name in EDITS if name != "nothing but a head")]


def report_of(law: str) -> Report:
    if law in REPORTS:
        return REPORTS[law]()
    of, change = EDITS[law]
    return change(REPORTS[of]())


@pytest.mark.parametrize("law", [law if law in REPORTS else pytest.param(law, marks=pytest.mark.slow) for law in LAWS])
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
    assert max(map(cell_len, console_of(REPORTS[law](), language).splitlines())) <= 80


def test_no_finding_takes_a_name_of_another_or_of_the_report() -> None:
    every = findings_with(FINDINGS.values())
    assert len({finding.key for finding in every}) == len(FINDINGS)
    names = [field.name for record in (RunRecord, Analysis, Report) for field in fields(record)]
    for finding in every:
        if finding.record is not None:
            names += [field.name for field in fields(finding.record)] if finding.inline else [finding.key]
    repeated = {name for name in names if names.count(name) > 1}
    assert repeated == {"notes"}  # of the run and of its analysis
    for key in filter(None, FINDINGS.values()):
        assert {each.key for each in set(findings_with([key])) - set(findings_with())} == {key}


def test_a_report_from_before_a_finding_is_read_without_it() -> None:
    flat = flatten(REPORTS["everything"]())
    for finding in findings_with():
        if finding.record is not None and not finding.inline:
            less = unflatten({key: value for key, value in flat.items() if key != finding.key})
            assert less.analysis.finding(finding.record) is None
