"""A calibration as its files and on the console: `calibration.json`, `calibration.md` and `calibration.png`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from contextcliff.analysis.calibration.calibrating import Calibration, DesignName
from contextcliff.analysis.calibration.simulated_runs import Calibrated
from contextcliff.findings.phrases import MISSING
from contextcliff.records.report import SCHEMA_VERSION
from contextcliff.reporting.data_files import json_text, write_text
from contextcliff.reporting.figures.report_figures import write_figure
from contextcliff.reporting.markdown import bullets, code, escape, image, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LAW_TITLES: Mapping[str, str] = {
    "cliff_early": "cliff early, halfway between lengths",
    "cliff_at_length": "cliff, the threshold at a length",
    "cliff_after_length": "cliff just after a length",
    "cliff_between": "cliff halfway between lengths",
    "cliff_before_length": "cliff just before a length",
    "cliff_late": "cliff before the longest length",
    "slope_at_length": "slope, the threshold at a length",
    "slope_between": "slope, crossing between lengths",
    "step_to_threshold": "step down to the threshold",
    "threshold_between": "at the threshold between lengths",
    "flat_98": "flat at 0.98",
    "flat_95": "flat at 0.95",
    "flat_90": "flat at 0.90",
    "flat_85": "flat at 0.85",
    "flat_threshold": "flat at the threshold",
    "dip_94": "one depth at 0.4, mean 0.94",
    "dip_threshold": "one depth at 0.4, mean the threshold",
    "hopeless_threshold": "hopeless depths, mean the threshold",
    "texts_0": "texts, ICC 0",
    "texts_05": "texts, ICC 0.05",
    "texts_15": "texts, ICC 0.15",
    "texts_30": "texts, ICC 0.3",
    "texts_95": "texts, ICC 0.15, flat at 0.95",
    "ignored_05": "texts ignored, ICC 0.05",
    "ignored_15": "texts ignored, ICC 0.15",
    "ignored_30": "texts ignored, ICC 0.3",
    "graded_threshold": "graded, flat at the threshold",
    "graded_90": "graded, flat at 0.90",
    "graded_slope": "graded slope",
    "relative_95": "share of a baseline of 0.95",
    "relative_70": "share of a baseline of 0.70",
    "relative_50": "share of a baseline of 0.50",
    "relative_cliff": "cliff from a baseline of 0.95",
    "natural_slope": "documents, slope",
    "natural_cliff": "documents, cliff",
}
DESIGN_TITLES: Mapping[str, str] = {
    "walk": "search=walk",
    "refine": "search=refine",
    "fixed_40": "40 a length",
    "fixed_500": "500 a length",
}

NOTES: tuple[str, ...] = (
    "error: share of runs whose cap lies at a length whose true score is not above the threshold, with Wilson's 95% "
    "interval",
    "cap: share of runs with a cap; whole range: share that clears the longest length",
    "octaves lost: median over all runs of log2(true crossing / cap), of the longest length where there is no crossing "
    "before it; -: more than half of the runs have no cap, or no cap could be right",
    "tokens: prompt tokens asked, each prompt in full, beside the same law with 40 and with 500 samples a length",
    "cliff: from 0.98 to 0.05 within a tenth of an octave; slope: within three octaves; flat at the threshold: the "
    "null hypothesis at every length; share of a baseline: exactly the threshold's share of it at every longer length",
    "texts: five samples share a text, flat at the threshold; with the texts as the evidence, as task.haystacks=N "
    "counts them, and (ignored) with every sample as evidence of its own",
    "documents: a question on each of documents of any length, in ten bins, against a share of the first bin's score; "
    "the crossing lies late in a bin, where it is least favourable: the mean of that bin clears though its longest "
    "documents don't. The cap is the shortest prompt of the last bin that cleared",
    "a relative threshold has a cap only where a length beyond the baseline has cleared it",
)

_NAME = "calibration"
_HEAD = ("law", "design", "error (95% interval)", "cap", "whole range", "octaves lost", "tokens / 40", "tokens / 500")
_NARROW = ("design", "error (95%)", "cap", "whole", "octaves", "tok/40", "tok/500")
_WIDTHS = (15, 18, 6, 6, 8, 7, 8)
_REFERENCES: tuple[DesignName, ...] = ("fixed_40", "fixed_500")


def write_calibration(calibration: Calibration, *, folder: Path, dpi: int | None, command: str) -> tuple[Path, ...]:
    """Write everything into `folder`, each file whole or not at all; return the paths.

    Without `dpi` no figure is drawn, and one that an earlier calibration left is removed. `command` is what was typed.
    """
    drawing = folder / f"{_NAME}.png"
    drawn: list[Path] = []
    if dpi is None:
        drawing.unlink(missing_ok=True)
    else:
        drawn = [write_figure(calibration_figure(calibration), path=drawing, dpi=dpi)]
    page = calibration_markdown(calibration, command=command, drawn=bool(drawn))
    return (
        write_text(path=folder / f"{_NAME}.json", text=json_text(_object(calibration, command=command))),
        write_text(path=folder / f"{_NAME}.md", text=page),
        *drawn,
    )


def _object(calibration: Calibration, *, command: str) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "command": command,
        "plan": asdict(calibration.plan),
        "results": [
            {
                **asdict(result),
                "title": LAW_TITLES[result.law],
                "error": result.error,
                "tokens_to_fixed": dict(zip(_REFERENCES, _ratios(calibration, result), strict=True)),
            }
            for result in calibration.results
        ],
    }


def calibration_markdown(calibration: Calibration, *, command: str, drawn: bool) -> str:
    """The page: what was simulated, the figure, the table, and what its columns mean."""
    rows = [
        (LAW_TITLES[result.law], DESIGN_TITLES[result.design], *_cells(calibration, result))
        for result in calibration.results
    ]
    blocks = [
        f"<!-- Generated by: {command.replace('--', '- -')} -->",
        "# Calibration",
        escape(_summary(calibration)),
        *([image(f"{_NAME}.png", caption="Errors, tokens and octaves lost")] if drawn else []),
        *(escape(line) for line in conclusions(calibration)),
        table(_HEAD, rows, words=2),
        bullets(escape(note) for note in NOTES),
        code(command),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def render_calibration(calibration: Calibration, *, console: Console, folder: Path) -> None:
    """Print it, readable at 80 columns."""
    console.print(Text("CALIBRATION", style="bold"))
    console.print(Text(f"  {_summary(calibration)}"))
    console.print()
    console.print(_rows([_NARROW]))
    for law in calibration.laws:
        results = [result for result in calibration.results if result.law == law]
        console.print(Text(LAW_TITLES[law], style="bold"))
        console.print(_rows([(DESIGN_TITLES[result.design], *_cells(calibration, result)) for result in results]))
    console.print()
    for line in (*conclusions(calibration), *NOTES):
        console.print(Text(f"  - {line}"))
    console.print()
    console.print(Text("FILES (calibration.md, .json, .png)", style="bold"))
    console.print(Text(f"  {folder}"), soft_wrap=True)


def _rows(rows: Sequence[Sequence[str]]) -> Table:
    """Rows under the one head line: every law has a table of its own, with the same widths."""
    shown = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    for place, width in enumerate(_WIDTHS):
        shown.add_column(justify="right" if place else "left", no_wrap=True, width=width)
    for name, *cells in rows:
        shown.add_row(f"  {name}", *cells)
    return shown


def conclusions(calibration: Calibration) -> Iterator[str]:
    """Whether the errors keep to alpha where that is expected, and how far they go where it is not."""
    alpha = calibration.plan.alpha
    bounded = [result for result in calibration.results if result.is_valid and result.can_err]
    if bounded:
        worst = max(bounded, key=lambda result: result.error)
        above = [result for result in bounded if result.error_low > alpha]
        yield (
            f"Largest error where at most {alpha:.0%} is expected: {_error(worst)}, {DESIGN_TITLES[worst.design]}, "
            f"{LAW_TITLES[worst.law]}"
            + (f"; {len(above)} of {len(bounded)} are above it" if above else "; no interval lies above it")
        )
    broken = [result for result in calibration.results if not result.is_valid]
    if broken:
        worst = max(broken, key=lambda result: result.error)
        yield (
            f"Largest error where the bound does not hold: {_error(worst)}, {DESIGN_TITLES[worst.design]}, "
            f"{LAW_TITLES[worst.law]}"
        )


def _summary(calibration: Calibration) -> str:
    plan = calibration.plan
    return (
        f"{plan.runs:,} simulated runs of each law by each design, threshold {plan.threshold:g} at "
        f"{plan.confidence:.0%}, lengths {plan.lengths[0]:,} to {plan.lengths[-1]:,}, blocks of {plan.block}, at most "
        f"{plan.max_trials} samples a length, seed {plan.seed}"
    )


def _cells(calibration: Calibration, result: Calibrated) -> Sequence[str]:
    lost = MISSING if result.octaves_lost is None else f"{result.octaves_lost:.2f}"
    ratios = (f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.3f}" for ratio in _ratios(calibration, result))
    return (_error(result), f"{result.with_cap:.0%}", f"{result.with_whole_range:.0%}", lost, *ratios)


def _ratios(calibration: Calibration, result: Calibrated) -> tuple[float, ...]:
    """Tokens beside those of the fixed designs on the same law."""
    return tuple(result.tokens / calibration.fixed_tokens(result.law, design) for design in _REFERENCES)


def _error(result: Calibrated) -> str:
    if not result.can_err:
        return MISSING
    return f"{100 * result.error:.1f}% ({100 * result.error_low:.1f}-{100 * result.error_high:.1f})"


_COLOURS = {"walk": "#0072B2", "refine": "#D55E00", "fixed_40": "#7F7F7F", "fixed_500": "#009E73"}
_MARKS = {"walk": "o", "refine": "D", "fixed_40": "s", "fixed_500": "^"}
_ROW = 0.25
"""Inches a law."""
_SMALL = 8
_FEWEST_ROWS = 6
_WIDTH = 12.0
_Panel = tuple[int, Callable[["Axes"], None]]
"""Its height, in rows of a law, and what draws it."""


def calibration_figure(calibration: Calibration) -> Figure:
    """Draw at least one result. A law has a row of errors only where a run of it errs, and a panel without a law is
    left out.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    columns = [column for column in _columns(calibration) if column]
    rows = max((sum(height for height, _ in column) for column in columns), default=0)
    figure = Figure(figsize=(_WIDTH, _ROW * rows + 2.0), facecolor="white")
    figure.set_layout_engine("constrained", wspace=0.03, hspace=0.03)
    FigureCanvasAgg(figure)
    whole = figure.add_gridspec(1, max(1, len(columns)), width_ratios=(1.2, 1.0) if len(columns) == 2 else None)
    for place, column in enumerate(columns):
        within = whole[place].subgridspec(len(column), 1, height_ratios=[height for height, _ in column])
        for number, (_, draw) in enumerate(column):
            draw(figure.add_subplot(within[number]))
    designs = _designs(calibration)
    handles = [Line2D([], [], marker=_MARKS[d], color=_COLOURS[d], linestyle="none") for d in designs]
    handles.append(Line2D([], [], color="black", linestyle=(0, (4, 3)), linewidth=1.0))
    labels = [*(DESIGN_TITLES[design] for design in designs), f"{calibration.plan.alpha:.0%}"]
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, fontsize=9)
    return figure


def _columns(calibration: Calibration) -> tuple[list[_Panel], list[_Panel]]:
    """Errors on the left; on the right, what is lost and asked, and how often the whole range is cleared."""
    laws = calibration.laws
    erring = {(result.law, result.is_valid) for result in calibration.results if result.errors}
    valid, broken = ([law for law in laws if (law, expected) in erring] for expected in (True, False))
    never = {result.law for result in calibration.results if not result.can_err}
    clear = [law for law in laws if law in never]
    upper, lower = max(_FEWEST_ROWS, len(valid)), max(_FEWEST_ROWS, len(broken), len(clear))
    title = f"Error where at most {calibration.plan.alpha:.0%} is expected"
    warning = "Error where the bound does not hold"
    return (
        [
            *([(upper, partial(_errors, calibration, valid, title=title))] if valid else []),
            *([(lower, partial(_errors, calibration, broken, title=warning))] if broken else []),
        ],
        [
            *([(upper, partial(_costs, calibration))] if any(map(_is_lossy, calibration.results)) else []),
            *([(lower, partial(_ranges, calibration, clear))] if clear else []),
        ],
    )


def _errors(calibration: Calibration, laws: Sequence[str], axes: Axes, *, title: str) -> None:
    _shares(axes, calibration, laws, lambda result: (result.error, result.error_low, result.error_high))
    axes.axvline(100 * calibration.plan.alpha, color="black", linewidth=1.0, linestyle=(0, (4, 3)))
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel("runs whose cap is above the true crossing, with 95% intervals (%)", fontsize=9)


def _ranges(calibration: Calibration, laws: Sequence[str], axes: Axes) -> None:
    _shares(axes, calibration, laws, lambda result: (result.with_whole_range,) * 3)
    axes.set_title("Above the threshold at every length", loc="left", fontsize=10)
    axes.set_xlabel("runs that clear the whole range (%)", fontsize=9)
    axes.set_xlim(-3.0, 103.0)


def _shares(
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
    axes.tick_params(labelsize=_SMALL)
    axes.spines[["top", "right"]].set_visible(False)


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
    axes.tick_params(labelsize=_SMALL)
    axes.spines[["top", "right"]].set_visible(False)


def _is_lossy(result: Calibrated) -> bool:
    return result.is_valid and result.can_err and result.octaves_lost is not None


def _designs(calibration: Calibration) -> Sequence[str]:
    asked = {result.design for result in calibration.results}
    return [design for design in _COLOURS if design in asked]
