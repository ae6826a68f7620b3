"""How a sequential search decided each length that it tested, and the evidence block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.drawing import GREY, RED, SMALL, blank, run_heading
from contextcliff.findings.finding import Block, Finding, Image, Measurement, Table, Text, columns, measured
from contextcliff.records.report import Report
from contextcliff.records.search_record import BlockEvidence, Decision, Search, TestedLength

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MEANING = (
    "A length passes where the e-value against “the score is at most the threshold” reaches 1/α, however often one"
    " looks; it is below where the one against “the score is at least the threshold” reaches"
)
_DECISIONS: Mapping[Decision, str] = {
    "baseline": "the baseline",
    "passed": "passed",
    "below": "below",
    "unsettled": "unsettled: neither is shown",
    "unscorable": "unscorable: too many samples have no score",
    "open": "open: the search ended before",
}


class SearchFinding(Finding[Search]):
    key = "search"
    title = "Search"
    record = Search

    def find(self, study: Study) -> Search | None:
        return study.search

    def show(self, report: Report) -> tuple[Block, ...]:
        search = self.of(report)
        if not search.tested:
            return ()
        below_at = 1.0 / (1.0 - report.analysis.safe_cap.confidence)
        table = columns(
            enumerate(search.tested, start=1),
            ("order", lambda each: str(each[0])),
            ("asked", lambda each: phrases.whole(each[1].context_tokens)),
            ("α", lambda each: f"{each[1].alpha:.3g}"),
            ("decision", lambda each: _DECISIONS[each[1].decision]),
            ("blocks", lambda each: phrases.whole(each[1].n_blocks)),
            ("samples", lambda each: phrases.whole(each[1].n_blocks * search.plan.block)),
            ("e-value above", lambda each: _e_value(each[1].blocks[-1].e_above) if each[1].blocks else "-"),
            ("e-value below", lambda each: _e_value(each[1].blocks[-1].e_below) if each[1].blocks else "-"),
            words=("decision",),
        )
        figure = Image(name="search_evidence", caption="Evidence by block", draw=lambda: search_figure(report, search))
        drawn = any(each.blocks for each in search.tested)
        return (Text(text=f"{_MEANING} {below_at:.3g}."), Table(columns=table), *((figure,) if drawn else ()))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        search = self.of(report)
        yield Measurement(key="search/lengths_tested", value=len(search.tested))
        yield Measurement(key="search/lengths_passed", value=sum(each.decision == "passed" for each in search.tested))
        yield Measurement(key="search/samples", value=sum(each.n_blocks for each in search.tested) * search.plan.block)
        for each in search.tested:
            yield Measurement(key="search/alpha", value=each.alpha, step=each.context_tokens)
            if each.blocks:
                yield from measured("search/", each.blocks[-1], "e_above", "e_below", step=each.context_tokens)


def _e_value(value: float) -> str:
    return f"{value:,.0f}" if 100.0 <= value < 1e6 else f"{value:.2g}"


_WIDTH, _HEIGHT = 9.0, 4.2
_GAP = 0.08
"""Between the two axes, as a share of the width."""
_LOWEST, _HIGHEST = 1e-3, 1e5
"""E-values beyond are drawn at the edge."""
_MARKS = {"passed": "o", "below": "X", "unsettled": "s", "unscorable": "P", "open": "D"}
_MOST_NAMED = 12
"""Lengths in the legend; of more, a colour bar tells which curve is whose."""


def search_figure(report: Report, search: Search) -> Figure:
    """Draw a search that has blocks: left the e-values against "the score is at most the threshold", right against "at
    least". A curve is a length, from its first block to its last, and its end is marked by the decision."""
    figure, above = blank(width=_WIDTH, height=_HEIGHT)
    half = (1.0 - _GAP) / 2.0
    above.set_position((0.0, 0.0, half, 1.0))
    below = figure.add_axes((half + _GAP, 0.0, half, 1.0))
    tested = sorted((each for each in search.tested if each.blocks), key=lambda each: each.context_tokens)
    colours = _colours(len(tested))
    for axes, is_above in ((above, True), (below, False)):
        for each, colour in zip(tested, colours, strict=True):
            _curve(axes, each, colour=colour, above=is_above)
        _axes(axes, longest=max(each.blocks[-1].n for each in tested))
    alphas = sorted({each.alpha for each in tested}, reverse=True)
    for alpha in alphas:  # a length passes at 1/α, and after each failure α is halved
        above.axhline(1.0 / alpha, color=GREY, linestyle="--", linewidth=1.0)
    first, last = (1.0 / alpha for alpha in (alphas[0], alphas[-1]))
    text = f"1/α = {first:.4g}" if first == last else f"1/α = {first:.4g} … {last:.4g}"
    above.lines[-1].set_label(f"{text}: passed")
    below_at = 1.0 / (1.0 - report.analysis.safe_cap.confidence)
    below.axhline(below_at, color=RED, linestyle="--", linewidth=1.0, label=f"{below_at:.3g}: below")
    below.tick_params(axis="y", labelleft=False)
    above.set_ylabel("e-value", fontsize=9)
    for axes, text in ((above, "against “at most the threshold”"), (below, "against “at least the threshold”")):
        axes.annotate(
            text, xy=(0, 1), xycoords="axes fraction", xytext=(0, 5), textcoords="offset points", fontsize=9,
            color="0.2",
        )  # fmt: skip
    words = "A point is a look, at the end of a block"
    run_heading(above, report.run, "Evidence by block", words, inches=_WIDTH, above=24)
    _legend(figure, (above, below), tested, colours)
    return figure


def _colours(count: int) -> list[tuple[float, float, float, float]]:
    import matplotlib as mpl

    palette = mpl.colormaps["viridis"]
    return [palette(0.92 * place / max(1, count - 1)) for place in range(count)]


def _curve(axes: Axes, tested: TestedLength, *, colour: tuple[float, float, float, float], above: bool) -> None:
    looks: Sequence[BlockEvidence] = tested.blocks
    samples = [0, *(look.n for look in looks)]
    values = [1.0, *(look.e_above if above else look.e_below for look in looks)]
    values = [min(_HIGHEST, max(_LOWEST, value)) for value in values]
    axes.plot(samples, values, "-", color=colour, linewidth=1.4, marker=".", markersize=4, zorder=3)
    decides = above if tested.decision == "passed" else not above
    mark = _MARKS.get(tested.decision, "D")
    axes.plot(
        samples[-1:], values[-1:], mark, color=colour,
        markersize=8 if decides or tested.decision in ("unsettled", "unscorable", "open") else 0,
        markeredgecolor="black", markeredgewidth=0.6, zorder=4, clip_on=False,
    )  # fmt: skip


def _axes(axes: Axes, *, longest: int) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

    axes.set_yscale("log")
    axes.set_ylim(_LOWEST / 1.5, _HIGHEST * 1.5)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.set_xlim(0, longest * 1.04)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
    axes.set_xlabel("samples of the length so far", fontsize=9)
    axes.tick_params(labelsize=SMALL)
    axes.axhline(1.0, color="0.6", linewidth=0.8)
    axes.grid(axis="y", color="0.92", linewidth=0.8)
    axes.set_axisbelow(True)


def _legend(
    figure: Figure,
    both: Sequence[Axes],
    tested: Sequence[TestedLength],
    colours: Sequence[tuple[float, float, float, float]],
) -> None:
    from matplotlib.lines import Line2D

    named = list(zip(tested, colours, strict=True))
    if len(named) > _MOST_NAMED:
        # The first and the last say which end of the colours is which.
        step = -(-len(named) // (_MOST_NAMED - 1))
        named = [*named[:-1:step], named[-1]]
    lines = [Line2D([], [], color=colour, label=f"{each.context_tokens:,} tokens") for each, colour in named]
    ends = [
        Line2D([], [], color="0.5", linestyle="none", marker=_MARKS[kind], markeredgecolor="black", label=kind)
        for kind in ("passed", "below", "unsettled", "unscorable", "open")
        if any(each.decision == kind for each in tested)
    ]
    # Beside the lines they would stand on the curves.
    limits = [handle for axes in both for handle in axes.get_legend_handles_labels()[0]]
    figure.legend(
        handles=[*lines, *ends, *limits], loc="upper left", bbox_to_anchor=(0.0, -0.55 / _HEIGHT),
        bbox_transform=both[0].transAxes, borderaxespad=0.0, ncols=6, frameon=False, fontsize=SMALL, handlelength=1.8,
        columnspacing=1.6,
    )  # fmt: skip
