"""What console and page say of a model's prose."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from contextcliff.records.note import as_it_is
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.markdown import render_markdown
from contextcliff.writing.phrases import value
from contextcliff.writing.prose_findings import Scale, WritingTrend
from contextcliff.writing.tables import degraded_in_short, degraded_lines, trend_lines
from contextcliff.writing.task.continuation_scoring import answer_figures
from tests.simulated_reports import edited
from tests.writing.made_writing import TIERS, make_rounds, with_writing, writing_in

LONG = (2048, 131_072, 1_048_576)
HOSTILE = "a|b <script>alert(1)</script> `c` [d](http://e) *h*"


def printed(report: Report, *, width: int = 80, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    render_console(report, console=Console(file=stream, width=width), folder=Path("x"), tracking_command=None)
    stream.flush()
    return raw.getvalue().decode(encoding)


def section(text: str) -> str:
    return text[text.index("WRITING BY LENGTH") : text.index("WHAT IT TOOK")]


def measures(text: str) -> str:
    """The same from the table of measures on: the healthy rounds stand before it."""
    return section(text)[section(text).index("cloze") :]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("tiers", [TIERS, LONG])
def test_columns_drop_out_whole_where_space_is_short(cliff: Report, width: int, tiers: tuple[int, ...]) -> None:
    report = with_writing(cliff, make_rounds(tiers=tiers))
    shown = section(printed(report, width=width))
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown
    shown = measures(printed(report, width=width))
    for tier in writing_in(report).tiers:
        row = next(line for line in shown.splitlines() if line.split()[:1] == [f"{tier.prompt_tokens:,}"])
        # Length, cloze score and composite are what stays to the last.
        assert {f"{tier.measures[0].mean:.2f}", f"{tier.composite.mean:.1f}", "3"} <= set(row.split())


def test_an_answer_is_told_by_every_figure_that_was_measured() -> None:
    details = {
        **{"cloze_score": 14.66, "vocabulary_diversity": 0.5641, "bigram_repetition_rate": 0.02, "word_count": 1234.0},
        **{"adjacent_coherence": 0.4, "composite": 12.34},
    }
    assert answer_figures(details) == (
        *("Cloze 14.66", "level 16+", "vocabulary 0.564", "bigram repetition 0.020", "coherence 0.400"),
        *("1,234 words", "composite 12.3"),
    )
    assert answer_figures({"em": 1.0}) == ()


def test_the_console_is_plain_ascii(cliff: Report) -> None:
    assert section(printed(with_writing(cliff), encoding="ascii")).isascii()
    assert "\\x" not in section(printed(with_writing(cliff), encoding="ascii"))


@pytest.mark.parametrize(
    ("against", "scale", "shift", "said"),
    [
        ("author", "z", 1.8, "Vocabulary diversity worse than the author's text elsewhere by 1.800 sd of the author's"),
        ("shortest", "z", 1.8, "Vocabulary diversity worse than the shortest length by 1.800 sd of the author's"),
        ("shortest", "raw", 0.02, "Vocabulary diversity worse than the shortest length by 0.020 types/tokens"),
        # The ranks of ten rounds can be worse and their mean better.
        ("shortest", "z", -0.1, "worse than the shortest length in most rounds, though not on average"),
    ],
)
def test_a_degradation_is_told_on_the_scale_that_was_tested(
    cliff: Report, against: Literal["shortest", "author"], scale: Scale, shift: float, said: str
) -> None:
    test = next(test for test in writing_in(with_writing(cliff)).tests if test.degraded)
    test = replace(test, measure="vocabulary_diversity", against=against, scale=scale, shift=shift)
    (line,) = degraded_lines([test])
    assert f"{said} (corrected p" in line


@pytest.mark.parametrize(("confidence", "level", "told"), [(0.95, "5%", True), (0.99, "1%", False)])
def test_a_trend_at_the_very_level_of_the_run_is_told(cliff: Report, confidence: float, level: str, told: bool) -> None:
    trends = (
        WritingTrend(measure="mtld", scale="raw", start=90.0, end=60.0, p_value=0.01, p_holm=0.05, exact=True),
        WritingTrend(measure="comma_density", scale="raw", start=1.0, end=2.0, p_value=0.3, p_holm=None, exact=True),
    )
    lines = trend_lines(replace(writing_in(with_writing(cliff)), trends=trends, confidence=confidence))
    assert ("MTLD" in dict(lines)) is told
    assert lines[-1] == (f"{1 if told else 2} further", f"no trend shown at {level}, corrected")


def test_of_many_measures_found_worse_the_surest_are_named_and_the_rest_counted(cliff: Report) -> None:
    report = with_writing(cliff, make_rounds(rounds=8))
    test = next(test for test in writing_in(report).tests if test.degraded and test.context_tokens == 8192)
    names = ("cloze_score", "mtld", "word_entropy", "copied_share", "compression_ratio", "long_word_ratio")
    tests = [replace(test, measure=name, p_holm=0.001 * place) for place, name in enumerate(names, start=1)]
    assert degraded_in_short(tests[::-1]) == [
        "at 8,192, than the shortest length: Cloze score (p = 0.001), MTLD (p = 0.002), Word entropy (p = 0.003), "
        "Copied from the prompt (p = 0.004) and 2 more"
    ]


def test_every_table_of_the_page_is_a_table_and_hostile_words_stay_words(cliff: Report) -> None:
    report = with_writing(cliff)
    writing = replace(writing_in(report), verdict=as_it_is(HOSTILE), warnings=(as_it_is(HOSTILE),))
    hostile = replace(writing, document_id=HOSTILE, embeddings=HOSTILE)
    html = MarkdownIt("commonmark").enable("table").render(render_markdown(edited(report, writing=hostile), figures=[]))
    assert not re.search(r"<(script|a |img|em)", html)
    for table in re.findall(r"<table>.*?</table>", html, flags=re.DOTALL):
        rows = re.findall(r"<tr>(.*?)</tr>", table, flags=re.DOTALL)
        assert len({len(re.findall(r"<t[hd]", row)) for row in rows}) == 1


@pytest.mark.parametrize(
    ("number", "shown"), [(None, "-"), (0.0, "0.000"), (9.9999, "10.00"), (-0.5, "-0.500"), (1677.57, "1,677.6")]
)
def test_a_figure_has_about_three_digits(number: float | None, shown: str) -> None:
    assert value(number) == shown
