"""The risk report in Japanese: all of it, at the console's width, with the same figures."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.outside_text import broken
from contextcliff.reporting.reporting_settings import LanguageName
from contextcliff.reporting.words.language import LANGUAGES, shown_in
from tests.commands import contextcliff
from tests.simulated_reports import CLIFF, FLAT, FULL, NOTHING_SCORED, ONE_LENGTH, PARTIAL, WITHOUT_CAP, Law, simulated

LAWS = (CLIFF, FLAT, FULL, NOTHING_SCORED, ONE_LENGTH, PARTIAL, WITHOUT_CAP)
ENGLISH = re.compile(r"[A-Za-z]{2,}(?:[ ][A-Za-z]{2,}){2,}")


def printed(report: Report, *, language: LanguageName, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    render_console(
        report, console=console, folder=Path("outputs/run"), tracking_command=None, language=LANGUAGES[language]
    )
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def body(lines: list[str]) -> list[str]:
    """Without the files' names at the end."""
    end = next(i for i, line in enumerate(lines) if line.startswith(("FILES", "ファイル")))
    return lines[:end]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: str(LAWS.index(law)))
def test_no_english_sentence_is_left(law: Law) -> None:
    text = "\n".join(body(printed(simulated(law), language="ja")))
    assert not ENGLISH.findall(text)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: str(LAWS.index(law)))
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_console(law: Law, width: int) -> None:
    assert all(cell_len(line) <= width for line in body(printed(simulated(law), language="ja", width=width)))


def test_every_heading_and_name_of_the_english_report_has_a_japanese_one() -> None:
    english, japanese = (body(printed(simulated(FULL), language=language, width=200)) for language in ("en", "ja"))
    assert len(english) == len(japanese)
    for said, other in zip(english, japanese, strict=True):
        name, _, value = said.strip().partition(":")
        if value and re.fullmatch(r"[A-Z][a-z A-Z-]+", name) and name != "Detected":
            assert not other.strip().startswith(name)


def test_a_console_without_japanese_letters_gets_english() -> None:
    assert shown_in("ja", encoding="cp1252") is LANGUAGES["en"]
    assert shown_in("ja", encoding="utf-8") is shown_in("ja", encoding="shift_jis") is LANGUAGES["ja"]


@pytest.mark.parametrize("width", [12, 20, 31, 76])
def test_lines_lose_nothing_and_begin_with_no_closing_mark(width: int) -> None:
    text = "スコアは 0 か 1 なので、ばらつきは平均で決まる（sampling.seed の指定）。長さは 23–45、“abc” のとおり"
    lines = list(broken(text, width=width))
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert not any(line[0] in "、。）" or line[-1] in "（" for line in lines)
    assert all(cell_len(line) <= width or " " not in line for line in lines)


def test_a_language_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path) -> None:
    done = contextcliff("engine=simulated", "reporting.language=xx", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: reporting.language=xx: must be 'en' or 'ja'\n"
