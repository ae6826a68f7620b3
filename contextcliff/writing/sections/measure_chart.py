"""Every measure of the prose by length, one at a time: a reader chooses it above the chart."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.reporting.page.chart import (
    BAND,
    BLUE,
    GRID,
    INK,
    MUTED,
    PAPER,
    Chart,
    in_chart,
    interval_bars,
    length_axis,
    minus,
    plus,
)
from contextcliff.writing.analysis.draws import level_of
from contextcliff.writing.measures.measure import BY_NAME, COMPOSITE
from contextcliff.writing.prose_findings import MeasureLevel, Writing, WritingTier
from contextcliff.writing.sections.shown_lengths import as_shown, shown_lengths
from contextcliff.writing.sections.writing_phrases import title, value, way
from contextcliff.writing.words.english_writing import COMPOSITE_TITLES

_LINES = 4
"""Of a measure: both edges of the author's band, the author's own next words, the model."""


def measure_chart(writing: Writing) -> Chart:
    """Draw prose that has lengths: the composite first, then what can be chosen in its place."""
    writing = as_shown(writing)
    tiers = sorted(writing.tiers, key=lambda tier: tier.context_tokens)
    names = [name for name in (*COMPOSITE_TITLES, *BY_NAME) if _measured(tiers, name)] or [COMPOSITE]
    return Chart(
        traces=tuple(trace for place, name in enumerate(names) for trace in _traces(tiers, name, shown=place == 0)),
        layout={
            "xaxis": length_axis([tier.context_tokens for tier in tiers], title=shown_lengths(writing).name),
            "yaxis": {"title": {"text": _axis(names[0])}, "gridcolor": GRID, "automargin": True, "zeroline": False},
            "margin": {"t": 56},
            "updatemenus": [
                {
                    "buttons": [_button(name, place, of=len(names)) for place, name in enumerate(names)],
                    "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "pad": {"b": 8},
                    "bgcolor": PAPER, "bordercolor": MUTED, "font": {"color": INK},
                }
            ],
        },
        height=440,
    )  # fmt: skip


def _measured(tiers: list[WritingTier], name: str) -> bool:
    return any(level_of(tier, name).mean is not None for tier in tiers)


def _button(name: str, place: int, *, of: int) -> dict[str, object]:
    shown = [at == place for at in range(of) for _ in range(_LINES)]
    return {
        "label": in_chart(_name(name)),
        "method": "update",
        "args": [{"visible": shown}, {"yaxis.title.text": _axis(name)}],
    }


def _name(name: str) -> str:
    return COMPOSITE_TITLES.get(name) or title(name)


def _axis(name: str) -> str:
    known = BY_NAME.get(name)
    unit, worse = ("0-100", "up is worse") if known is None else (known.unit, way(name))
    return in_chart(", ".join(part for part in (_name(name), unit, worse) if part))


def _traces(tiers: list[WritingTier], name: str, *, shown: bool) -> Iterator[dict[str, object]]:
    levels = [level_of(tier, name) for tier in tiers]
    x = [max(1, tier.context_tokens) for tier in tiers]
    edge = {"x": x, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "visible": shown}
    yield {**edge, "y": [minus(each.author_mean, each.author_std) for each in levels], "showlegend": False}
    yield {
        **edge,
        "y": [plus(each.author_mean, each.author_std) for each in levels],
        "fill": "tonexty",
        "fillcolor": BAND,
        "name": "the author, mean and one standard deviation",
        "showlegend": any(each.author_std is not None for each in levels),
    }
    yield {
        "x": x,
        "y": [each.original for each in levels],
        "mode": "lines",
        "line": {"color": MUTED, "width": 1.5, "dash": "dot"},
        "name": "the author's own next words",
        "showlegend": any(each.original is not None for each in levels),
        "hoverinfo": "text",
        "hovertext": [f"the author's own next words: {value(each.original)}" for each in levels],
        "visible": shown,
    }
    yield {
        "x": x,
        "y": [each.mean for each in levels],
        "error_y": interval_bars(
            [each.mean for each in levels], [each.ci_low for each in levels], [each.ci_high for each in levels]
        ),
        "mode": "lines+markers",
        "line": {"color": BLUE, "width": 2},
        "marker": {"size": 8},
        "name": "the model, mean and interval",
        "hoverinfo": "text",
        "hovertext": [_told(tier, each) for tier, each in zip(tiers, levels, strict=True)],
        "visible": shown,
    }


def _told(tier: WritingTier, level: MeasureLevel) -> str:
    lines = [f"<b>{value(level.mean)}</b> at {tier.context_tokens:,} tokens, n = {level.n:,}"]
    if level.ci_low is not None and level.ci_high is not None:
        lines.append(f"interval {value(level.ci_low)} to {value(level.ci_high)}")
    if level.z is not None:
        lines.append(f"{value(level.z, signed=True)} standard deviations from the author")
    return "<br>".join(lines)
