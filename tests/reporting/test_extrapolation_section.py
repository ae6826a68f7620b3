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
from contextcliff.analysis.extrapolation import Extrapolation
from contextcliff.analysis.study import StudyFacts
from contextcliff.records.positions import Positions
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.markdown import render_markdown
from contextcliff.reporting.reporting_settings import LanguageName
from contextcliff.reporting.schema import flatten, unflatten
from contextcliff.reporting.section_list import sections_of, sections_with
from contextcliff.reporting.words.language import LANGUAGES
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
    render_console(report, console=console, folder=Path("run"), tracking_command=None, language=LANGUAGES[language])
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith(("EXTRAPOLATION", "外挿"))), len(lines))
    return lines[begin : lines.index("", begin)] if begin < len(lines) else []


def test_the_console_says_where_extrapolation_begins_to_fail() -> None:
    assert block_of(report_of(FAILS, YARN)) == [
        "EXTRAPOLATION (beyond the positions that the model was trained on)",
        "  Trained: 32,768 tokens (GGUF header), yarn x4; tested to 131,072",
        "  Score:   within 1.00 (1.00-1.00, n 1,600), beyond 0.02 (0.01-0.03, n 1,600)",
        "  Shown:   extrapolation begins to fail at 65,536 tokens (2.00 x trained), the",
        "           first length shown below the threshold; 32,768 tokens clear it",
    ]


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


def test_the_page_has_every_length_with_what_is_shown_of_it() -> None:
    page = render_markdown(report_of(FAILS, YARN), figures=())
    section = page.split("## Extrapolation")[1].split("\n## ")[0]
    assert "extrapolation begins to fail at 65,536 tokens" in section
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if "| within |" in line]
    assert rows == [
        ["8,192", "8,192", "x0.25", "within", "400", "1.00", "cleared"],
        ["32,768", "32,768", "x1.00", "within", "1,200", "1.00", "cleared"],
    ]
    assert section.count("| beyond |") == section.count("| below |") == 2


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


def test_metrics_are_its_figures() -> None:
    report = report_of(FAILS, YARN)
    (section,) = (each for each in sections_of(report) if each.key == "extrapolation")
    metrics = {each.key.removeprefix("extrapolation/"): each.value for each in section.metrics(report)}
    assert metrics == {
        "trained_tokens": 32_768,
        "fails_at_tokens": 65_536,
        "cleared_beyond_tokens": None,
        "score_within": 1.0,
        "score_beyond": pytest.approx(30 / 1_600),
    }


def test_without_known_positions_nothing_is_shown() -> None:
    report = report_of(FAILS, None)
    assert block_of(report) == []
    assert flatten(report)["extrapolation"] is None
    assert "## Extrapolation" not in render_markdown(report, figures=())
