"""The section of the Markdown page that tells of a model's prose."""

from __future__ import annotations

from collections.abc import Mapping

from contextcliff.records.report import Report
from contextcliff.reporting import findings, phrases
from contextcliff.reporting.markup import bullets, escape, pairs, table
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.sections import writing_text
from contextcliff.writing.sections.writing_phrases import change, title, value, way

_METHOD = (
    "Every prompt ends at the same place in the text, whatever its length, and the author's own next words are measured"
    " beside the model's. The composite (0-100, up is worse) is calibrated by windows of the author's text; the classic"
    " one is Context-Tester's. An interval is a bootstrap over the rounds. What could not be measured is a dash and"
    " counts in nothing."
)
_SCALES = {"z": "at equal length", "raw": "as it is"}
_TRENDS = (
    "Jonckheere and Terpstra's test over all lengths, one-sided where one way is worse; corrected: Holm. At equal"
    " length: tested are the z-scores by windows of the author's text as long as each round's, not the figures beside"
    " them."
)


def writing_blocks(report: Report, *, images: Mapping[str, str]) -> list[str]:
    """The blocks of the section, its figures among them; none for a run without writing."""
    writing = report.analysis.finding(Writing)
    if writing is None:
        return []
    head, rows = writing_text.tier_table(writing)
    return [
        "## Writing by length",
        pairs(writing_text.summary(writing)),
        table(head, rows, wordy_end=True) if rows else "No length was tested.",
        images.get("core_metrics", ""),
        images.get("writing_dashboard", ""),
        *_trends(writing),
        *(
            block
            for heading, lines in writing_text.lists(writing).items()
            if lines
            for block in (f"### {heading}", bullets(map(escape, lines)))
        ),
        *_measures(writing),
        images.get("convergence", ""),
        images.get("writing_rounds", ""),
        _METHOD,
    ]


def _trends(writing: Writing) -> list[str]:
    if not writing.trends:
        return []
    rows = [
        (
            title(trend.measure),
            way(trend.measure) or "neither",
            value(trend.start),
            value(trend.end),
            change(trend.measure, trend.end - trend.start),
            phrases.MISSING if trend.p_value is None else findings.p_value(trend.p_value).removeprefix("p = "),
            phrases.MISSING if trend.p_holm is None else findings.p_value(trend.p_holm).removeprefix("p = "),
            phrases.MISSING if trend.p_value is None else _SCALES[trend.scale],
        )
        for trend in writing.trends
    ]
    head = ("measure", "which way is worse", "shortest", "longest", "change", "p", "corrected", "tested")
    return ["### From the shortest to the longest", table(head, rows, words=2, wordy_end=True), _TRENDS]


def _measures(writing: Writing) -> list[str]:
    head, rows = writing_text.measure_table(writing)
    return ["### Every measure", table(head, rows, words=1)] if rows else []
