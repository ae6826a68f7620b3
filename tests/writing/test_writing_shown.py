"""What console, page and figures show of a model's prose, on one axis of lengths: measured prompts, as the cap's."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from markdown_it import MarkdownIt
from matplotlib.figure import Figure
from rich.console import Console

from contextcliff.records.note import as_it_is
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.markdown import render_markdown
from contextcliff.writing.figures import core_figure, dashboard_figure, health_figure
from contextcliff.writing.levels import as_shown, shown_lengths
from contextcliff.writing.panels import core_measures
from contextcliff.writing.phrases import value
from contextcliff.writing.prose_findings import Scale
from contextcliff.writing.tables import degraded_lines
from contextcliff.writing.task.continuation_scoring import answer_figures
from tests.reporting.figure_texts import overlaps, words
from tests.simulated_reports import edited
from tests.writing.made_writing import TIERS, make_rounds, with_writing, writing_in

PROMPTS = tuple(tokens - 9 for tokens in TIERS)
"""As the server counts the prompts of made rounds."""
NINE = tuple(1024 * 2**i for i in range(9))
TWELVE = tuple(round(2048 * 2 ** (i / 2)) for i in range(12))
HOSTILE = "a|b <script>alert(1)</script> `c` [d](http://e) *h*"


def printed(report: Report, *, width: int) -> str:
    """The section of the prose on an ASCII console, from the table of measures on."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", newline="\n")
    render_console(report, console=Console(file=stream, width=width), folder=Path("x"), tracking_command=None)
    stream.flush()
    text = raw.getvalue().decode("ascii")
    return text[text.index("WRITING BY LENGTH") : text.index("WHAT IT TOOK")]


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
    (line,) = degraded_lines([replace(test, measure="vocabulary_diversity", against=against, scale=scale, shift=shift)])
    assert f"{said} (corrected p" in line


def test_every_table_of_the_page_is_a_table_and_hostile_words_stay_words(cliff: Report) -> None:
    report, said = with_writing(cliff), as_it_is(HOSTILE)
    hostile = replace(writing_in(report), verdict=said, warnings=(said,), document_id=HOSTILE, embeddings=HOSTILE)
    html = MarkdownIt("commonmark").enable("table").render(render_markdown(edited(report, writing=hostile), figures=[]))
    assert not re.search(r"<(script|a |img|em)", html)
    for table in re.findall(r"<table>.*?</table>", html, flags=re.DOTALL):
        rows = re.findall(r"<tr>(.*?)</tr>", table, flags=re.DOTALL)
        assert len({len(re.findall(r"<t[hd]", row)) for row in rows}) == 1


def test_a_figure_has_about_three_digits() -> None:
    assert list(map(value, (None, 0.0, 9.9999, -0.5, 1677.57))) == ["-", "0.000", "10.00", "-0.500", "1,677.6"]


# ---------------------------------------------------------------- the axis of lengths


def test_tables_sentences_and_healthy_rounds_are_by_measured_prompts(cliff: Report) -> None:
    writing = writing_in(with_writing(cliff, make_rounds(rounds=8)))
    shown = as_shown(writing)
    assert tuple(tier.context_tokens for tier in shown.tiers) == PROMPTS
    assert {test.context_tokens for test in shown.tests} | {step.context_tokens for step in shown.steps} <= set(PROMPTS)
    assert shown.health is not None
    assert tuple(level.context_tokens for level in shown.health.levels) == PROMPTS
    assert as_shown(shown) == shown
    assert f"{PROMPTS[-1]:,} tokens" in str(writing.verdict)
    assert not any(f"{tokens:,}" in str(writing.verdict) for tokens in TIERS)


def test_where_a_prompt_is_not_known_lengths_are_as_asked(cliff: Report) -> None:
    report = with_writing(cliff)
    tiers = tuple(replace(tier, prompt_tokens=None) for tier in writing_in(report).tiers)
    writing = replace(writing_in(report), tiers=tiers)
    assert shown_lengths(writing).name == "context length in tokens, as asked"
    assert as_shown(writing) == writing


# ---------------------------------------------------------------- figures


def figures_of(report: Report) -> list[Figure]:
    return [draw(report, writing_in(report)) for draw in (core_figure, dashboard_figure, health_figure)]


ALSO = (((4096,), True), (TIERS, False), (NINE, True), (TWELVE, False), (TWELVE, True))


@pytest.mark.parametrize(
    ("tiers", "coherence"),
    [
        *(((4096,), False), ((2048, 1_048_576), True)),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ALSO),
    ],
)
def test_no_text_of_any_figure_covers_another(cliff: Report, tiers: tuple[int, ...], coherence: bool) -> None:
    for figure in figures_of(with_writing(cliff, make_rounds(tiers=tiers, rounds=4, coherence=coherence))):
        assert overlaps(figure) == []


def test_what_could_not_be_measured_or_tested_is_said_and_mtld_stands_for_coherence(cliff: Report) -> None:
    core, dashboard, _ = figures_of(with_writing(cliff, make_rounds(tiers=NINE, measured=False)))
    assert words(core).count("not measured") == 4
    assert "nothing was tested" in words(dashboard)
    assert "fewer than two rounds, or not measured" in words(figures_of(with_writing(cliff, make_rounds(rounds=1)))[1])
    assert core_measures(writing_in(with_writing(cliff))) == (
        *("vocabulary_diversity", "cloze_score", "mtld", "bigram_repetition_rate"),
    )


def test_a_panel_shows_the_means_the_original_and_the_authors_band(cliff: Report) -> None:
    report = edited(with_writing(cliff), model="$\\frac{ <b> 模型")
    figure = core_figure(report, writing_in(report))
    axes = figure.axes[2]  # 0 is the page
    lines = {line.get_label(): np.asarray(line.get_xydata(), dtype=float) for line in axes.lines}
    means = [[tier.prompt_tokens, tier.measures[0].mean] for tier in writing_in(report).tiers]
    assert lines["mean of the rounds with its 95% interval"].tolist() == means
    assert lines["the original's next words"][:, 1] == pytest.approx(22.4 - 0.2 * 3.1)
    assert "author's mean ± sd" in [found.get_label() for found in axes.collections]
    assert any("$\\frac{ <b>" in text for text in words(figure))


@pytest.mark.parametrize(
    ("confidence", "classes"),
    [
        (0.95, ["p ≤ 0.001", "p ≤ 0.01", "p ≤ 0.05", "p > 0.05"]),
        (0.99, ["p ≤ 0.001", "p ≤ 0.01", "p > 0.01"]),
        (0.9, ["p ≤ 0.001", "p ≤ 0.01", "p ≤ 0.1", "p > 0.1"]),
    ],
)
def test_the_classes_of_the_map_of_tests_end_at_the_level_of_the_run(
    cliff: Report, confidence: float, classes: list[str]
) -> None:
    report = with_writing(cliff)
    # At the very level a test is significant, as everywhere.
    at_level = [
        replace(test, p_holm=1.0 - confidence) for test in writing_in(report).tests if test.against == "shortest"
    ]
    figure = dashboard_figure(report, replace(writing_in(report), tests=tuple(at_level), confidence=confidence))
    assert [text for text in words(figure) if text.startswith("p ")] == classes
    cells = np.asarray(figure.axes[4].images[0].get_array())
    assert cells.shape == (len({test.measure for test in at_level}), len(TIERS))
    # At the shortest length nothing is tested.
    assert (cells[:, 0] == 0).all()
    assert (cells[:, 1:] == len(classes) - 1).all()


def test_the_map_marks_what_is_degraded_and_equal_effects_stand_apart(cliff: Report) -> None:
    report = with_writing(cliff, make_rounds(rounds=8))
    figure = dashboard_figure(report, writing_in(report))
    marked = sum(word in ("×", "×a") for word in words(figure))
    assert marked == sum(test.degraded for test in writing_in(report).tests if test.against == "shortest") > 0
    lines = [np.asarray(line.get_xdata()) for line in figure.axes[3].lines]
    starts = [float(line[0]) for line in lines if len(line) > 2]
    assert 1 < len(starts) == len(set(starts))
