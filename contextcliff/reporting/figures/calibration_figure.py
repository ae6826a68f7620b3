"""A calibration in one picture: the error of each law by each design, and what a design costs beside what it loses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from contextcliff.analysis.calibration.calibrating import Calibration
from contextcliff.analysis.calibration.simulated_runs import Calibrated
from contextcliff.reporting.calibration_words import DESIGN_TITLES, LAW_TITLES

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {"walk": "#0072B2", "refine": "#D55E00", "fixed_40": "#7F7F7F", "fixed_500": "#009E73"}
_MARKS = {"walk": "o", "refine": "D", "fixed_40": "s", "fixed_500": "^"}
_ROW = 0.25
"""Inches a law."""
_SMALL = 8
_FEWEST_ROWS = 6
_WIDTH = 12.0


def calibration_figure(calibration: Calibration) -> Figure:
    """Draw at least one result. A law has a row of errors only where a run of it errs, and a panel without a law is
    left out.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = [column for column in _columns(calibration) if column]
    rows = max((sum(panel.rows for panel in column) for column in columns), default=0)
    figure = Figure(figsize=(_WIDTH, _ROW * rows + 2.0), facecolor="white")
    figure.set_layout_engine("constrained", wspace=0.03, hspace=0.03)
    FigureCanvasAgg(figure)
    whole = figure.add_gridspec(1, max(1, len(columns)), width_ratios=(1.2, 1.0) if len(columns) == 2 else None)
    for place, column in enumerate(columns):
        within = whole[place].subgridspec(len(column), 1, height_ratios=[panel.rows for panel in column])
        for number, panel in enumerate(column):
            panel.draw(figure.add_subplot(within[number]))
    handles, labels = _legend(calibration)
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, fontsize=9)
    return figure


@dataclass(frozen=True, kw_only=True, slots=True)
class _Panel:
    rows: int
    """Its height, in rows of a law."""
    draw: Callable[[Axes], None]


def _columns(calibration: Calibration) -> tuple[list[_Panel], list[_Panel]]:
    """Errors on the left; on the right, what is lost and asked, and how often the whole range is cleared."""
    valid, broken = (_erring(calibration, is_valid=expected) for expected in (True, False))
    clear = [law for law in calibration.laws if any(_of(calibration, law, lambda result: not result.can_err))]
    lossy = any(_is_lossy(result) for result in calibration.results)
    upper, lower = max(_FEWEST_ROWS, len(valid)), max(_FEWEST_ROWS, len(broken), len(clear))
    return (
        [
            *([_Panel(rows=upper, draw=partial(_bounded, calibration, valid))] if valid else []),
            *([_Panel(rows=lower, draw=partial(_warned, calibration, broken))] if broken else []),
        ],
        [
            *([_Panel(rows=upper, draw=partial(_costs, calibration))] if lossy else []),
            *([_Panel(rows=lower, draw=partial(_ranges, calibration, clear))] if clear else []),
        ],
    )


def _bounded(calibration: Calibration, laws: Sequence[str], axes: Axes) -> None:
    title = f"Error where at most {calibration.plan.alpha:.0%} is expected"
    _errors(calibration, laws, axes, title=title)


def _warned(calibration: Calibration, laws: Sequence[str], axes: Axes) -> None:
    _errors(calibration, laws, axes, title="Error where the bound does not hold")


def _errors(calibration: Calibration, laws: Sequence[str], axes: Axes, *, title: str) -> None:
    _rows(axes, calibration, laws, lambda result: (result.error, result.error_low, result.error_high))
    axes.axvline(100 * calibration.plan.alpha, color="black", linewidth=1.0, linestyle=(0, (4, 3)))
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel("runs whose cap is above the true crossing, with 95% intervals (%)", fontsize=9)


def _ranges(calibration: Calibration, laws: Sequence[str], axes: Axes) -> None:
    _rows(axes, calibration, laws, lambda result: (result.with_whole_range,) * 3)
    axes.set_title("Above the threshold at every length", loc="left", fontsize=10)
    axes.set_xlabel("runs that clear the whole range (%)", fontsize=9)
    axes.set_xlim(-3.0, 103.0)


def _of(calibration: Calibration, law: str, check: Callable[[Calibrated], bool]) -> Iterator[bool]:
    return (check(result) for result in calibration.results if result.law == law)


def _erring(calibration: Calibration, *, is_valid: bool) -> Sequence[str]:
    """Laws with an error in at least one run."""
    erring = {result.law for result in calibration.results if result.errors and result.is_valid is is_valid}
    return [law for law in calibration.laws if law in erring]


def _rows(
    axes: Axes,
    calibration: Calibration,
    laws: Sequence[str],
    figures: Callable[[Calibrated], tuple[float, float, float]],
) -> None:
    """A row a law; `figures` are a share of runs and the ends of its interval."""
    designs = _designs(calibration)
    for row, law in enumerate(laws):
        for place, design in enumerate(designs):
            result = calibration.of(law, design)
            if result is None:
                continue
            value, low, high = (100 * share for share in figures(result))
            axes.errorbar(
                value,
                row + 0.19 * (place - (len(designs) - 1) / 2),
                xerr=[[max(0.0, value - low)], [max(0.0, high - value)]],
                fmt=_MARKS[design],
                color=_COLOURS[design],
                markersize=3.5,
                linewidth=1.0,
                clip_on=False,
            )
    axes.set_yticks(range(len(laws)), labels=[LAW_TITLES[law] for law in laws], fontsize=_SMALL)
    axes.set_ylim(max(0.5, len(laws) - 0.5), -0.5)
    axes.set_xlim(left=0.0)
    axes.grid(axis="x", alpha=0.25)
    _plain(axes)


def _costs(calibration: Calibration, axes: Axes) -> None:
    """Every law that falls and is expected to keep the bound, by every design in which half of the runs have a cap."""
    from matplotlib.ticker import FuncFormatter

    for result in calibration.results:
        if _is_lossy(result):
            axes.plot(
                result.tokens / calibration.fixed_tokens(result.law, "fixed_40"),
                result.octaves_lost or 0.0,
                _MARKS[result.design],
                color=_COLOURS[result.design],
                markersize=6.5,
                alpha=0.7,
                markeredgewidth=0,
            )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("prompt tokens asked, as a multiple of 40 samples a length", fontsize=9)
    axes.set_ylabel("octaves lost below the true crossing, median", fontsize=9)
    axes.set_title("Tokens against octaves lost: laws that fall", loc="left", fontsize=10)
    axes.grid(alpha=0.25)
    _plain(axes)


def _is_lossy(result: Calibrated) -> bool:
    return result.is_valid and result.can_err and result.octaves_lost is not None


def _plain(axes: Axes) -> None:
    axes.tick_params(labelsize=_SMALL)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _designs(calibration: Calibration) -> Sequence[str]:
    asked = {result.design for result in calibration.results}
    return [design for design in _COLOURS if design in asked]


def _legend(calibration: Calibration) -> tuple[list[Artist], list[str]]:
    from matplotlib.lines import Line2D

    designs = _designs(calibration)
    handles: list[Artist] = [Line2D([], [], marker=_MARKS[d], color=_COLOURS[d], linestyle="none") for d in designs]
    handles.append(Line2D([], [], color="black", linestyle=(0, (4, 3)), linewidth=1.0))
    return handles, [*(DESIGN_TITLES[design] for design in designs), f"{calibration.plan.alpha:.0%}"]
