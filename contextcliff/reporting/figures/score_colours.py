"""Colours of scores on either side of a threshold: told apart without red and green, and by people who lack either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.colors import Colormap, Normalize

BELOW, ABOVE = "orange", "purple"
"""What the two sides of the threshold are called."""
_DIVERGING, _SEQUENTIAL = "PuOr", "cividis"
_PALE = 0.14
"""Of a diverging map's middle, on either side: left out, so that a score just below differs from one just above."""
_DARK = 0.07
"""Of its ends: left out, so that no score is nearly black, as both ends of the map are."""
_STEPS = 128
"""Colours a side."""
_EDGE = 1e-3
"""A threshold at an end of the scale is drawn so far from it: both sides of the map have to be there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreColours:
    """A map of scores from 0 to 1 to colours; `is_split` where its two halves meet at a threshold."""

    colormap: Colormap
    norm: Normalize
    is_split: bool

    def of(self, score: float) -> tuple[float, float, float]:
        """Red, green and blue of a score, 0-1 each."""
        red, green, blue, _ = self.colormap(float(self.norm(score)))
        return red, green, blue

    def ink(self, score: float) -> str:
        """Black or white, whichever has more contrast on the colour of a score."""
        light = luminance(self.of(score))
        return "white" if 1.05 / (light + 0.05) > (light + 0.05) / 0.05 else "black"


def score_colours(threshold: float | None) -> ScoreColours:
    """Orange below the threshold, purple at it and above; one scale from dark to light where there is no threshold."""
    import matplotlib as mpl
    import numpy as np
    from matplotlib.colors import ListedColormap, Normalize, TwoSlopeNorm

    if threshold is None:
        return ScoreColours(colormap=mpl.colormaps[_SEQUENTIAL], norm=Normalize(0, 1), is_split=False)
    whole = mpl.colormaps[_DIVERGING]
    sides = (np.linspace(_DARK, 0.5 - _PALE, _STEPS), np.linspace(0.5 + _PALE, 1.0 - _DARK, _STEPS))
    centre = min(1.0 - _EDGE, max(_EDGE, threshold))
    return ScoreColours(
        colormap=ListedColormap(whole(np.concatenate(sides)), name="score by threshold"),
        norm=TwoSlopeNorm(vmin=0.0, vcenter=centre, vmax=1.0),
        is_split=True,
    )


def luminance(colour: tuple[float, float, float]) -> float:
    """Relative luminance of an sRGB colour, 0-1 (WCAG 2.2)."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
