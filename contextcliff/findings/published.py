"""Curves that others have published: a table with its sources, and thin lines behind those of a figure of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.findings import phrases
from contextcliff.findings.drawing import drawable
from contextcliff.findings.finding import Block, Lines, Table, Text, columns
from contextcliff.records.published import PublishedCurve
from contextcliff.records.sample import same_length

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#7a8aa0", "#a08a5c", "#7c9a78", "#9a7a94", "#a0766c", "#6f9a9c")
"""Muted, so that the user's own curves stand in front."""
_STROKES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))
_SIZE, _GAP_INCHES = 7, 0.125
LABEL = "published by others, not tested here"


def published_blocks(curves: Sequence[PublishedCurve]) -> tuple[Block, ...]:
    """A row for each curve, the source of each table, and how they are to be read."""
    if not curves:
        return ()
    lengths = sorted({point.tokens for curve in curves for point in curve.points})
    scores = [{point.tokens: f"{point.score:.3f}" for point in curve.points} for curve in curves]
    meaning = (
        "Thin lines in the figure, as their sources print them: other prompts, other samples, often another mean over"
        " tasks. Nothing here is tested against them, and nothing is paired with them."
    )
    named = columns(
        curves, ("published", lambda curve: curve.model), ("table", lambda curve: curve.table),
        ("effective length", lambda curve: curve.effective_said or phrases.MISSING), words=("published", "table"),
    )  # fmt: skip
    by_length = columns(scores, *((f"{n:,}", lambda each, n=n: each.get(n, phrases.MISSING)) for n in lengths))
    told = Lines(lines=tuple(Text(text=said) for said in sources(curves)))
    return (Text(text=meaning), Table(columns=(*named, *by_length)), told)


def sources(curves: Sequence[PublishedCurve]) -> tuple[str, ...]:
    """What the scores of each table are, and where they stand."""
    tables = {curve.table: curve for curve in curves}
    return tuple(
        f"{name}: {'; '.join(part for part in (curve.metric, curve.asked) if part)}. {curve.source}"
        for name, curve in tables.items()
    )


def published_ends(curves: Sequence[PublishedCurve]) -> list[int]:
    """All published lengths, which an axis has to reach."""
    return [point.tokens for curve in curves for point in curve.points]


def ticks_with(lengths: Sequence[int], curves: Sequence[PublishedCurve]) -> list[int]:
    """Where an axis has ticks: at the tested lengths, and at published ones that are shorter or longer than all."""
    low, high, ends = min(lengths), max(lengths), published_ends(curves)
    shorter = {tokens for tokens in ends if tokens < low and not same_length(tokens, low)}
    longer = {tokens for tokens in ends if tokens > high and not same_length(high, tokens)}
    return sorted({*lengths, *shorter, *longer})


def published_lines(
    axes: Axes, curves: Sequence[PublishedCurve], *, height: float, taken: Sequence[float] = ()
) -> None:
    """Draws them on axes that are `height` inches high. At the scores `taken` other words stand at the right."""
    for place, curve in enumerate(curves):
        axes.plot(
            [point.tokens for point in curve.points], [point.score for point in curve.points],
            linestyle=_STROKES[place % len(_STROKES)], marker="" if len(curve.points) > 1 else ".",
            color=_COLOURS[place % len(_COLOURS)], linewidth=0.9, zorder=1.5,
            label=LABEL if place == 0 else "_nolegend_",
        )  # fmt: skip
    low, high = axes.get_ylim()
    gap = _GAP_INCHES * (high - low) / height
    ends = [curve.points[-1].score for curve in curves]
    for place, at in enumerate(spread(ends, taken=taken, gap=gap)):
        axes.annotate(
            drawable(f"{curves[place].model} ({curves[place].table})"), xy=(1, at), xycoords=("axes fraction", "data"),
            xytext=(6, 0), textcoords="offset points", va="center", fontsize=_SIZE,
            color=_COLOURS[place % len(_COLOURS)], annotation_clip=False, parse_math=False,
        )  # fmt: skip


def spread(places: Sequence[float], *, taken: Sequence[float], gap: float) -> list[float]:
    """The places, moved down until they are `gap` apart from each other and two gaps from those `taken`."""
    order = sorted(range(len(places)), key=lambda index: -places[index])
    found: dict[int, float] = {}
    above: float | None = None
    for index in order:
        at = places[index] if above is None else min(places[index], above - gap)
        for other in sorted(taken, reverse=True):
            if abs(at - other) < 2 * gap:
                at = other - 2 * gap
        found[index] = above = at
    return [found[index] for index in range(len(places))]
