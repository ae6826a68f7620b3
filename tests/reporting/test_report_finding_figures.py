"""The figures of what was found beside the cap: decay, depth, facets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from contextcliff.findings.facets import FacetRow
from contextcliff.findings.half_life import decay_misfit, decay_score
from contextcliff.findings.position import DepthPoint
from contextcliff.records.note import as_it_is
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


# ---------------------------------------------------------------- decay


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


def across(axes: Axes) -> set[float]:
    found = [np.asarray(line.get_ydata(), dtype=float) for line in axes.lines]
    return {float(y[0]) for y in found if len(y) == 2 and y[0] == y[1]}


def test_the_threshold_of_the_cap_and_the_level_of_the_guide_are_drawn_and_named(full: Report) -> None:
    figure = drawn(full, "decay_curve")
    assert across(figure.axes[0]) == {0.8, 0.5}
    assert {"threshold 0.80", "0.5: danger below"} <= set(words(figure))
    low = edited(full, safe_cap=replace(full.analysis.safe_cap, threshold=0.52))
    assert across(drawn(low, "decay_curve").axes[0]) == {0.52}


def test_a_bar_from_the_curve_to_each_mean_shows_the_misfit_and_the_legend_its_size(full: Report) -> None:
    figure = drawn(full, "decay_curve")
    fit, bins = findings_in(full).half_life, full.analysis.bins
    misfit = decay_misfit(fit, bins)
    assert misfit is not None
    label = f"misfit of the curve: {misfit.rms:.2f} root mean square, {abs(misfit.largest):.2f} at most"
    (bars,) = (found for found in figure.axes[0].collections if found.get_label() == label)
    assert isinstance(bars, LineCollection)
    for each, bar in zip(bins, bars.get_segments(), strict=True):
        fitted = decay_score(fit, each.median_tokens)
        assert np.asarray(bar).tolist() == [[each.median_tokens, fitted], [each.median_tokens, each.mean]]
    assert label in words(figure)


def test_without_a_fit_there_is_no_misfit(full: Report) -> None:
    none = edited(full, half_life=replace(findings_in(full).half_life, tokens=None, initial=None))
    assert not any("misfit" in text for text in words(drawn(none, "decay_curve")))


def test_a_half_life_is_marked_and_its_interval_shaded(full: Report) -> None:
    figure = drawn(full, "decay_curve")
    tokens = findings_in(full).half_life.tokens
    assert marked(figure.axes[0]) == [tokens]
    assert {f"half-life {tokens:,}", "interval of the half-life"} <= set(words(figure))


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


def test_without_a_half_life_there_is_no_curve_and_the_reason_stands_under_the_title(full: Report) -> None:
    found = replace(
        findings_in(full).half_life,
        tokens=None,
        initial=None,
        ci_high=None,
        reason=as_it_is("the score does not fall"),
    )
    figure = drawn(edited(full, half_life=found), "decay_curve")
    assert curve(figure.axes[0], style="-") is None
    assert marked(figure.axes[0]) == []
    assert any("No half-life: the score does not fall" in text for text in words(figure))


def test_a_decay_takes_depths_and_two_scored_lengths_or_a_half_life(full: Report) -> None:
    silent = tuple(replace(b, mean=None) for b in full.analysis.bins[1:])
    none = replace(findings_in(full).half_life, tokens=None)
    assert has_decay(edited(full, half_life=none))
    assert has_decay(edited(full, bins=full.analysis.bins[:1]))
    assert not has_decay(edited(full, cells=()))
    assert not has_decay(edited(full, bins=(full.analysis.bins[0], *silent), half_life=none))
    assert not has_decay(edited(full, bins=silent))


def test_a_length_without_a_score_is_a_cross_and_has_no_bar(full: Report) -> None:
    silent = replace(full.analysis.bins[-1], mean=None, ci_low=None, ci_high=None)
    figure = drawn(edited(full, bins=(*full.analysis.bins[:-1], silent)), "decay_curve")
    assert "nothing scored" in words(figure)
    line = curve(figure.axes[0], style="-")
    assert line is not None
    assert np.max(line.get_xdata()) == pytest.approx(full.analysis.bins[-2].median_tokens)


# ---------------------------------------------------------------- depth


def test_a_pattern_that_was_not_tested_is_not_named_and_the_reason_is_given(full: Report) -> None:
    position = replace(findings_in(full).position, pattern=None, p_value=None, reason=as_it_is("there are 2 depths"))
    said = words(drawn(edited(full, position=position), "depth_profile"))
    assert any(text.startswith("Score by depth: ") for text in said)
    assert any("no pattern was tested: there are 2 depths" in " ".join(text.split()) for text in said)


# ---------------------------------------------------------------- facets


def test_each_facet_has_a_panel_with_a_row_a_value(full: Report, facet_rows: MakeFacets) -> None:
    rows = facet_rows()
    figure = drawn(edited(full, facets=rows), "facets")
    said = words(figure)
    assert {"hops", "hops 1"} <= set(said)
    assert said.count("value 1") == said.count("n=10") == 2
    panels = figure.axes[1:]
    assert [np.asarray(panel.lines[-1].get_xdata()).tolist() for panel in panels] == [
        [row.mean for row in rows if row.facet == facet] for facet in ("hops", "hops_1")
    ]


def test_long_names_that_differ_at_their_ends_still_differ(full: Report, facet_rows: MakeFacets) -> None:
    said = words(drawn(edited(full, facets=facet_rows(facets=1, value="v" * 200)), "facets"))
    names = [text for text in said if text.startswith("vvv")]
    assert len(set(names)) == 3
    assert max(map(len, names)) <= 32


# ---------------------------------------------------------------- legibility


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
