"""What is decided of candidates, drawn: differences from the baseline, and memory of the KV cache against the cap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contextcliff.findings import phrases
from contextcliff.findings.drawing import SMALL, blank, drawable, heading, width_of
from contextcliff.records.comparison import CandidateVerdict, Difference, PairedDecision
from contextcliff.reporting.comparison.verdicts import WORDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_WIDTH, _ROW, _EDGE = 7.0, 0.24, 0.35
LOOKS: dict[CandidateVerdict, tuple[str, str]] = {
    "worse": ("#b3261e", "v"),
    "better": ("#1f5fa8", "^"),
    "not_worse": ("#2e7d32", "o"),
    "unknown": ("0.45", "s"),
}
"""Colour and mark of a verdict: told apart without the colour."""


def forest_figure(decisions: Sequence[tuple[str, PairedDecision]], *, baseline: str) -> Figure:
    """Draw the differences of at least one candidate, given by name, and of each of its lengths."""
    from matplotlib.lines import Line2D

    lines = [line for name, decision in decisions for line in _lines(name, decision)]
    first = decisions[0][1]
    height = _ROW * len(lines) + 2 * _EDGE
    figure, axes = blank(width=_WIDTH, height=height)
    margin = first.margin
    reach = max(2.0 * margin, *(abs(end) for _, d, _, _ in lines for end in (d.low, d.high)))
    axes.set_xlim(-108.0 * reach, 108.0 * reach)
    axes.set_ylim(len(lines) - 0.5 + _EDGE / _ROW, -0.5 - _EDGE / _ROW)
    axes.axvspan(-100.0 * margin, 0.0, color="0.93", zorder=0)
    axes.axvline(0.0, color="0.3", linewidth=1.0)
    axes.axvline(-100.0 * margin, color="#b3261e", linewidth=1.0, linestyle=(0, (4, 2)))
    for place, (_, difference, verdict, is_overall) in enumerate(lines):
        colour, mark = LOOKS[verdict] if is_overall else ("0.35", ".")
        ends = [100.0 * difference.low, 100.0 * difference.high]
        axes.plot(ends, [place, place], color=colour, linewidth=2.2 if is_overall else 1.1, solid_capstyle="butt")
        axes.plot([100.0 * difference.mean], [place], mark, color=colour, markersize=7 if is_overall else 5)
    names = [drawable(name) for name, _, _, _ in lines]
    axes.set_yticks(range(len(lines)), labels=names, fontsize=SMALL)
    for label, (_, _, _, is_overall) in zip(axes.get_yticklabels(), lines, strict=True):
        label.set_fontweight("bold" if is_overall else "normal")
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=SMALL)
    for place, (_, difference, _, is_overall) in enumerate(lines):
        axes.annotate(
            f"n {difference.n_pairs:,}",
            (1.01, place),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=SMALL,
            color="0.35",
            fontweight="bold" if is_overall else "normal",
        )
    mean = phrases.MEANS[first.quantity]
    axes.set_xlabel(f"difference of the {mean} from the baseline's, in points of a hundred", fontsize=9)
    heading(
        axes,
        title=f"Differences from {baseline}",
        subtitle=f"Left of 0 is worse; dashed: the margin of {100.0 * margin:g} points. Each end of an interval holds "
        f"at {first.confidence:.0%}",
        inches=_WIDTH,
        above=10,
    )
    verdicts = dict.fromkeys(decision.verdict for _, decision in decisions)
    handles = [
        Line2D([], [], color=LOOKS[v][0], marker=LOOKS[v][1], linewidth=2.2, markersize=7, label=WORDS[v])
        for v in verdicts
    ]
    _legend(axes, handles, height=height, columns=4)
    return figure


def _legend(axes: Axes, handles: Sequence[Line2D], *, height: float, columns: int) -> None:
    axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.0, -0.55 / height),
        borderaxespad=0.0,
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
    )


_Line = tuple[str, Difference, CandidateVerdict, bool]
"""Label, difference, verdict of the candidate, and whether it is of all lengths."""


def _lines(name: str, decision: PairedDecision) -> Iterator[_Line]:
    yield _fitted(name), decision.overall, decision.verdict, True
    for each in decision.lengths:
        yield f"{each.context_tokens:,}", each.difference, decision.verdict, False


def _fitted(name: str, inches: float = 3.0) -> str:
    """A name that leaves room for the picture; the table has it whole."""
    if width_of(drawable(name)) <= inches:
        return name
    while name and width_of(drawable(f"{name}…")) > inches:
        name = name[:-1]
    return f"{name}…"


_HEIGHT = 3.6
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
        colour, mark, _ = _look(point)
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
    handles = [
        Line2D([], [], color=colour, marker=mark, linestyle="none", markersize=7, label=word)
        for colour, mark, word in dict.fromkeys(map(_look, points))
    ]
    _legend(axes, handles, height=_HEIGHT, columns=5)
    return figure


def frontier(points: Sequence[ParetoPoint]) -> tuple[ParetoPoint, ...]:
    """Those that none beats in memory and cap together, by memory ascending."""
    best: list[ParetoPoint] = []
    for point in sorted(points, key=lambda each: (each.bytes_per_token, -(each.cap_tokens or 0))):
        if not best or (point.cap_tokens or 0) > (best[-1].cap_tokens or 0):
            best.append(point)
    return tuple(best)


def _look(point: ParetoPoint) -> tuple[str, str, str]:
    """Colour, mark and word."""
    if point.is_baseline:
        return ("black", "D", "baseline")
    return ("0.45", "x", "no verdict") if point.verdict is None else (*LOOKS[point.verdict], WORDS[point.verdict])
