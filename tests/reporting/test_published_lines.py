"""Published curves in figures, charts and pages: behind the run's own, named, and called untested."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.findings.published import LABEL, spread
from contextcliff.findings.score import score_figure
from contextcliff.records.published import PublishedCurve, PublishedPoint
from contextcliff.records.report import Report
from contextcliff.reporting.figures.run_curves import curves_figure
from tests.reporting.figure_texts import overlaps, words
from tests.simulated_reports import edited


def made(model: str, *scores: float) -> PublishedCurve:
    return PublishedCurve(
        table="RULER",
        model=model,
        points=tuple(PublishedPoint(tokens=4_096 * 2**place, score=score) for place, score in enumerate(scores)),
        source="somewhere",
        date="2025-01-01",
        metric="share of answers",
        asked="13 tasks",
        effective_said="16K",
    )


CURVES = (made("Good <b>", 0.95, 0.94, 0.93), made("Alike", 0.95, 0.94, 0.92), made("Bad", 0.6, 0.3, 0.0))


@pytest.fixture
def beside(cliff: Report) -> Report:
    return edited(cliff, published=CURVES)


def test_a_run_has_the_lines_behind_its_own_each_named_at_the_right(beside: Report) -> None:
    figure = score_figure(beside)
    axes = figure.axes[0]
    thin = [line for line in axes.lines if line.get_linewidth() == 0.9]
    assert [list(np.asarray(line.get_ydata())) for line in thin] == [
        [0.95, 0.94, 0.93],
        [0.95, 0.94, 0.92],
        [0.6, 0.3, 0],
    ]
    assert max(line.get_zorder() for line in thin) < min(line.get_zorder() for line in axes.lines if line not in thin)
    assert {"Good <b> (RULER)", "Alike (RULER)", "Bad (RULER)"} <= set(words(figure))
    assert [text.get_text() for text in axes.get_legend().get_texts()].count(LABEL) == 1  # type: ignore[union-attr]
    assert overlaps(figure) == []
    assert axes.get_xlim()[1] > 16_384  # published lengths are seen, though the run is shorter


def test_no_zone_reaches_lengths_that_only_others_have_tested(beside: Report) -> None:
    axes = score_figure(beside).axes[0]
    longest = max(length.max_tokens for length in beside.analysis.bins)
    ends = [patch.get_window_extent().transformed(axes.transData.inverted()).x1 for patch in axes.patches]
    assert any(zone.name == "degraded" for zone in beside.analysis.zones)
    assert max(ends) <= longest * 1.001 < 16_384


def test_a_comparison_has_them_too(cliff: Report) -> None:
    figure = curves_figure({"a": cliff, "b": cliff}, published=CURVES)
    assert sum(line.get_linewidth() == 0.9 for line in figure.axes[0].lines) == len(CURVES)
    assert overlaps(figure) == []


@given(
    places=st.lists(st.floats(0, 1), max_size=8),
    taken=st.lists(st.floats(0, 1), max_size=1),
    gap=st.floats(0.01, 0.1),
)
def test_names_stand_apart_from_each_other_and_from_a_threshold(
    places: list[float], taken: list[float], gap: float
) -> None:
    found = spread(places, taken=taken, gap=gap)
    assert all(later <= earlier - gap + 1e-9 for earlier, later in pairwise(sorted(found, reverse=True)))
    assert all(abs(at - other) >= 2 * gap - 1e-9 for at in found for other in taken)
    order = sorted(range(len(places)), key=lambda place: -places[place])
    assert [found[place] for place in order] == sorted(found, reverse=True)
