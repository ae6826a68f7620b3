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

from contextcliff.records.fact import Said, said
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.markdown import render_markdown
from contextcliff.reporting.words.english_say import say
from contextcliff.writing.prose_findings import Scale, WritingTrend
from contextcliff.writing.sections.writing_phrases import value
from contextcliff.writing.sections.writing_text import degraded_in_short, degraded_lines, trend_lines
from tests.simulated_reports import edited
from tests.writing.made_writing import TIERS, make_round, make_rounds, with_writing, writing_in

LONG = (2048, 131_072, 1_048_576)
_SCALED: tuple[tuple[str, Scale], ...] = (("mtld", "z"), ("word_entropy", "raw"))
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


def test_a_run_that_writes_nothing_has_no_word_of_writing(cliff: Report) -> None:
    assert "WRITING" not in printed(cliff)
    assert "## Writing" not in render_markdown(cliff, figures=[])


def test_a_row_of_the_table_holds_every_figure_of_its_length(cliff: Report) -> None:
    report = with_writing(cliff, make_rounds(rounds=4))
    tier = writing_in(report).tiers[1]
    level = {found.name: found for found in tier.measures}
    row = next(line for line in measures(printed(report)).splitlines() if line.split()[:1] == ["4,087"])
    cloze, diversity = level["cloze_score"], level["vocabulary_diversity"]
    assert row.split() == [
        "4,087",
        f"{cloze.mean:.2f}",
        f"{cloze.std:.2f}",
        "11-12",
        f"{100 * (level['pct_unfamiliar_words'].mean or 0):.1f}%",
        f"{level['avg_sentence_length'].mean:.1f}",
        f"{level['sentence_length_variance'].mean:.1f}",
        f"{diversity.mean:.3f}",
        f"{diversity.std:.3f}",
        f"{tier.composite.mean:.1f}",
        f"{tier.composite.ci_low:.1f}-{tier.composite.ci_high:.1f}",
        "4",
    ]


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


def test_the_console_is_plain_ascii(cliff: Report) -> None:
    assert section(printed(with_writing(cliff), encoding="ascii")).isascii()
    assert "\\x" not in section(printed(with_writing(cliff), encoding="ascii"))


def test_the_trends_go_from_start_to_end_and_say_what_a_change_means(cliff: Report) -> None:
    report = with_writing(cliff)
    trends = (
        WritingTrend(measure="cloze_score", scale="z", start=22.16, end=15.38, p_value=0.2, p_holm=0.4, exact=True),
        WritingTrend(
            measure="vocabulary_diversity", scale="z", start=0.537, end=0.542, p_value=None, p_holm=None, exact=True
        ),
        WritingTrend(measure="mtld", scale="raw", start=90.0, end=60.0, p_value=0.0001, p_holm=0.0009, exact=False),
        WritingTrend(measure="comma_density", scale="raw", start=1.0, end=2.0, p_value=0.3, p_holm=0.6, exact=True),
    )
    shown = section(printed(edited(report, writing=replace(writing_in(report), trends=trends)), width=120))
    assert "22.16 -> 15.38 (-6.780, more complex); corrected p = 0.400 at equal length" in shown
    assert "0.537 -> 0.542 (+0.005, more diverse); not tested" in shown
    assert re.search(r"90\.00 -> 60\.00 \(-30\.00, worse\); corrected p < 0\.001 *\n", shown)
    assert "Commas" not in shown
    assert re.search(r"1 further: +no trend shown at 5%, corrected", shown)


def test_what_was_found_is_told_on_console_and_page(cliff: Report) -> None:
    report = with_writing(cliff, make_rounds(rounds=8))
    writing = writing_in(report)
    (step,) = [one for one in writing.steps if one.measure == "cloze_score"][-1:]
    shown = " ".join(section(printed(report, width=100)).split())
    page = render_markdown(report, figures=[])
    for text in (shown, page):
        assert say(writing.verdict) in text
        assert "at 16,375 complete x7, repetition x1" in text
        assert f"at {step.context_tokens - 9:,}: Cloze score rose {step.change:.3f}" in text
        assert "none; coherence was not measured" in text
    assert "at 16,375: Bigram repetition worse than the shortest length by" in page
    assert re.search(r"at 16,375, than the shortest length: .*Bigram repetition \(p", shown)
    against_author = [test for test in writing.tests if test.against == "author" and test.degraded]
    assert against_author
    assert "than the author's text elsewhere: " in shown


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


def test_the_page_says_which_trends_were_tested_at_equal_length(cliff: Report) -> None:
    trends = tuple(
        WritingTrend(measure=name, scale=scale, start=90.0, end=60.0, p_value=0.01, p_holm=0.05, exact=True)
        for name, scale in _SCALED
    )
    report = with_writing(cliff)
    page = render_markdown(edited(report, writing=replace(writing_in(report), trends=trends)), figures=[])
    assert re.search(r"\| MTLD \|.*\| at equal length \|\n", page)
    assert re.search(r"\| Word entropy \|.*\| as it is \|\n", page)


def test_of_many_measures_found_worse_the_surest_are_named_and_the_rest_counted(cliff: Report) -> None:
    report = with_writing(cliff, make_rounds(rounds=8))
    test = next(test for test in writing_in(report).tests if test.degraded and test.context_tokens == 8192)
    names = ("cloze_score", "mtld", "word_entropy", "copied_share", "compression_ratio", "long_word_ratio")
    tests = [replace(test, measure=name, p_holm=0.001 * place) for place, name in enumerate(names, start=1)]
    assert degraded_in_short(tests[::-1]) == [
        "at 8,192, than the shortest length: Cloze score (p = 0.001), MTLD (p = 0.002), Word entropy (p = 0.003), "
        "Copied from the prompt (p = 0.004) and 2 more"
    ]


def test_the_page_has_every_measure_beside_the_original_and_the_author(cliff: Report) -> None:
    report = with_writing(cliff)
    page = render_markdown(report, figures=["figures/core_metrics.png", "figures/convergence.png"])
    assert "| measure | 2,039 | 4,087 | 8,183 | 16,375 | original | author |" in page
    assert re.search(r"\| Cloze score \|( [\d.]+ \|){4} 21\.78 \| 22\.40 \(sd 3\.100\) \|", page)
    assert "Adjacent coherence" not in page
    assert page.count("![Core measures of the writing by length](figures/core_metrics.png)") == 1
    assert page.count("(figures/convergence.png)") == 1


def test_a_run_in_which_nothing_could_be_measured_shows_dashes_and_no_zeros(cliff: Report) -> None:
    scored = [*make_rounds(measured=False), make_round(tokens=2048, trial=5, answered=False)]
    report = with_writing(edited(cliff, bins=(), cells=()), scored)
    shown = measures(printed(report))
    assert "nan" not in shown
    assert "None" not in shown
    assert "0.00" not in shown
    assert "at 2,039 complete x3, unscored x1" in shown
    assert "3 of 4" in render_markdown(report, figures=[])


def test_every_table_of_the_page_is_a_table_and_hostile_words_stay_words(cliff: Report) -> None:
    report = with_writing(cliff)
    writing = replace(writing_in(report), verdict=Said(text=HOSTILE), warnings=said([HOSTILE]))
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


def test_the_healthy_rounds_stand_first_with_why_the_others_are_not(cliff: Report) -> None:
    scored = [
        *make_rounds(rounds=9),
        make_round(tokens=2048, trial=9, failure="repetition", details={"composite": 70.0}),
    ]
    shown = section(printed(with_writing(cliff, scored)))
    row = next(line for line in shown.splitlines() if line.split()[:1] == ["2,039"])
    assert row.split()[:4] == ["2,039", "10", "9", "90.0%"]
    assert row.split()[-3:] == ["0", "1", "0"]
    assert shown.index("healthy") < shown.index("cloze")
