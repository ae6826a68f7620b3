"""What a page says of figures whose number of samples a search chose by the scores."""

from __future__ import annotations

from contextcliff.records.report import Report
from contextcliff.records.search_record import Search
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Text


def interval_words(report: Report) -> str:
    """What the subtitle of a figure calls intervals that are not adjusted for a search's stopping."""
    confidence = phrases.percent(report.analysis.safe_cap.confidence)
    unadjusted = "" if report.analysis.finding(Search) is None else " (not adjusted for the stopping of the search)"
    return f"{confidence} interval{unadjusted}"


def shown_interval(report: Report, low: float | None, high: float | None) -> str:
    """The interval of a length's mean. In a search its lower end can be the tested bound: it is rounded as that is."""
    shown = phrases.interval if report.analysis.finding(Search) is None else phrases.interval_outward
    return shown(low, high)


def from_stopped_data(report: Report, figures: str) -> tuple[Text, ...]:
    """A paragraph that marks `figures` (the subject of the sentence, a plural) in a search; nothing elsewhere."""
    if report.analysis.finding(Search) is None:
        return ()
    return (
        Text(
            text=f"{figures} are estimates from stopped data: the search stopped at each length as soon as it was"
            " decided, and neither they nor their intervals are adjusted for that."
        ),
    )
