"""How extrapolation is shown: a few lines on the console, the lengths in the page, a key in the file."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.extrapolation import Extrapolation
from contextcliff.findings.finding import sections_with
from contextcliff.records.positions import Positions
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.language import catalogue
from contextcliff.reporting.reporting_settings import LanguageName
from contextcliff.reporting.schema import flatten, unflatten
from tests.analysis.analysis_samples import curve
from tests.simulated_reports import edited, simulated

YARN = Positions(trained_tokens=32_768, source="gguf", scaling="yarn", factor=4.0)
GIVEN = Positions(trained_tokens=32_768, source="given")
FAILS = {8_192: (400, 400), 32_768: (1_200, 1_200), 65_536: (30, 400), 131_072: (0, 1_200)}
HOLDS = dict.fromkeys(FAILS, (400, 400))
OPEN = {8_192: (400, 400), 65_536: (2, 3)}
HOPELESS = dict.fromkeys(FAILS, (0, 400))


def report_of(results: dict[int, tuple[int, int]], positions: Positions | None) -> Report:
    facts = StudyFacts(
        max_context_tokens=131_072, designed_lengths=True, relative_by_default=False, positions=positions
    )
    analysis = analyse(study_of(curve(results), AnalysisSettings(), facts), sections_with())
    return edited(simulated(), findings=analysis.findings, safe_cap=analysis.safe_cap, bins=analysis.bins)


def block_of(report: Report, *, language: LanguageName = "en") -> list[str]:
    """The section's lines on a console of 80 columns, its heading first; empty without the section."""
    console = Console(file=io.StringIO(), width=80, color_system=None, force_terminal=False)
    render_console(report, console=console, folder=Path("run"), tracking_command=None, language=catalogue(language))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith(("EXTRAPOLATION", "外挿"))), len(lines))
    return lines[begin : lines.index("", begin)] if begin < len(lines) else []


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("positions", [YARN, GIVEN], ids=["scaled", "given"])
@pytest.mark.parametrize("results", [FAILS, HOLDS, OPEN, HOPELESS], ids=["fails", "holds", "open", "hopeless"])
def test_the_block_has_at_most_five_lines_of_80_columns(
    results: dict[int, tuple[int, int]], positions: Positions, language: LanguageName
) -> None:
    heading, *lines = block_of(report_of(results, positions), language=language)
    assert cell_len(heading) <= 80
    assert 3 <= len(lines) <= 5
    assert all(cell_len(line) <= 80 for line in lines)


def test_the_file_has_it_and_gives_it_back() -> None:
    report = report_of(FAILS, YARN)
    flat = json.loads(json.dumps(flatten(report)))
    found = flat["extrapolation"]
    assert (found["trained_tokens"], found["fails_at_tokens"]) == (32_768, 65_536)
    assert found["positions"] == {"trained_tokens": 32_768, "source": "gguf", "scaling": "yarn", "factor": 4.0}
    back = unflatten(flat)
    assert back.analysis.finding(Extrapolation) is not None
    assert flatten(back)["extrapolation"] == flatten(report)["extrapolation"]
    assert block_of(back) == block_of(report)
