"""The figures: which are drawn, and that what is written on them can be read."""

from __future__ import annotations

import logging
import math
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from contextcliff.findings.drawing import depth_labels, legible
from contextcliff.findings.facets import FacetRow
from contextcliff.findings.failures import latency_figure
from contextcliff.findings.finding import images_of
from contextcliff.findings.position import DepthPoint
from contextcliff.findings.score import heatmap_figure, score_figure
from contextcliff.records.note import as_it_is
from contextcliff.records.report import Report
from contextcliff.reporting.figures.report_figures import draw_figures
from tests.make import known
from tests.reporting.figure_texts import drawn, overlaps, words
from tests.simulated_reports import edited, findings_in, relaid


@pytest.mark.parametrize("depths", [1, 20])
@pytest.mark.parametrize(
    "lengths",
    [
        pytest.param([2048], id="one"),
        pytest.param([4096, 32_768, 1_048_576], id="three", marks=pytest.mark.slow),
        pytest.param([1000 * 2**i for i in range(8)], id="eight", marks=pytest.mark.slow),
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


@pytest.mark.slow
def test_drawing_touches_no_pyplot_and_importing_no_matplotlib(tmp_path: Path) -> None:
    program = (
        "import sys, contextcliff.reporting.files as f, contextcliff.reporting.console\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from contextcliff.findings.drawing import blank\n"
        "blank(width=2, height=1)[0].savefig(sys.argv[1])\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "x.png")], check=True)


def test_depth_labels_tell_depths_apart() -> None:
    assert depth_labels([0.0, 0.5, 1.0]) == ["0.0", "0.5", "1.0"]
    assert depth_labels([0.0, 0.25, 1.0]) == ["0.00", "0.25", "1.00"]
    assert len(set(depth_labels([i / 199 for i in range(200)]))) == 200


def test_labels_that_are_kept_include_both_ends() -> None:
    assert legible([0.0, 0.1, 0.2, 1.0, 1.05], gap=0.3) == {0, 4}
    assert legible([], gap=1.0) == frozenset()
    assert legible([5.0], gap=1.0) == {0}


MakeFacets = Callable[..., tuple[FacetRow, ...]]


def curve(axes: Axes, *, style: str) -> Line2D | None:
    """The fitted decay: the only line of so many points."""
    return next(
        (line for line in axes.lines if len(np.asarray(line.get_xydata())) > 100 and line.get_linestyle() == style),
        None,
    )


def has_decay(report: Report) -> bool:
    return "decay_curve" in images_of(report)


def marked(axes: Axes) -> list[float]:
    """Where vertical lines stand, in tokens."""
    found = [np.asarray(line.get_xdata(), dtype=float) for line in axes.lines]
    return [float(x[0]) for x in found if len(x) == 2 and x[0] == x[1]]


def test_the_fitted_curve_is_half_of_its_start_at_the_half_life(full: Report) -> None:
    line = known(curve(drawn(full, "decay_curve").axes[0], style="-"))
    for tokens, score in np.asarray(line.get_xydata(), dtype=float):
        half_life = findings_in(full).half_life
        assert score == pytest.approx(half_life.initial * math.exp(-math.log(2) * tokens / half_life.tokens))


def test_the_curve_is_dashed_beyond_the_longest_test(full: Report) -> None:
    axes = drawn(full, "decay_curve").axes[0]
    solid, dashed = curve(axes, style="-"), curve(axes, style="--")
    assert solid is not None
    assert dashed is not None
    longest = max(b.median_tokens for b in full.analysis.bins)
    assert np.max(solid.get_xdata()) == pytest.approx(longest)
    assert np.min(dashed.get_xdata()) == pytest.approx(longest)


def test_a_half_life_somewhat_beyond_the_longest_test_widens_the_axis(full: Report) -> None:
    far = edited(full, half_life=replace(findings_in(full).half_life, tokens=25_000, censored=True))
    axes = drawn(far, "decay_curve").axes[0]
    assert marked(axes) == [25_000]
    assert axes.get_xlim()[1] > 25_000


@pytest.mark.parametrize("tokens", [3, 2_000_000])
def test_a_half_life_far_off_the_axis_is_told_and_not_drawn(full: Report, tokens: int) -> None:
    figure = drawn(
        edited(full, half_life=replace(findings_in(full).half_life, tokens=tokens, ci_low=2, ci_high=2 * tokens)),
        "decay_curve",
    )
    assert marked(figure.axes[0]) == []
    assert f"half-life {tokens:,} (beyond this axis)" in words(figure)
    low, high = figure.axes[0].get_xlim()
    assert low > 100
    assert high < 20_000


def test_a_decay_takes_depths_and_two_scored_lengths_or_a_half_life(full: Report) -> None:
    silent = tuple(replace(b, mean=None) for b in full.analysis.bins[1:])
    none = replace(findings_in(full).half_life, tokens=None)
    assert has_decay(edited(full, half_life=none))
    assert has_decay(edited(full, bins=full.analysis.bins[:1]))
    assert not has_decay(edited(full, cells=()))
    assert not has_decay(edited(full, bins=(full.analysis.bins[0], *silent), half_life=none))
    assert not has_decay(edited(full, bins=silent))


def test_long_names_that_differ_at_their_ends_still_differ(full: Report, facet_rows: MakeFacets) -> None:
    said = words(drawn(edited(full, facets=facet_rows(facets=1, value="v" * 200)), "facets"))
    names = [text for text in said if text.startswith("vvv")]
    assert len(set(names)) == 3
    assert max(map(len, names)) <= 32


@pytest.mark.parametrize(
    "half_life", [900, *(pytest.param(n, marks=pytest.mark.slow) for n in (None, 6_500, 2_000_000))]
)
def test_no_text_of_a_decay_covers_another(full: Report, half_life: int | None) -> None:
    linear, geometric = range(1_000, 31_000, 1_000), [int(1024 * 2 ** (i / 2.9)) for i in range(20)]
    for lengths in ([2048], [4096, 32_768, 1_048_576], linear, geometric):
        report = relaid(full, lengths=list(lengths))
        found = replace(findings_in(report).half_life, tokens=half_life)
        assert overlaps(drawn(edited(report, half_life=found), "decay_curve")) == []


@pytest.mark.parametrize("depths", [2, 5, 30])
def test_no_text_of_a_profile_covers_another(full: Report, depths: int) -> None:
    profile = tuple(
        DepthPoint(depth=i / (depths - 1), n_samples=12_345, mean=0.5, ci_low=0.4, ci_high=0.6) for i in range(depths)
    )
    assert overlaps(drawn(edited(full, profile=profile), "depth_profile")) == []


@pytest.mark.parametrize(
    ("facets", "values", "value"),
    [
        (1, 13, "W" * 60),
        *(pytest.param(*few, marks=pytest.mark.slow) for few in ((1, 1, "v"), (2, 3, "value"), (4, 2, "1,024–2,048"))),
        (9, 5, "a rather long topic of its own"),
    ],
)
def test_no_text_of_the_facets_covers_another(
    full: Report, facet_rows: MakeFacets, facets: int, values: int, value: str
) -> None:
    rows = facet_rows(facets=facets, values=values, value=value, name="a_facet_with_a_name_as_long_as_this")
    figure = drawn(edited(full, facets=rows), "facets")
    assert overlaps(figure) == []
    # What the names take stays inside the figure: a tight box cuts nothing, but a wide one would shrink the page.
    assert all(text.get_window_extent().x0 >= 0 for panel in figure.axes[1:] for text in panel.texts)
