"""How a sequential search decided each length that it tested, and the evidence block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import (
    Block,
    Column,
    FigureOf,
    Finding,
    Image,
    Measurement,
    Shown,
    Table,
    Text,
    from_finding,
)
from contextcliff.records.report import Report
from contextcliff.records.search_record import Decision, LengthStanding, Search, TestedLength
from contextcliff.reporting.figures.search_figure import search_figure
from contextcliff.reporting.report_facts import SearchInShort

_MEANING = (
    "An e-value measures the evidence against a claim: if the claim is true, it reaches 1/α with a chance of at most α,"
    " however often one looks. It is looked at where a block of samples ends. A length passes where the one against"
    " “the score is at most the threshold” reaches 1/α; it is below where the one against “the score is at least the"
    " threshold” reaches"
)
_DECISIONS: Mapping[Decision, str] = {
    "baseline": "the baseline",
    "passed": "passed",
    "below": "below",
    "unsettled": "unsettled: neither is shown",
    "unscorable": "unscorable: too many samples have no score",
    "open": "open: the search ended before",
}


class SearchSection(Finding[Search]):
    """A row a length, in the order of testing."""

    key = "search"
    title = "Search"
    record = Search
    figures = (
        FigureOf(
            name="search_evidence",
            caption="Evidence by block",
            has_data=lambda report: any(
                tested.blocks for search in [report.analysis.finding(Search)] if search for tested in search.tested
            ),
            draw=from_finding(Search, search_figure),
        ),
    )

    def find(self, study: Study) -> Search | None:
        return study.search

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:
        search = self.of(report)
        if search is None or not search.tested:
            return ()
        return ((self.title, SearchInShort(lengths=tuple(standing(report, search)))),)

    def show(self, report: Report) -> tuple[Block, ...]:
        search = self.of(report)
        if search is None or not search.tested:
            return ()
        below_at = 1.0 / (1.0 - report.analysis.safe_cap.confidence)
        columns = (
            Column(title="order", cells=tuple(str(order) for order in range(1, len(search.tested) + 1))),
            Column(title="asked tokens", cells=tuple(phrases.whole(each.context_tokens) for each in search.tested)),
            Column(title="α", cells=tuple(f"{each.alpha:.3g}" for each in search.tested)),
            Column(title="decision", cells=tuple(_DECISIONS[each.decision] for each in search.tested), words=True),
            Column(title="blocks", cells=tuple(phrases.whole(each.n_blocks) for each in search.tested)),
            Column(title="samples", cells=tuple(phrases.whole(_samples(each, search)) for each in search.tested)),
            Column(title="e-value above", cells=tuple(_e_value(each, above=True) for each in search.tested)),
            Column(title="e-value below", cells=tuple(_e_value(each, above=False) for each in search.tested)),
        )
        return (Text(text=f"{_MEANING} {below_at:.3g}."), Table(columns=columns), Image(figure="search_evidence"))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        search = self.of(report)
        if search is None:
            return
        yield Measurement(key="search/lengths_tested", value=len(search.tested))
        yield Measurement(key="search/lengths_passed", value=sum(each.decision == "passed" for each in search.tested))
        yield Measurement(key="search/samples", value=sum(_samples(each, search) for each in search.tested))
        for each in search.tested:
            yield Measurement(key="search/alpha", value=each.alpha, step=each.context_tokens)
            if each.blocks:
                yield Measurement(key="search/e_above", value=each.blocks[-1].e_above, step=each.context_tokens)
                yield Measurement(key="search/e_below", value=each.blocks[-1].e_below, step=each.context_tokens)


def standing(report: Report, search: Search) -> Iterator[LengthStanding]:
    """How each tested length stands, in the order of testing."""
    bins = {each.asked_tokens: each for each in report.analysis.bins}
    for tested in search.tested:
        length = bins.get(tested.context_tokens)
        yield LengthStanding(
            context_tokens=tested.context_tokens,
            decision=tested.decision,
            score_sum=0.0 if length is None or length.mean is None else length.mean * length.n_samples,
            answered=0 if length is None else length.n_samples + length.n_unscored,
        )


def _samples(tested: TestedLength, search: Search) -> int:
    return tested.n_blocks * search.plan.block


def _e_value(tested: TestedLength, *, above: bool) -> str:
    if not tested.blocks:
        return "-"
    last = tested.blocks[-1]
    value = last.e_above if above else last.e_below
    return f"{value:,.0f}" if 100.0 <= value < 1e6 else f"{value:.2g}"
