"""Several runs in one picture: equal curves are all seen, lengths are called what they are, thresholds are drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from contextcliff.actions.track import row_of
from contextcliff.records.report import Report
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.figures.run_curves import curves_figure, sweep_curves_figure
from contextcliff.tracking.tracker import SweepPlace
from tests.reporting.figure_texts import overlaps, words
from tests.simulated_reports import edited


def curves_of(axes: Axes) -> list[Line2D]:
    return [line for line in axes.lines if len(np.atleast_1d(line.get_xdata())) > 2]


def across(axes: Axes) -> list[float]:
    found = [np.asarray(line.get_ydata(), dtype=float) for line in axes.lines]
    return [float(y[0]) for y in found if len(y) == 2 and y[0] == y[1]]


def down(axes: Axes) -> list[float]:
    found = [np.asarray(line.get_xdata(), dtype=float) for line in axes.lines]
    return [float(x[0]) for x in found if len(x) == 2 and x[0] == x[1]]


def named(*reports: Report) -> dict[str, Report]:
    return {f"run {place}": report for place, report in enumerate(reports)}


def row(report: Report, job: int = 0) -> SweepRow:
    place = SweepPlace(sweep_id="s", name="s", command="", job=job, n_jobs=2)
    return row_of(report, place, folder="f")


@pytest.mark.parametrize("count", [2, 8, 10])
def test_equal_runs_lie_apart_and_differ_in_colour_and_mark(cliff: Report, count: int) -> None:
    axes = curves_figure(named(*[cliff] * count)).axes[0]
    lines = curves_of(axes)
    assert len(lines) == count
    starts = [float(np.asarray(line.get_xdata())[0]) for line in lines]
    assert len(set(starts)) == len(set(down(axes))) == count
    assert len({line.get_color() for line in lines}) == len({line.get_marker() for line in lines}) == count


@pytest.mark.parametrize("count", [2, 10])
def test_no_run_is_moved_further_than_half_way_to_the_next_length(cliff: Report, count: int) -> None:
    lengths = [b.median_tokens for b in cliff.analysis.bins]
    for line in curves_of(curves_figure(named(*[cliff] * count)).axes[0]):
        moved = np.asarray(line.get_xdata(), dtype=float) / lengths
        assert np.all(np.abs(np.log2(moved)) < 0.5)
        assert np.allclose(moved, moved[0])


def test_thresholds_that_differ_are_drawn_and_named_a_run(cliff: Report) -> None:
    cap = replace(cliff.analysis.safe_cap, relative_to_baseline=True, threshold_score=0.72)
    figure = curves_figure(named(cliff, edited(cliff, safe_cap=cap)))
    lines = {line.get_color(): line for line in curves_of(figure.axes[0])}
    assert sorted(across(figure.axes[0])) == [0.72, 0.8]
    levels = [line for line in figure.axes[0].lines if len(np.atleast_1d(line.get_ydata())) == 2]
    assert {line.get_color() for line in levels} <= set(lines)
    assert any(text.endswith("threshold 0.72)") for text in words(figure))


def test_a_threshold_of_something_else_than_the_score_is_not_drawn(cliff: Report) -> None:
    healthy = edited(cliff, safe_cap=replace(cliff.analysis.safe_cap, quantity="healthy"))
    assert across(curves_figure(named(healthy, healthy)).axes[0]) == []
    assert across(sweep_curves_figure([row(healthy)], names={0: "a"}).axes[0]) == []


def test_a_sweep_draws_a_relative_threshold_as_the_score_that_it_comes_to(cliff: Report) -> None:
    cap = replace(cliff.analysis.safe_cap, relative_to_baseline=True, threshold=0.8, threshold_score=0.72)
    one = row(edited(cliff, safe_cap=cap))
    assert (one.threshold, one.threshold_score) == (0.8, 0.72)
    assert across(sweep_curves_figure([one], names={0: "a"}).axes[0]) == [0.72]


@pytest.mark.parametrize("count", [1, 3, 8])
def test_no_text_covers_another(cliff: Report, flat: Report, count: int) -> None:
    assert overlaps(curves_figure(named(*[cliff, flat, cliff, flat, cliff, flat, cliff, flat][:count]))) == []
