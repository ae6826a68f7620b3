"""The heatmap: which side of the threshold a cell is on, what was not measured, and who can see it."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from contextcliff.findings.drawing import luminance, score_colours
from contextcliff.findings.score import heatmap_figure
from contextcliff.records.report import Report
from tests.reporting.figure_texts import words
from tests.simulated_reports import edited

SCORES = [i / 100 for i in range(101)]
# Machado, Oliveira & Fernandes 2009, severity 1.0, on linear RGB.
BLINDNESS = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
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


def test_a_score_at_the_threshold_is_above_it() -> None:
    colours = score_colours(0.8)
    red, _, blue = colours.of(0.8)
    assert blue > red
    red, _, blue = colours.of(0.799)
    assert red > blue


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
