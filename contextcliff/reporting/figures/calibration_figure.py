"""A calibration in one picture: the error of each law by each design, and what a design costs beside what it loses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.analysis.calibration.calibrating import Calibration
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
_WIDTH = 12.0


def calibration_figure(calibration: Calibration) -> Figure:
    """Draw at least one result. Laws whose error is 0 by every design have no row: nothing is tested there."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    valid = _erring(calibration, is_valid=True)
    broken = _erring(calibration, is_valid=False)
    rows = max(8, len(valid) + len(broken) + 4)
    figure = Figure(figsize=(_WIDTH, _ROW * rows + 1.4), facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.15, 1.0), height_ratios=(max(1, len(valid)), max(3, len(broken))))
    plan = calibration.plan
    promised, warned = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
    _errors(promised, calibration, valid, alpha=plan.alpha)
    promised.set_title(f"Error where at most {plan.alpha:.0%} is promised", loc="left", fontsize=10)
    _errors(warned, calibration, broken, alpha=plan.alpha)
    warned.set_title("Error by methods that promise nothing (warning examples)", loc="left", fontsize=10)
    warned.set_xlabel("runs whose cap is above the true crossing, with 95% intervals (%)", fontsize=9)
    _costs(figure.add_subplot(grid[:, 1]), calibration)
    handles, labels = _legend(calibration)
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, fontsize=9)
    return figure


def _erring(calibration: Calibration, *, is_valid: bool) -> Sequence[str]:
    """Laws with an error in at least one run."""
    erring = {result.law for result in calibration.results if result.errors and result.is_valid is is_valid}
    return [law for law in calibration.laws if law in erring]


def _errors(axes: Axes, calibration: Calibration, laws: Sequence[str], *, alpha: float) -> None:
    designs = _designs(calibration)
    for row, law in enumerate(laws):
        for place, design in enumerate(designs):
            result = calibration.of(law, design)
            if result is None:
                continue
            error, low, high = (100 * value for value in (result.error, result.error_low, result.error_high))
            axes.errorbar(
                error,
                row + 0.17 * (place - (len(designs) - 1) / 2),
                xerr=[[max(0.0, error - low)], [max(0.0, high - error)]],
                fmt=_MARKS[design],
                color=_COLOURS[design],
                markersize=3.5,
                linewidth=1.0,
            )
    axes.axvline(100 * alpha, color="black", linewidth=1.0, linestyle=(0, (4, 3)))
    axes.set_yticks(range(len(laws)), labels=[LAW_TITLES[law] for law in laws], fontsize=_SMALL)
    axes.set_ylim(max(0.5, len(laws) - 0.5), -0.5)
    axes.set_xlim(left=0.0)
    axes.tick_params(axis="x", labelsize=_SMALL)
    axes.grid(axis="x", alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _costs(axes: Axes, calibration: Calibration) -> None:
    """Every law whose crossing or whole range a cap can come near to, by every design."""
    from matplotlib.ticker import FuncFormatter

    reachable = [
        result
        for result in calibration.results
        if result.is_valid and any(_has_loss(calibration, result.law, design) for design in _designs(calibration))
    ]
    top = max((result.octaves_lost or 0.0 for result in reachable), default=1.0)
    no_cap = top + max(0.6, 0.12 * top)
    for result in reachable:
        lost = no_cap if result.octaves_lost is None else result.octaves_lost
        axes.plot(
            result.tokens / calibration.fixed_tokens(result.law, "fixed_40"),
            lost,
            _MARKS[result.design],
            color=_COLOURS[result.design],
            markersize=6,
            alpha=0.75,
            markeredgewidth=0,
            clip_on=False,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.tick_params(labelsize=_SMALL)
    axes.set_xlabel("prompt tokens asked / those of 40 samples a length", fontsize=9)
    ticks = list(range(int(top) + 1))
    axes.set_yticks([*ticks, no_cap], labels=[*map(str, ticks), "no cap"])
    axes.set_ylim(-0.15, no_cap + 0.2)
    axes.set_ylabel("octaves lost below the true crossing or the longest length, median", fontsize=9)
    axes.set_title("Tokens and octaves lost, a point a law", loc="left", fontsize=10)
    axes.grid(alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _has_loss(calibration: Calibration, law: str, design: str) -> bool:
    result = calibration.of(law, design)
    return result is not None and result.octaves_lost is not None


def _designs(calibration: Calibration) -> Sequence[str]:
    asked = {result.design for result in calibration.results}
    return [design for design in _COLOURS if design in asked]


def _legend(calibration: Calibration) -> tuple[list[Artist], list[str]]:
    from matplotlib.lines import Line2D

    designs = _designs(calibration)
    handles: list[Artist] = [Line2D([], [], marker=_MARKS[d], color=_COLOURS[d], linestyle="none") for d in designs]
    handles.append(Line2D([], [], color="black", linestyle=(0, (4, 3)), linewidth=1.0))
    return handles, [*(DESIGN_TITLES[design] for design in designs), f"{calibration.plan.alpha:.0%}"]
