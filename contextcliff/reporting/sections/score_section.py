"""The score at every length, and by length and depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, FigureOf, Finding, Image, Measurement, Table, Text
from contextcliff.findings.phrases import shown_interval
from contextcliff.records.analysis import Bin
from contextcliff.records.report import Report
from contextcliff.records.search_record import Search
from contextcliff.reporting.figures.heatmap_figure import heatmap_figure
from contextcliff.reporting.figures.score_figure import score_figure
from contextcliff.reporting.published.words import published_blocks
from contextcliff.reporting.report_facts import Overall


class ScoreSection(Finding[None]):
    """A row a length: how many samples, their score, and the bound that the cap is tested with."""

    key = "score_by_length"
    title = "Score by length"
    title_note = "tokens"
    figures = (
        FigureOf(
            name="score_by_length",
            caption="Score by length",
            has_data=lambda report: bool(report.analysis.bins),
            draw=lambda report, _: score_figure(report),
        ),
        FigureOf(
            name="heatmap",
            caption="Score by depth and length",
            has_data=lambda report: bool(report.analysis.cells),
            draw=lambda report, _: heatmap_figure(report),
        ),
    )

    def short(self, report: Report) -> tuple[Block, ...]:
        overall = Text(label="Overall", text=_overall(report), strong=True)
        return (Table(columns=_few_columns(report)), overall) if report.analysis.bins else (overall,)

    def show(self, report: Report) -> tuple[Block, ...]:
        table = Table(columns=_all_columns(report)) if report.analysis.bins else Text(text="No length was tested.")
        overall = Text(label="Overall", text=_overall(report))
        return (
            table,
            *_footnote(report),
            overall,
            Image(figure="score_by_length"),
            *published_blocks(report.run.published),
            Image(figure="heatmap"),
        )

    def metrics(self, report: Report) -> Iterator[Measurement]:
        for each in report.analysis.bins:
            for key, value in _figures(each):
                yield Measurement(key=f"by_length/{key}", value=value, step=each.asked_tokens)
        for cell in report.analysis.cells:
            yield Measurement(key=f"by_depth/score_at_depth_{cell.depth:.2f}", value=cell.mean, step=cell.asked_tokens)
        yield Measurement(key="score/mean", value=report.analysis.mean)
        yield Measurement(key="score/successes", value=report.analysis.successes)


def _footnote(report: Report) -> tuple[Text, ...]:
    if report.analysis.finding(Search) is None:
        return ()
    bound = "" if report.analysis.safe_cap.relative_to_baseline else ", and so does the tested bound"
    return (
        Text(
            text="Each length was asked until it was decided. The intervals (confidence sequences) hold all the same"
            f"{bound}; the mean scores are estimates from stopped data, on average further from the threshold than the"
            " true ones."
        ),
    )


def _overall(report: Report) -> Overall:
    analysis = report.analysis
    scored = sum(each.n_samples for each in analysis.bins)
    return Overall(mean=analysis.mean, successes=analysis.successes, scored=scored)


def _figures(each: Bin) -> Iterator[tuple[str, float | None]]:
    yield "score", each.mean
    yield "score_ci_low", each.ci_low
    yield "score_ci_high", each.ci_high
    yield "score_tested_low", each.tested_low
    yield "std", each.std
    yield "n_samples", each.n_samples
    yield "n_unscored", each.n_unscored
    yield "rolling_variance", each.rolling_variance


def _few_columns(report: Report) -> tuple[Column, ...]:
    """The table for a console, whose least important columns give way."""
    bound = phrases.bound_name(report.analysis.safe_cap).replace(" ", "\n")
    column = _columns_of(report)
    return (
        *_length_columns(report, asked="asked", measured="measured", span="shortest -\nlongest", median="median"),
        column("n", lambda b: phrases.whole(b.n_samples)),
        column("un-\nscored", lambda b: phrases.whole(b.n_unscored), spare=1),
        column("score", lambda b: phrases.score(b.mean)),
        column("interval", lambda b: shown_interval(report, b.ci_low, b.ci_high), spare=3),
        column(bound, lambda b: phrases.bound(b.tested_low)),
        column("commonest\nfailure", phrases.commonest_failure, spare=4, words=True),
        column("median\nTTFT", lambda b: phrases.milliseconds(b.ttft_ms_median), spare=6),
        column("median\nlatency", lambda b: phrases.milliseconds(b.latency_ms_median), spare=5),
    )


def _all_columns(report: Report) -> tuple[Column, ...]:
    # Only where samples share texts: elsewhere each is a text of its own, and the column would say nothing.
    shared = any(b.n_clusters is not None for b in report.analysis.bins)
    column = _columns_of(report)
    return (
        *_length_columns(
            report,
            asked="asked tokens",
            measured="measured (median)",
            span="shortest - longest prompt",
            median="median prompt",
        ),
        column("n", lambda b: phrases.whole(b.n_samples)),
        *((column("shared texts", lambda b: phrases.whole(b.n_clusters)),) if shared else ()),
        column("unscored", lambda b: phrases.whole(b.n_unscored)),
        column("score", lambda b: phrases.score(b.mean)),
        column("interval", lambda b: shown_interval(report, b.ci_low, b.ci_high)),
        column(phrases.bound_name(report.analysis.safe_cap), lambda b: phrases.bound(b.tested_low)),
        column("commonest failure", phrases.commonest_failure),
        column("median TTFT", lambda b: phrases.milliseconds(b.ttft_ms_median)),
        column("median latency", lambda b: phrases.milliseconds(b.latency_ms_median)),
    )


def _length_columns(report: Report, *, asked: str, measured: str, span: str, median: str) -> tuple[Column, Column]:
    """What was asked for and what was measured; nobody asked for the lengths of documents, whose bins have a range."""
    column = _columns_of(report)
    if any(b.natural_lengths for b in report.analysis.bins):
        first = column(span, lambda b: f"{b.min_tokens:,} - {b.max_tokens:,}")
        return first, column(median, lambda b: phrases.whole(b.median_tokens), spare=2)
    first = column(asked, lambda b: phrases.whole(b.asked_tokens))
    return first, column(measured, lambda b: phrases.whole(b.median_tokens), spare=2)


def _columns_of(report: Report) -> Callable[..., Column]:
    bins = report.analysis.bins

    def column(title: str, cell: Callable[[Bin], str], *, spare: int = 0, words: bool = False) -> Column:
        return Column(title=title, cells=tuple(map(cell, bins)), spare=spare, words=words)

    return column
