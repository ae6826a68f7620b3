"""A chart of a page: Plotly's traces and layout, before a browser has drawn them."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

INK, MUTED, GRID, PAPER = "@ink", "@muted", "@grid", "@paper"
BLUE, RED, PURPLE, ORANGE, GREEN = "@blue", "@red", "@purple", "@orange", "@green"
"""Colours by name: the page has each for light and dark, and puts in the reader's."""
PALETTE = ("@one", "@two", "@three", "@four", "@five", "@six", "@seven", "@eight")
"""For kinds without an order; P. Okabe and K. Ito's colours, which the colour-blind tell apart."""
BAND = "@band"
"""Blue that one can see through."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """What Plotly draws. Every text in it that comes from outside is `in_chart`."""

    traces: tuple[Mapping[str, object], ...]
    layout: Mapping[str, object]
    height: int = 380
    """In pixels of the page."""


def in_chart(text: str) -> str:
    """A text escaped for Plotly: one line, in which nothing is read as a tag, an entity or a field."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    # A name is a template too: an unknown field in it would be left out.
    return html.escape(flat, quote=False).replace("%{", "%&#123;")


def length_axis(lengths: Sequence[int], *, title: str) -> dict[str, object]:
    """A logarithmic axis with a tick at each of these lengths, as far as they stay legible."""
    places = sorted({max(1, tokens) for tokens in lengths})
    return {
        "type": "log",
        "title": {"text": title},
        "tickmode": "array",
        "tickvals": places,
        "ticktext": [f"{tokens:,}" for tokens in places],
        "gridcolor": GRID,
        "zeroline": False,
        "automargin": True,
    }


def score_axis(title: str = "mean score") -> dict[str, object]:
    """Scores from 0 to 1, with room for marks at both ends."""
    return {"title": {"text": title}, "range": [-0.04, 1.06], "gridcolor": GRID, "zeroline": False, "automargin": True}


def line_down(tokens: int, *, text: str, colour: str, dash: str = "solid") -> tuple[dict[str, object], ...]:
    """A vertical line at a length on a logarithmic axis, and its name over the axes."""
    at = math.log10(max(1, tokens))
    return (
        {"type": "line", "x0": max(1, tokens), "x1": max(1, tokens), "y0": 0, "y1": 1, "yref": "paper",
         "line": {"color": colour, "width": 2, "dash": dash}},
        {"x": at, "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False,
         "text": in_chart(text), "font": {"color": colour, "size": 12}},
    )  # fmt: skip


def threshold_line(threshold: float) -> tuple[dict[str, object], dict[str, object]]:
    """A dashed line across at the threshold, and its name below it."""
    return (
        {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": threshold, "y1": threshold,
         "line": {"color": RED, "width": 1.5, "dash": "dash"}},
        {"x": 0, "xref": "paper", "xanchor": "left", "y": threshold, "yanchor": "top", "showarrow": False,
         "text": f"threshold {threshold:.2f}", "font": {"color": RED, "size": 12}},
    )  # fmt: skip


def interval_bars(
    means: Sequence[float | None], lows: Sequence[float | None], highs: Sequence[float | None]
) -> dict[str, object]:
    """The interval of each mean as bars upon it; none where an end is missing."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [minus(high, mean) for high, mean in zip(highs, means, strict=True)],
        "arrayminus": [minus(mean, low) for mean, low in zip(means, lows, strict=True)],
        "thickness": 1.2,
        "width": 3,
    }


def minus(number: float | None, by: float | None) -> float | None:
    """The difference; None where either number is missing."""
    return None if number is None or by is None else number - by


def plus(number: float | None, by: float | None) -> float | None:
    """The sum; None where either number is missing."""
    return None if number is None or by is None else number + by
