"""The figures of a continuation run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting.figures.report_figures import draw_figures
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.prose_findings import MeasureLevel
from contextcliff.writing.sections.dashboard_figure import dashboard_figure
from contextcliff.writing.sections.measure_figures import convergence_figure, core_figure, difference, rounds_figure
from contextcliff.writing.sections.panels import core_measures
from contextcliff.writing.sections.writing_phrases import value
from contextcliff.writing.sections.writing_section import WritingSection
from tests.reporting.figure_texts import overlaps, words
from tests.simulated_reports import edited
from tests.writing.made_writing import TIERS, make_round, make_rounds, with_writing, writing_in

NINE = tuple(1024 * 2**i for i in range(9))
TWELVE = tuple(round(2048 * 2 ** (i / 2)) for i in range(12))


def every_figure(report: Report, scored: Sequence[ScoredSample]) -> list[Figure]:
    writing = writing_in(report)
    return [
        core_figure(report, writing),
        rounds_figure(report, writing, scored=scored),
        dashboard_figure(report, writing),
        convergence_figure(report, writing),
    ]


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
    for figure in every_figure(with_writing(cliff, scored), scored):
        assert overlaps(figure) == []


@pytest.mark.parametrize("tiers", [(4096,), NINE], ids=len)
def test_a_run_in_which_nothing_could_be_measured_is_drawn_and_says_so(cliff: Report, tiers: tuple[int, ...]) -> None:
    scored = make_rounds(tiers=tiers, measured=False)
    report = with_writing(cliff, scored)
    core, rounds, dashboard, convergence = every_figure(report, scored)
    assert words(core).count("not measured") == words(rounds).count("not measured") == 4
    assert "nothing was tested" in words(dashboard)
    assert not [text for text in words(convergence) if text.endswith("%") and text[0] in "+-0"]


def test_one_round_a_length_has_no_interval_and_is_drawn(cliff: Report) -> None:
    scored = make_rounds(rounds=1)
    report = with_writing(cliff, scored)
    assert len(every_figure(report, scored)) == 4
    assert "fewer than two rounds, or not measured" in words(dashboard_figure(report, writing_in(report)))


def test_the_four_core_measures_have_a_panel_each_that_says_which_way_is_worse(cliff: Report) -> None:
    report = with_writing(cliff, make_rounds(coherence=True))
    said = words(core_figure(report, writing_in(report)))
    assert {
        "Vocabulary diversity (down is worse)",
        "Cloze score (up is worse)",
        "Adjacent coherence (down is worse)",
        "Bigram repetition (up is worse)",
    } <= set(said)


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


def test_each_round_has_a_line_of_its_own_and_a_failed_one_a_cross(cliff: Report) -> None:
    scored = make_rounds(rounds=3)
    report = with_writing(cliff, scored)
    axes = rounds_figure(report, writing_in(report), scored=scored).axes[2]
    drawn = [np.asarray(line.get_xydata(), dtype=float).tolist() for line in axes.lines]
    for trial in range(3):
        items = [item for item in scored if item.sample.trial == trial]
        assert [[i.measured_tokens, i.details["cloze_score"]] for i in items] in drawn
    assert [[16_384 - 9, scored[-1].details["cloze_score"]]] in drawn


def test_a_round_without_figures_is_a_gap(cliff: Report) -> None:
    scored = [*make_rounds(), make_round(tokens=2048, trial=7, answered=False)]
    report = with_writing(cliff, scored)
    assert overlaps(rounds_figure(report, writing_in(report), scored=scored)) == []


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


def test_an_interval_is_called_by_the_confidence_of_the_run(cliff: Report) -> None:
    report = with_writing(cliff)
    figure = core_figure(report, replace(writing_in(report), confidence=0.9))
    assert "mean of the rounds with its 90% interval" in words(figure)


def test_the_heatmap_tells_how_far_each_mean_is_from_the_original(cliff: Report) -> None:
    report = with_writing(cliff)
    figure = convergence_figure(report, writing_in(report))
    axes = figure.axes[0]
    image: np.ndarray = np.ma.filled(np.ma.asarray(axes.images[0].get_array()), np.nan)
    assert image.shape == (len(MEASURES), len(TIERS))
    level = writing_in(report).tiers[1].measures[0]
    assert level.mean is not None
    assert level.original is not None
    assert image[0, 1] == pytest.approx(level.mean / level.original - 1)
    coherence = [m.name for m in MEASURES].index("adjacent_coherence")
    assert np.isnan(image[coherence]).all()
    assert not any(patch.get_hatch() for patch in axes.patches)
    frames = sum(1 for patch in axes.patches if not patch.get_fill())
    assert frames == sum(bool(lv.converged) for tier in writing_in(report).tiers for lv in tier.measures)


@pytest.mark.parametrize(
    ("mean", "original", "share"),
    [(1.2, 1.0, 0.2), (-2.0, -4.0, 0.5), (1.0, 0.0, None), (0.0, 0.0, 0.0), (None, 1.0, None), (1.0, None, None)],
)
def test_a_mean_above_the_original_is_a_positive_share_whatever_the_sign(
    mean: float | None, original: float | None, share: float | None
) -> None:
    level = MeasureLevel(
        name="cloze_score", n=1, mean=mean, std=None, ci_low=None, ci_high=None, cv=None, original=original,
        author_mean=None, author_std=None, z=None, converged=None,
    )  # fmt: skip
    assert difference(level) == (None if share is None else pytest.approx(share))


def test_a_mean_that_has_nothing_to_be_compared_with_is_shown_itself_and_only_the_unmeasured_is_grey(
    cliff: Report,
) -> None:
    report = with_writing(cliff)
    writing = writing_in(report)
    first = writing.tiers[0]
    lone = replace(first, measures=(replace(first.measures[0], mean=41.5, original=None), *first.measures[1:]))
    figure = convergence_figure(report, replace(writing, tiers=(lone, *writing.tiers[1:])))
    shown = {text.get_position(): text.get_text() for text in figure.axes[0].texts if text.get_fontstyle() == "italic"}
    assert shown[0, 0] == value(41.5)
    assert {"not measured", "italic: the mean itself, where the original has none or 0"} <= set(words(figure))


def test_equal_effects_stand_apart(cliff: Report) -> None:
    report = with_writing(cliff)
    axes = dashboard_figure(report, writing_in(report)).axes[3]
    starts = [float(np.asarray(line.get_xdata())[0]) for line in axes.lines if len(np.asarray(line.get_xdata())) > 2]
    assert len(starts) > 1
    assert len(set(starts)) == len(starts)


def test_a_hostile_model_name_is_drawn_as_it_is(cliff: Report) -> None:
    report = edited(with_writing(cliff), model="$\\frac{ <b> 模型")
    assert any("$\\frac{ <b>" in text for text in words(core_figure(report, writing_in(report))))


@pytest.mark.slow
def test_every_figure_is_a_file_and_a_run_without_writing_has_none(cliff: Report, tmp_path: Path) -> None:
    scored = make_rounds()
    draw_figures(with_writing(cliff, scored), scored=scored, folder=tmp_path, dpi=30)
    drawn = {path.name: path for path in tmp_path.iterdir()}
    of_writing = {
        "healthy_rounds.png",
        "core_metrics.png",
        "writing_rounds.png",
        "writing_dashboard.png",
        "convergence.png",
    }
    assert of_writing <= set(drawn)
    assert all(drawn[name].read_bytes().startswith(b"\x89PNG") for name in of_writing)
    assert {f"{figure.name}.png" for figure in WritingSection.figures} == of_writing
    assert not any(figure.has_data(cliff) for figure in WritingSection.figures)
