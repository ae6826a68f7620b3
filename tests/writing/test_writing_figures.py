"""The figures of a continuation run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from contextcliff.records.report import Report
from contextcliff.writing.figures import core_figure, dashboard_figure, health_figure
from contextcliff.writing.panels import core_measures
from tests.reporting.figure_texts import overlaps, words
from tests.simulated_reports import edited
from tests.writing.made_writing import TIERS, make_rounds, with_writing, writing_in

NINE = tuple(1024 * 2**i for i in range(9))
TWELVE = tuple(round(2048 * 2 ** (i / 2)) for i in range(12))


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
    scored = make_rounds(tiers=tiers, rounds=4, coherence=coherence)
    for figure in figures_of(with_writing(cliff, scored)):
        assert overlaps(figure) == []


@pytest.mark.parametrize("tiers", [(4096,), NINE], ids=len)
def test_a_run_in_which_nothing_could_be_measured_is_drawn_and_says_so(cliff: Report, tiers: tuple[int, ...]) -> None:
    core, dashboard, _ = figures_of(with_writing(cliff, make_rounds(tiers=tiers, measured=False)))
    assert words(core).count("not measured") == 4
    assert "nothing was tested" in words(dashboard)


def test_one_round_a_length_has_no_interval_and_is_drawn(cliff: Report) -> None:
    dashboard = figures_of(with_writing(cliff, make_rounds(rounds=1)))[1]
    assert "fewer than two rounds, or not measured" in words(dashboard)


def test_without_embeddings_mtld_takes_the_place_of_coherence_and_the_figure_says_so(cliff: Report) -> None:
    report = with_writing(cliff)
    assert core_measures(writing_in(report)) == (
        *("vocabulary_diversity", "cloze_score"),
        *("mtld", "bigram_repetition_rate"),
    )
    said = words(core_figure(report, writing_in(report)))
    assert "MTLD (down is worse)" in said
    assert any("was not measured (no embeddings): MTLD stands in its place" in " ".join(t.split()) for t in said)


def test_a_panel_shows_the_means_the_original_and_the_authors_band(cliff: Report) -> None:
    report = with_writing(cliff)
    axes = core_figure(report, writing_in(report)).axes[2]  # 0 is the page
    lines = {line.get_label(): np.asarray(line.get_xydata(), dtype=float) for line in axes.lines}
    means = [[tier.prompt_tokens, tier.measures[0].mean] for tier in writing_in(report).tiers]
    assert lines["mean of the rounds with its 95% interval"].tolist() == means
    assert lines["the original's next words"][:, 1] == pytest.approx(22.4 - 0.2 * 3.1)
    assert "author's mean ± sd" in [found.get_label() for found in axes.collections]


def test_the_map_of_tests_marks_what_is_degraded_and_leaves_grey_what_was_not_tested(cliff: Report) -> None:
    report = with_writing(cliff, make_rounds(rounds=8))
    figure = dashboard_figure(report, writing_in(report))
    tests = [test for test in writing_in(report).tests if test.against == "shortest"]
    marked = sum(word in ("×", "×a") for word in words(figure))
    assert marked == sum(test.degraded for test in tests) > 0
    cells = np.asarray(figure.axes[4].images[0].get_array())
    assert cells.shape == (len({test.measure for test in tests}), len(TIERS))
    assert (cells[:, 0] == 0).all()
    assert (cells[:, 1:] > 0).all()


@pytest.mark.parametrize(
    ("confidence", "classes"),
    [
        (0.95, ["p ≤ 0.001", "p ≤ 0.01", "p ≤ 0.05", "p > 0.05"]),
        (0.99, ["p ≤ 0.001", "p ≤ 0.01", "p > 0.01"]),
        (0.9, ["p ≤ 0.001", "p ≤ 0.01", "p ≤ 0.1", "p > 0.1"]),
    ],
)
def test_the_classes_of_the_map_end_at_the_level_of_the_run(
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
    assert (cells[:, 1:] == len(classes) - 1).all()


def test_equal_effects_stand_apart(cliff: Report) -> None:
    report = with_writing(cliff)
    axes = dashboard_figure(report, writing_in(report)).axes[3]
    starts = [float(np.asarray(line.get_xdata())[0]) for line in axes.lines if len(np.asarray(line.get_xdata())) > 2]
    assert len(starts) > 1
    assert len(set(starts)) == len(starts)


def test_a_hostile_model_name_is_drawn_as_it_is(cliff: Report) -> None:
    report = edited(with_writing(cliff), model="$\\frac{ <b> 模型")
    assert any("$\\frac{ <b>" in text for text in words(core_figure(report, writing_in(report))))
