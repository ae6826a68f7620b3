"""The figures of a report as PNG files. Only what a report has data for is drawn."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting.data_files import write_bytes
from contextcliff.reporting.figures.curves_figure import comparable_runs, curves_figure
from contextcliff.reporting.section_list import sections_of
from contextcliff.reporting.stored_reports import StoredReport
from contextcliff.settings import folder_name

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox
    from numpy.typing import NDArray


_PAD_INCHES = 0.15
_ROOMS_INCHES = (1.75, 4.0, 9.0)
"""What stands around the axes fits there, or is drawn again with more."""
_COLOURS = 256
"""Of a file. What is drawn has some hundreds to two thousand, nearly all of them along edges of letters and lines: no
pixel moves by more than 15 of 255, and the file has a third of the size and takes half the time."""
_COMPRESSION = 4
"""A file of two percent more in half the time of the default."""
_HINTING = "none"
"""Letters as the font has them: fitted to the pixels, a tenth of the time of a figure goes into them."""
_WHITE = 0xFFFFFFFF
_NEARLY_WHITE = 252


def figure_files(report: Report) -> tuple[str, ...]:
    """The names of the files that `draw_figures` draws."""
    return tuple(
        f"{figure.name}.png" for section in sections_of(report) for figure in section.figures if figure.has_data(report)
    )


def draw_figures(report: Report, *, scored: Sequence[ScoredSample] = (), folder: Path, dpi: int) -> tuple[Path, ...]:
    """Draw the figures of every section into `folder`, at `dpi` dots an inch; return the paths.

    A figure that the report has no data for is not drawn, and one that an earlier analysis of the same run left is
    removed.
    """
    drawn = []
    for section in sections_of(report):
        for figure in section.figures:
            path = folder / f"{figure.name}.png"
            if figure.has_data(report):
                drawn.append(write_figure(figure.draw(report, scored), path=path, dpi=dpi))
            else:
                path.unlink(missing_ok=True)
    return tuple(drawn)


def remove_figures(folder: Path) -> None:
    """Remove the figures that an earlier analysis left: they would be taken for this one's."""
    for path in folder.glob("*.png"):
        path.unlink()


def draw_curves(
    report: Report, *, folder: Path, dpi: int | None, beside: Sequence[StoredReport] | None = None, suffix: str = ""
) -> Path | None:
    """Draw the comparable runs below `folder` into it, as `runs-TASK.png`; None where this run is the only one.

    Without `dpi` nothing is drawn, and a figure of other runs is left as it is.
    `beside` is what the folder holds, where it has been read; `suffix` ends the name where another rule judges.
    """
    if dpi is None:
        return None
    curves = comparable_runs(report, folder=folder, beside=beside)
    if len(curves) < 2:
        return None
    path = folder / f"runs-{folder_name(report.run.task)}{suffix}.png"
    return write_figure(curves_figure(curves), path=path, dpi=dpi)


def write_figure(figure: Figure, *, path: Path, dpi: int) -> Path:
    """Write a figure as PNG, whole or not at all."""
    return write_bytes(path=path, data=_png(figure, dpi=dpi))


def _png(figure: Figure, *, dpi: int) -> bytes:
    from PIL import Image

    pixels = _pixels(figure, dpi=dpi)
    image = (
        Image.fromarray(pixels)
        .convert("RGB")
        .quantize(_COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    )
    image.putpalette(_with_white(image.getpalette() or ()))
    buffer = io.BytesIO()
    image.save(buffer, format="png", dpi=(dpi, dpi), compress_level=_COMPRESSION)
    return buffer.getvalue()


def _with_white(palette: Sequence[int]) -> list[int]:
    """A palette, three numbers a colour, whose lightest colours are white: they are the mean of what is nearly so."""
    whole = list(palette)
    for start in range(0, len(whole), 3):
        if min(whole[start : start + 3]) >= _NEARLY_WHITE:
            whole[start : start + 3] = (255, 255, 255)
    return whole


def _pixels(figure: Figure, *, dpi: int) -> NDArray[np.uint8]:
    """Drawn once, with room on every side, and cut to what was drawn.

    `bbox_inches="tight"` lays every text out a second time to find that box. It is left to figures that lay themselves
    out, and to what no room is enough for.
    """
    from matplotlib.transforms import Bbox

    if figure.get_layout_engine() is None:
        width, height = figure.get_size_inches()
        for room in _ROOMS_INCHES:
            box = Bbox.from_extents(-room, -room, width + room, height + room)
            cut = _cut(_drawn(figure, dpi=dpi, box=box), pad=round(_PAD_INCHES * dpi))
            if cut is not None:
                return cut
    return _drawn(figure, dpi=dpi, box="tight")


def _drawn(figure: Figure, *, dpi: int, box: Bbox | Literal["tight"]) -> NDArray[np.uint8]:
    """Red, green, blue and opacity of each pixel in the box, which is in inches."""
    import numpy as np
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    with rc_context({"text.hinting": _HINTING}):
        canvas.print_figure(
            io.BytesIO(), format="rgba", dpi=dpi, facecolor="white", bbox_inches=box, pad_inches=_PAD_INCHES
        )
    return np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]


def _cut(pixels: NDArray[np.uint8], *, pad: int) -> NDArray[np.uint8] | None:
    """The part that is not white with `pad` pixels around it; None where what was drawn may go on beyond the edge."""
    import numpy as np

    marked = pixels.view(np.uint32)[..., 0] != np.uint32(_WHITE)
    rows, columns = np.flatnonzero(marked.any(axis=1)), np.flatnonzero(marked.any(axis=0))
    if rows.size == 0:
        return pixels
    top, bottom, left, right = rows[0] - pad, rows[-1] + 1 + pad, columns[0] - pad, columns[-1] + 1 + pad
    if min(top, left) < 0 or bottom > pixels.shape[0] or right > pixels.shape[1]:
        return None
    return np.ascontiguousarray(pixels[top:bottom, left:right])
