"""The figures: what is drawn, that it can be read, and that nothing covers anything."""

from __future__ import annotations

import itertools
import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from rich.console import Console

from contextcliff.actions.track import row_of
from contextcliff.findings.drawing import luminance, score_colours
from contextcliff.findings.failures import failures_figure, latency_figure
from contextcliff.findings.finding import images_of
from contextcliff.findings.half_life import HalfLife
from contextcliff.findings.natural_lengths import audit_figure, length_classes
from contextcliff.findings.score import heatmap_figure, score_figure
from contextcliff.records.analysis import Zone
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.note import as_it_is
from contextcliff.records.report import Report
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.figures import curves_figure, draw_figures, sweep_curves_figure
from contextcliff.reporting.plan_report import render_audit
from contextcliff.tracking.tracker import SweepPlace
from tests.golden.test_shown_reports import AUDIT
from tests.make import known
from tests.reporting.figure_texts import drawn, overlaps, words
from tests.reporting.made_reports import search_report
from tests.simulated_reports import edited, findings_in, relaid
from tests.writing.made_writing import TIERS, by_health, writing_in


@pytest.mark.parametrize("depths", [1, 20])
@pytest.mark.parametrize(
    "lengths",
    [
        pytest.param([2048], id="one"),
        pytest.param([1000 * i for i in range(1, 31)], id="thirty-linear", marks=pytest.mark.slow),
        pytest.param([int(1024 * 2 ** (i / 2.9)) for i in range(30)], id="thirty-geometric", marks=pytest.mark.slow),
    ],
)
def test_no_text_covers_another(full: Report, lengths: list[int], depths: int) -> None:
    places = [i / max(1, depths - 1) for i in range(depths)]
    report = edited(relaid(full, lengths=lengths, depths=places, n=100), max_context_tokens=1_048_576)
    for draw in (score_figure, heatmap_figure, latency_figure):
        assert overlaps(draw(report)) == []


def test_without_cells_there_is_no_heatmap_and_without_bins_no_figure(cliff: Report, tmp_path: Path) -> None:
    assert list(draw_figures(edited(cliff, cells=(), profile=()), folder=tmp_path, dpi=40)) == [
        "score_by_length",
        "failures_by_length",
        "latency_by_length",
    ]
    assert draw_figures(edited(cliff, bins=(), cells=(), profile=()), folder=tmp_path / "none", dpi=40) == {}
    assert not (tmp_path / "none").exists()


def test_a_length_without_a_score_breaks_the_line(cliff: Report) -> None:
    middle = replace(cliff.analysis.bins[2], mean=None, ci_low=None, ci_high=None, tested_low=None, n_samples=0)
    axes: Axes = score_figure(edited(cliff, bins=(*cliff.analysis.bins[:2], middle, *cliff.analysis.bins[3:]))).axes[0]
    line = next(line for line in axes.lines if line.get_label() == "mean score")
    gaps = np.isnan(np.asarray(line.get_ydata(), dtype=float))
    assert gaps.tolist() == [False, False, True, False, False]
    assert any(line.get_label() == "nothing scored" for line in axes.lines)


def test_no_name_breaks_or_warns(full: Report, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    name = "$x_{ 模型 \U0001f600 \t \x1b" + "n" * 400
    facets = tuple(replace(row, facet=name, value=f"{name} {row.value}") for row in findings_in(full).facets)
    position = replace(findings_in(full).position, pattern=None, reason=as_it_is(name))
    half_life = replace(findings_in(full).half_life, tokens=None, reason=as_it_is(name))
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        hostile = edited(full, model=name, task=name, facets=facets, position=position, half_life=half_life)
        draw_figures(hostile, folder=tmp_path, dpi=30)
    assert not caplog.records


def marked(axes: Axes) -> list[float]:
    """Where vertical lines stand, in tokens."""
    found = [np.asarray(line.get_xdata(), dtype=float) for line in axes.lines]
    return [float(x[0]) for x in found if len(x) == 2 and x[0] == x[1]]


def sloping(report: Report, *, tokens: int | None = 16_000) -> Report:
    """With a half-life, twice the longest test, in the place of its cliff."""
    found = HalfLife(
        tokens=tokens, ci_low=9_000, ci_high=31_000, censored=True, initial=1.0, reason=as_it_is("it halves")
    )
    return edited(report, half_life=found, safe_cap=replace(report.analysis.safe_cap, verdict="slope"))


@pytest.mark.parametrize("tokens", [3, 2_000_000])
def test_a_half_life_far_off_the_axis_is_told_and_not_drawn(full: Report, tokens: int) -> None:
    figure = drawn(sloping(full, tokens=tokens), "decay_curve")
    assert marked(figure.axes[0]) == []
    assert f"half-life {tokens:,} (beyond this axis)" in words(figure)
    low, high = figure.axes[0].get_xlim()
    assert low > 100
    assert high < 20_000


def test_a_decay_is_drawn_of_a_shown_slope_whose_evidence_lies_at_depths(full: Report) -> None:
    slope, silent = sloping(full), tuple(replace(b, mean=None) for b in full.analysis.bins)
    not_of: list[dict[str, object]] = [{"cells": ()}, {"bins": silent}, {"safe_cap": full.analysis.safe_cap}]
    assert "decay_curve" in images_of(slope)
    assert full.analysis.safe_cap.verdict == "cliff"
    assert "decay_curve" not in images_of(sloping(full, tokens=None))
    assert not any("decay_curve" in images_of(edited(slope, **changes)) for changes in not_of)


@pytest.mark.parametrize(
    ("facets", "values", "value"),
    [
        (1, 13, "W" * 60),
        *(pytest.param(*few, marks=pytest.mark.slow) for few in ((1, 1, "v"), (2, 3, "value"), (4, 2, "1,024–2,048"))),
        (9, 5, "a rather long topic of its own"),
    ],
)
def test_no_text_of_the_facets_covers_another(full: Report, facets: int, values: int, value: str) -> None:
    first = findings_in(full).facets[0]
    rows = [
        replace(first, facet=f"{'a_facet_with_a_name_as_long_as_this' if i == 0 else 'hops'}_{i}", value=f"{value} {j}")
        for i in range(facets)
        for j in range(values)
    ]
    figure = drawn(edited(full, facets=rows), "facets")
    assert overlaps(figure) == []
    # What the names take stays inside the figure: a tight box cuts nothing, but a wide one would shrink the page.
    assert all(text.get_window_extent().x0 >= 0 for panel in figure.axes[1:] for text in panel.texts)


SCORES = [i / 100 for i in range(101)]
# Machado, Oliveira & Fernandes 2009, severity 1.0, on linear RGB.
BLINDNESS = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}
XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(colour: tuple[float, float, float], blindness: str) -> NDArray[np.float64]:
    """Lightness, red to green and yellow to blue of an sRGB colour as such a person sees it (CIE 1976)."""
    parts = np.array(colour)
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(BLINDNESS[blindness]) @ linear, 0.0, 1.0)
    x, y, z = np.cbrt(np.array(XYZ) @ seen / WHITE)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.95])
def test_no_score_below_the_threshold_looks_like_one_above_it_to_the_colour_blind(
    blindness: str, threshold: float
) -> None:
    colours = score_colours(threshold)
    below = [lab(colours.of(score), blindness) for score in SCORES if score < threshold]
    above = [lab(colours.of(score), blindness) for score in SCORES if score >= threshold]
    # Yellow on one side and blue on the other, and a distance that nobody overlooks (1 is the least that is seen).
    assert min(yellow for _, _, yellow in below) > 10.0
    assert max(blue for _, _, blue in above) < -5.0
    assert min(float(np.linalg.norm(one - other)) for one in below for other in above) > 25.0


@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.8, 1.0, 1.2, None])
def test_the_text_of_a_cell_has_contrast_whatever_its_score(threshold: float | None) -> None:
    colours = score_colours(threshold)
    for score in SCORES:
        light, dark = sorted((luminance(colours.of(score)), luminance(to_rgb(colours.ink(score)))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_it_starts_with_depth_zero_at_the_top_and_leaves_gaps_grey(cliff: Report) -> None:
    figure = heatmap_figure(edited(cliff, cells=cliff.analysis.cells[1:]))
    axes = figure.axes[0]
    low, high = axes.get_ylim()
    assert low > high
    gaps = np.ma.getmaskarray(np.ma.asarray(axes.images[0].get_array()))
    assert gaps[0, 0]
    assert gaps.sum() == 1
    red, green, blue = to_rgb(axes.get_facecolor())
    assert red == green == blue
    assert axes.images[0].get_clim() == (0, 1)
    assert "no data" in words(figure)
    assert "no data" not in words(heatmap_figure(cliff))


def test_undecided_points_are_hollow(cliff: Report) -> None:
    stable = Zone(name="stable", min_tokens=0, max_tokens=600)
    axes = score_figure(edited(cliff, zones=(stable, Zone(name="degraded", min_tokens=8_000, max_tokens=9_000)))).axes[
        0
    ]
    hollow = next(line for line in axes.lines if line.get_label() == "not decided")
    assert np.asarray(hollow.get_xdata()).tolist() == [b.median_tokens for b in cliff.analysis.bins[1:4]]
    assert hollow.get_markerfacecolor() == "white"


def test_a_cell_of_one_sample_is_faint_and_n_stands_over_the_columns(cliff: Report) -> None:
    few = tuple(replace(cell, n_samples=1 + place % 3) for place, cell in enumerate(cliff.analysis.cells))
    figure = heatmap_figure(edited(cliff, cells=few))
    assert len(figure.axes[0].patches) == sum(cell.n_samples == 1 for cell in few)
    said = words(figure)
    assert "faint: a single sample" in said
    assert "n=9" in said  # of 1, 2, 3, 1 and 2 samples
    assert "1.00" in said
    assert "1.00\nn=2" in said
    assert "n=20" in words(heatmap_figure(cliff))
    assert "1.00\nn=4" not in words(heatmap_figure(cliff))


def test_curves_of_runs_are_of_what_is_tested(cliff: Report) -> None:
    written = by_health(cliff, TIERS)
    shares = [level.share for level in known(writing_in(written).health).levels]
    one = row(written)
    assert [point.mean for point in one.curve] == shares != [b.mean for b in written.analysis.bins]
    for figure in (
        curves_figure({"a": written}),
        sweep_curves_figure([one], names={0: "a"}),
        drawn(written, "healthy_rounds"),
    ):
        assert figure.axes[0].get_ylabel() == "share of healthy rounds"
    assert across(sweep_curves_figure([one], names={0: "a"}).axes[0]) == [0.7]
    assert "The cap is by the share of healthy rounds, not this" in " ".join(words(score_figure(written)))


OF_SCORES: dict[str, Callable[[Report], Figure]] = {
    "score": score_figure,
    "heatmap": heatmap_figure,
    "latency": latency_figure,
    "failures": failures_figure,
    "decay": lambda report: drawn(sloping(report), "decay_curve"),
    "several runs": lambda report: curves_figure(dict.fromkeys("abcdefgh", report)),
    "search": lambda _: drawn(search_report(cliff_at=13_000), "search"),
    "documents": lambda _: audit_figure(AUDIT, title="documents"),
}


def covered(figure: Figure) -> list[str]:
    """Legends that lie over an axes that shows something."""
    figure.canvas.draw()
    boxes = [axes.get_window_extent() for axes in figure.axes if axes.axison]
    found = [legend for legend in figure.findobj(Legend) if isinstance(legend, Legend)]
    # A shrunk box forgives a pixel of rounding.
    return [
        ", ".join(text.get_text() for text in legend.get_texts())
        for legend in found
        if any(legend.get_window_extent().padded(-1).overlaps(box.padded(-1)) for box in boxes)
    ]


@pytest.mark.parametrize("name", OF_SCORES)
@pytest.mark.parametrize("lengths", [5, pytest.param(12, marks=pytest.mark.slow)])
def test_no_legend_covers_an_axes(full: Report, name: str, lengths: int) -> None:
    report = relaid(full, lengths=[int(1024 * 2 ** (i / 2)) for i in range(lengths)])
    assert covered(OF_SCORES[name](report)) == []


def curves_of(axes: Axes) -> list[Line2D]:
    return [line for line in axes.lines if len(np.atleast_1d(line.get_xdata())) > 2]


def across(axes: Axes) -> list[float]:
    found = [np.asarray(line.get_ydata(), dtype=float) for line in axes.lines]
    return [float(y[0]) for y in found if len(y) == 2 and y[0] == y[1]]


def row(report: Report, job: int = 0) -> SweepRow:
    place = SweepPlace(sweep_id="s", name="s", command="", job=job, n_jobs=2)
    return row_of(report, place, folder="f")


@pytest.mark.parametrize("count", [2, 8, 10])
def test_equal_runs_lie_apart_within_half_a_gap_and_differ_in_colour_and_mark(cliff: Report, count: int) -> None:
    figure = curves_figure({f"run {place}": cliff for place in range(count)})
    axes, lengths = figure.axes[0], [b.median_tokens for b in cliff.analysis.bins]
    lines = curves_of(axes)
    moved = [np.asarray(line.get_xdata(), dtype=float) / lengths for line in lines]
    assert len({factors[0] for factors in moved}) == len(set(marked(axes))) == len(lines) == count
    assert all(np.all(np.abs(np.log2(factors)) < 0.5) and np.allclose(factors, factors[0]) for factors in moved)
    assert len({line.get_color() for line in lines}) == len({line.get_marker() for line in lines}) == count
    assert overlaps(figure) == []


def test_thresholds_that_differ_are_drawn_and_named_a_run(cliff: Report) -> None:
    cap = replace(cliff.analysis.safe_cap, relative_to_baseline=True, threshold_score=0.72)
    figure = curves_figure({"a": cliff, "b": edited(cliff, safe_cap=cap)})
    lines = {line.get_color(): line for line in curves_of(figure.axes[0])}
    assert sorted(across(figure.axes[0])) == [0.72, 0.8]
    levels = [line for line in figure.axes[0].lines if len(np.atleast_1d(line.get_ydata())) == 2]
    assert {line.get_color() for line in levels} <= set(lines)
    assert any(text.endswith("threshold 0.72)") for text in words(figure))


def test_a_sweep_draws_a_relative_threshold_as_the_score_that_it_comes_to(cliff: Report) -> None:
    cap = replace(cliff.analysis.safe_cap, relative_to_baseline=True, threshold=0.8, threshold_score=0.72)
    one = row(edited(cliff, safe_cap=cap))
    assert (one.threshold, one.threshold_score) == (0.8, 0.72)
    assert across(sweep_curves_figure([one], names={0: "a"}).axes[0]) == [0.72]


@given(st.lists(st.integers(0, 200_000), min_size=1, max_size=200))
def test_every_document_is_in_exactly_one_class(lengths: list[int]) -> None:
    classes = length_classes(lengths)
    assert sum(documents for _, _, documents in classes) == len(lengths)
    assert len(classes) <= 12
    assert all(high + 1 == low for (_, high, _), (low, _, _) in itertools.pairwise(classes))


def test_an_empty_set_has_no_class_and_can_still_be_drawn() -> None:
    assert length_classes(()) == []
    empty = LengthAudit(lengths=(), too_short=0, too_long=0, bins=())
    render_audit(empty, Console(file=StringIO()))
