"""Differences from a baseline with their intervals: a row for each candidate, and one for each of its lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contextcliff.findings import phrases
from contextcliff.findings.drawing import SMALL, blank, drawable, heading, width_of
from contextcliff.records.comparison import CandidateVerdict, Difference, PairedDecision
from contextcliff.reporting.comparison.verdict_words import WORDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _ROW, _EDGE = 7.0, 0.24, 0.35
LOOKS: dict[CandidateVerdict, tuple[str, str]] = {
    "worse": ("#b3261e", "v"),
    "better": ("#1f5fa8", "^"),
    "not_worse": ("#2e7d32", "o"),
    "unknown": ("0.45", "s"),
}
"""Colour and mark of a verdict: told apart without the colour."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ForestRow:
    """A candidate in the picture."""

    name: str
    decision: PairedDecision


def forest_figure(rows: Sequence[ForestRow], *, baseline: str) -> Figure:
    """Draw at least one candidate."""
    from matplotlib.lines import Line2D

    lines = [line for row in rows for line in _lines(row)]
    height = _ROW * len(lines) + 2 * _EDGE
    figure, axes = blank(width=_WIDTH, height=height)
    margin = rows[0].decision.margin
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
    mean = phrases.MEANS[rows[0].decision.quantity]
    axes.set_xlabel(f"difference of the {mean} from the baseline's, in points of a hundred", fontsize=9)
    confidence = rows[0].decision.confidence
    heading(
        axes,
        title=f"Differences from {baseline}",
        subtitle=f"Left of 0 is worse; dashed: the margin of {100.0 * margin:g} points. Each end of an interval holds "
        f"at {confidence:.0%}",
        inches=_WIDTH,
        above=10,
    )
    shown = dict.fromkeys(row.decision.verdict for row in rows)
    handles = [
        Line2D([], [], color=LOOKS[v][0], marker=LOOKS[v][1], linewidth=2.2, markersize=7, label=WORDS[v])
        for v in shown
    ]
    axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.0, -0.55 / height),
        borderaxespad=0.0,
        ncols=4,
        frameon=False,
        fontsize=SMALL,
    )
    return figure


_Line = tuple[str, Difference, CandidateVerdict, bool]
"""Label, difference, verdict of the candidate, and whether it is of all lengths."""


def _lines(row: ForestRow) -> list[_Line]:
    decision = row.decision
    overall: _Line = (_fitted(row.name), decision.overall, decision.verdict, True)
    return [
        overall,
        *((f"{each.context_tokens:,}", each.difference, decision.verdict, False) for each in decision.lengths),
    ]


def _fitted(name: str, inches: float = 3.0) -> str:
    """A name that leaves room for the picture; the table has it whole."""
    if width_of(drawable(name)) <= inches:
        return name
    while name and width_of(drawable(f"{name}…")) > inches:
        name = name[:-1]
    return f"{name}…"
