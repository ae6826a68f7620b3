"""The figures of a report as PNG files. Only what a report has data for is drawn."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.findings.drawing import PAD_INCHES
from contextcliff.findings.finding import images_of
from contextcliff.records.report import Report
from contextcliff.reporting.data_files import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure_files(report: Report) -> tuple[str, ...]:
    """The names of the files that `draw_figures` draws."""
    return tuple(f"{name}.png" for name in images_of(report))


def draw_figures(report: Report, *, folder: Path, dpi: int) -> dict[str, Figure]:
    """Draw the figures, once for files and pages, and write them into `folder` at `dpi` dots an inch; returns them."""
    drawn = {name: image.draw() for name, image in images_of(report).items()}
    for name, figure in drawn.items():
        write_figure(figure, path=folder / f"{name}.png", dpi=dpi)
    return drawn


def write_figure(figure: Figure, *, path: Path, dpi: int) -> Path:
    """Write a figure as PNG, whole or not at all."""
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=dpi, facecolor="white", bbox_inches="tight", pad_inches=PAD_INCHES)
    return write_bytes(path=path, data=image.getvalue())
