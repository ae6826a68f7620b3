"""Published curves behind those of a chart: thin and grey, with their source where one points at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextcliff.records.published import PublishedCurve
from contextcliff.reporting.page.chart import MUTED, in_chart

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def published_traces(curves: Sequence[PublishedCurve]) -> Iterator[dict[str, object]]:
    """A trace for each, to stand before the others: what comes later is drawn over it."""
    for place, curve in enumerate(curves):
        name = in_chart(curve.name)
        yield {
            "x": [point.tokens for point in curve.points],
            "y": [point.score for point in curve.points],
            "mode": "lines+markers",
            "name": name,
            "line": {"color": MUTED, "width": 1, "dash": _DASHES[place % len(_DASHES)]},
            "marker": {"size": 3, "color": MUTED},
            "hoverinfo": "text",
            "hovertext": [
                f"{name}<br><b>{point.score:.3f}</b> at {point.tokens:,} tokens; not tested here"
                f"<br>{in_chart(curve.metric)}"
                for point in curve.points
            ],
        }
