"""The list of sections: nothing in it is there twice, and what few runs have is loaded for them alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields

import pytest

from contextcliff.findings.finding import FINDINGS, findings_with
from contextcliff.records.analysis import Analysis
from contextcliff.records.report import Report, RunRecord

ALL = findings_with([each.only_for for each in FINDINGS])


def names_in_json() -> Iterator[str]:
    """What sections put at the top level of `report.json`."""
    for section in ALL:
        if section.record is not None:
            yield from [field.name for field in fields(section.record)] if section.inline else [section.key]


def test_every_section_has_a_key_of_its_own_and_every_figure_a_name() -> None:
    keys = [section.key for section in ALL]
    figures = [figure.name for section in ALL for figure in section.figures]
    assert len(keys) == len(set(keys)) == len(FINDINGS)
    assert len(figures) == len(set(figures))


def test_no_finding_takes_a_name_of_the_report() -> None:
    names = list(names_in_json())
    taken = {field.name for record in (RunRecord, Analysis, Report) for field in fields(record)}
    assert len(names) == len(set(names))
    assert not set(names) & taken


def test_a_section_that_few_runs_have_is_under_its_own_key() -> None:
    for each in FINDINGS:
        if each.only_for:
            (section,) = set(findings_with([each.only_for])) - set(findings_with())
            assert section.key == each.only_for


@pytest.mark.slow
def test_a_report_of_needles_loads_nothing_of_the_writing() -> None:
    program = (
        "import sys\n"
        "from contextcliff.findings.finding import findings_with\n"
        "assert findings_with()\n"
        "import contextcliff.reporting.console, contextcliff.reporting.files, contextcliff.tracking.metrics\n"
        "assert not [name for name in sys.modules if name.startswith('contextcliff.writing.writing_finding')]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
