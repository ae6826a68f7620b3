"""How a sequential search went: the lengths in the order of asking, and how each was decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.drawing import GREY, RED, SMALL, blank, legend_under, run_heading
from contextcliff.findings.finding import Block, Finding, Image, Measurement, Table, Text, columns
from contextcliff.records.note import Note
from contextcliff.records.report import Report
from contextcliff.records.search_record import Decision, Ending, Search, TestedLength

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEANING = (
    "A length passes where the e-value against “the score is at most the threshold” reaches 1/α, however often one"
    " looks; it is below where the one against “the score is at least the threshold” reaches"
)
_CAPTION = "The search, sample by sample"
_BETWEEN = "A sample between two lengths counts for every shorter one there too: the score is taken not to rise."
_DECISIONS: Mapping[Decision, str] = {
    "baseline": "the baseline",
    "passed": "passed",
    "below": "below",
    "unsettled": "open",
    "unscorable": "unscorable: too many samples have no score",
    "open": "open: the search ended before",
}
_ENDINGS: Mapping[Ending, str] = {
    "max_trials": "open: task.max_trials are used",
    "given_up": "open: more were not expected to show it",
    "not_worth_it": "open: more were not worth their tokens",
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
        between = [Text(text=_BETWEEN)] if any(each.refined for each in search.tested) else []
        if (helps := search.advice) is not None:
            said = Note(
                "About {n:more samples} at {tokens:,} tokens would show it, if it is good there (chance"
                " {chance:percent})", n=helps.samples, tokens=helps.context_tokens, chance=helps.chance,
            )  # fmt: skip
            between.append(Text(text=said))
        table = columns(
            enumerate(search.tested, start=1),
            ("order", lambda each: str(each[0])),
            ("asked", lambda each: phrases.whole(each[1].context_tokens)),
            ("α", lambda each: f"{each[1].alpha:.3g}"),
            ("decision", lambda each: _decided(each[1])),
            ("samples", lambda each: phrases.whole(each[1].steps * search.plan.step_samples)),
            ("e-value above", lambda each: _e_value(each[1].e_above)),
            ("e-value below", lambda each: _e_value(each[1].e_below)),
            words=("decision",),
        )
        figure = Image(name="search", caption=_CAPTION, draw=lambda: search_figure(report, search))
        drawn = (figure,) if search.path else ()
        return (Text(text=f"{_MEANING} {below_at:.3g}."), *between, Table(columns=table), *drawn)

    def metrics(self, report: Report) -> Iterator[Measurement]:
        search = self.of(report)
        yield Measurement(key="search/lengths_tested", value=len(search.tested))
        yield Measurement(key="search/lengths_passed", value=sum(each.decision == "passed" for each in search.tested))
        samples = sum(each.steps for each in search.tested) * search.plan.step_samples
        yield Measurement(key="search/samples", value=samples)


def _decided(tested: TestedLength) -> str:
    return _ENDINGS.get(tested.ending, _DECISIONS[tested.decision])


def _e_value(value: float) -> str:
    return f"{value:,.0f}" if 100.0 <= value < 1e6 else f"{value:.2g}"


_WIDTH, _HEIGHT = 9.0, 4.2


def search_figure(report: Report, search: Search) -> Figure:
    """Draw the samples of a search in the order in which they counted, at their lengths: right, wrong and unscored."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    figure, axes = blank(width=_WIDTH, height=_HEIGHT)
    cap, bar = report.analysis.safe_cap, report.analysis.safe_cap.threshold
    looks = {True: ("o", "#0072B2", f"score of {bar:.2g} or more"), False: ("x", "#D55E00", "below")}
    for kind, (mark, colour, label) in (looks | {None: (".", GREY, "without a score")}).items():
        marked = [None if each.score is None else each.score >= bar for each in search.path]
        points = [(n, each.context_tokens) for n, each in enumerate(search.path, 1) if marked[n - 1] is kind]
        if points:
            axes.plot(*zip(*points, strict=True), mark, color=colour, markersize=4, label=label, zorder=3)
    passed = [each.context_tokens for each in search.tested if each.decision == "passed"]
    if cap.tokens is not None and passed:
        axes.axhline(
            max(passed), color=RED, linestyle="--", linewidth=1.0, label=f"passed up to {max(passed):,} tokens"
        )
    lengths = sorted({*search.plan.lengths} & {each.context_tokens for each in search.path})
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(FixedLocator(lengths))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=9))
    axes.set_xlabel("samples, in the order in which they counted", fontsize=9)
    axes.set_ylabel("prompt length in tokens, as asked", fontsize=9)
    axes.tick_params(labelsize=SMALL)
    axes.grid(axis="y", color="0.92", linewidth=0.8)
    axes.set_axisbelow(True)
    run_heading(axes, report.run, _CAPTION, "", inches=_WIDTH, above=24)
    legend_under(axes, drop=0.14, ncols=4)
    return figure
