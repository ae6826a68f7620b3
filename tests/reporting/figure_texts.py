"""A report's figures, what is written on them, and which of it can't be read."""

from __future__ import annotations

import itertools

from matplotlib.figure import Figure
from matplotlib.text import Text

from contextcliff.findings.finding import images_of
from contextcliff.records.report import Report


def drawn(report: Report, name: str) -> Figure:
    """The figure of this name, whichever finding has it."""
    return images_of(report)[name].draw()


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text()]


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts that cover each other. Tilted ones lie side by side in boxes that overlap: left out."""
    figure.canvas.draw()
    texts = [
        text
        for text in figure.findobj(Text)
        if isinstance(text, Text) and text.get_text().strip() and text.get_visible() and text.get_rotation() % 90 == 0
    ]
    not_drawn = [
        tick.label1
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    ]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text not in not_drawn]
    # A shrunk box forgives a pixel of rounding.
    return [
        (one, other)
        for (one, a), (other, b) in itertools.combinations(boxes, 2)
        if a.x0 + 1 < b.x1 - 1 and b.x0 + 1 < a.x1 - 1 and a.y0 + 1 < b.y1 - 1 and b.y0 + 1 < a.y1 - 1
    ]
