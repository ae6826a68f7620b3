"""The figures of what was found beside the cap: decay, depth, facets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from contextcliff.findings.facets import FacetRow
from contextcliff.findings.position import DepthPoint
from contextcliff.records.report import Report
from tests.reporting.figure_texts import drawn, figure_of, overlaps, words
from tests.simulated_reports import edited, findings_in, relaid

MakeFacets = Callable[..., tuple[FacetRow, ...]]


def curve(axes: Axes, *, style: str) -> Line2D | None:
    """The fitted decay: the only line of so many points."""
    return next(
        (line for line in axes.lines if len(np.asarray(line.get_xydata())) > 100 and line.get_linestyle() == style),
        None,
    )


def has_decay(report: Report) -> bool:
    return figure_of(report, "decay_curve").has_data(report)


def marked(axes: Axes) -> list[float]:
    """Where vertical lines stand, in tokens."""
    found = [np.asarray(line.get_xdata(), dtype=float) for line in axes.lines]
    return [float(x[0]) for x in found if len(x) == 2 and x[0] == x[1]]


def test_the_fitted_curve_is_half_of_its_start_at_the_half_life(full: Report) -> None:
    line = curve(drawn(full, "decay_curve").axes[0], style="-")
    assert line is not None
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
        edited(full, half_life=replace(findings_in(full).half_life, tokens=tokens, ci_low=2, ci_high=None)),
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
    "lengths",
    [
        pytest.param([2048], id="one"),
        pytest.param([4096, 32_768, 1_048_576], id="three"),
        pytest.param([1000 * i for i in range(1, 31)], id="thirty-linear"),
        pytest.param([int(1024 * 2 ** (i / 2.9)) for i in range(20)], id="twenty-geometric"),
    ],
)
@pytest.mark.parametrize("half_life", [None, 900, 6_500, 2_000_000])
def test_no_text_of_a_decay_covers_another(full: Report, lengths: list[int], half_life: int | None) -> None:
    report = relaid(full, lengths=lengths)
    assert (
        overlaps(
            drawn(edited(report, half_life=replace(findings_in(report).half_life, tokens=half_life)), "decay_curve")
        )
        == []
    )


@pytest.mark.parametrize("depths", [2, 5, 30])
def test_no_text_of_a_profile_covers_another(full: Report, depths: int) -> None:
    profile = tuple(
        DepthPoint(depth=i / (depths - 1), n_samples=12_345, mean=0.5, ci_low=0.4, ci_high=0.6) for i in range(depths)
    )
    assert overlaps(drawn(edited(full, profile=profile), "depth_profile")) == []


@pytest.mark.parametrize(
    ("facets", "values", "value"),
    [(1, 1, "v"), (1, 13, "W" * 60), (2, 3, "value"), (4, 2, "1,024–2,048"), (9, 5, "a rather long topic of its own")],
)
def test_no_text_of_the_facets_covers_another(
    full: Report, facet_rows: MakeFacets, facets: int, values: int, value: str
) -> None:
    rows = facet_rows(facets=facets, values=values, value=value, name="a_facet_with_a_name_as_long_as_this")
    figure = drawn(edited(full, facets=rows), "facets")
    assert overlaps(figure) == []
    # What the names take stays inside the figure: a tight box cuts nothing, but a wide one would shrink the page.
    assert all(text.get_window_extent().x0 >= 0 for panel in figure.axes[1:] for text in panel.texts)
