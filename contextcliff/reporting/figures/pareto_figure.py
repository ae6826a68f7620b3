"""Memory of the KV cache against the safe cap: which policies does no other one beat in both?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contextcliff.findings.drawing import SMALL, blank, drawable, heading
from contextcliff.records.comparison import CandidateVerdict
from contextcliff.reporting.comparison.verdict_words import WORDS
from contextcliff.reporting.figures.forest_figure import LOOKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 7.0, 3.6
_BASELINE = ("black", "D")
_LEAST_CAP = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ParetoPoint:
    """A policy in the picture. Without a cap it stands on the axis."""

    name: str
    bytes_per_token: float
    cap_tokens: int | None
    verdict: CandidateVerdict | None
    """None: the baseline, or a run without a verdict."""
    is_baseline: bool
    is_chosen: bool


def pareto_figure(points: Sequence[ParetoPoint]) -> Figure:
    """Draw at least two policies."""
    from matplotlib.lines import Line2D

    figure, axes = blank(width=_WIDTH, height=_HEIGHT)
    caps = [point.cap_tokens or 0 for point in points]
    sizes = [point.bytes_per_token for point in points]
    axes.set_xlim(0.0, 1.25 * max(sizes))
    axes.set_ylim(0.0, 1.25 * max(_LEAST_CAP, *caps))
    best = frontier(points)
    axes.step(
        [0.0, *(point.bytes_per_token for point in best), 1.25 * max(sizes)],
        [0, *(point.cap_tokens or 0 for point in best), max(caps)],
        where="post",
        color="0.8",
        linewidth=1.2,
        zorder=1,
    )
    for point in points:
        colour, mark = _look(point)
        at = (point.bytes_per_token, point.cap_tokens or 0)
        axes.plot(*at, mark, color=colour, markersize=8, zorder=3, clip_on=False)
        if point.is_chosen:
            axes.plot(*at, "o", markersize=16, markerfacecolor="none", markeredgecolor=colour, zorder=2, clip_on=False)
    for place, point in enumerate(sorted(points, key=lambda each: (each.cap_tokens or 0, each.bytes_per_token))):
        axes.annotate(
            drawable(point.name),
            (point.bytes_per_token, point.cap_tokens or 0),
            xytext=(10, 9 if place % 2 or not point.cap_tokens else -13),  # never over the axis
            textcoords="offset points",
            fontsize=SMALL,
            fontweight="bold" if point.is_chosen else "normal",
        )
    axes.set_xlabel("bytes of KV cache a token", fontsize=9)
    axes.set_ylabel("safe cap, tokens", fontsize=9)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.tick_params(labelsize=SMALL)
    axes.spines[["top", "right"]].set_visible(False)
    heading(
        axes,
        title="Memory and safe cap",
        subtitle="Left is less memory, up is more context; the line joins the policies that no other one beats in both."
        " A ring marks the one to use. Two caps are bounds: the verdict compares the answers, pair by pair",
        inches=_WIDTH,
        above=10,
    )
    looks = dict.fromkeys((_look(point), _word(point)) for point in points)
    axes.legend(
        handles=[
            Line2D([], [], color=colour, marker=mark, linestyle="none", markersize=7, label=word)
            for (colour, mark), word in looks
        ],
        loc="upper left",
        bbox_to_anchor=(0.0, -0.55 / _HEIGHT),
        borderaxespad=0.0,
        ncols=5,
        frameon=False,
        fontsize=SMALL,
    )
    return figure


def frontier(points: Sequence[ParetoPoint]) -> tuple[ParetoPoint, ...]:
    """Those that none beats in memory and cap together, by memory ascending."""
    best: list[ParetoPoint] = []
    for point in sorted(points, key=lambda each: (each.bytes_per_token, -(each.cap_tokens or 0))):
        if not best or (point.cap_tokens or 0) > (best[-1].cap_tokens or 0):
            best.append(point)
    return tuple(best)


def _look(point: ParetoPoint) -> tuple[str, str]:
    if point.is_baseline:
        return _BASELINE
    return ("0.45", "x") if point.verdict is None else LOOKS[point.verdict]


def _word(point: ParetoPoint) -> str:
    if point.is_baseline:
        return "baseline"
    return "no verdict" if point.verdict is None else WORDS[point.verdict]
