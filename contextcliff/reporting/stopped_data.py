"""What a page says of figures whose number of samples a search chose by the scores."""

from __future__ import annotations

from contextcliff.records.report import Report
from contextcliff.records.search_record import Search
from contextcliff.reporting.blocks import Text


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
