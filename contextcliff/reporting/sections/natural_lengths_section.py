"""Documents of natural length: what each bin holds, and how its scores are spread."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.analysis.study import Study
from contextcliff.records.analysis import Bin
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Column, Image, Table, Text
from contextcliff.reporting.figures.length_audit import audit_figure
from contextcliff.reporting.section import FigureOf, Measurement, Section, from_finding


class NaturalLengthsSection(Section[LengthAudit]):
    """How long the documents are, where the task takes them as they are."""

    key = "audit"
    title = "Bins of documents"
    record = LengthAudit
    figures = (
        FigureOf(
            name="length_histogram",
            caption="Documents by length",
            has_data=lambda report: report.analysis.finding(LengthAudit) is not None,
            draw=from_finding(
                LengthAudit,
                lambda report, audit: audit_figure(audit, title=f"Documents by length: {report.run.dataset}"),
            ),
        ),
    )

    def compute(self, study: Study) -> LengthAudit | None:
        return study.facts.audit

    def full(self, report: Report) -> tuple[Block, ...]:
        audit = self.of(report)
        if audit is None:
            return ()
        meaning = (
            f"{len(audit.lengths):,} documents of natural length; {audit.too_short:,} were too short and"
            f" {audit.too_long:,} too long, and none was cut or padded. Instability is the share of questions whose"
            " score changes between their repeats, the variance in a question its mean size; rolling variance is that"
            " of a bin and its neighbours; a bimodality above 0.56 hints at two kinds of answers, whole and worthless."
        )
        return (Text(text=meaning), Table(columns=_columns(report.analysis.bins)), Image(figure="length_histogram"))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        for each in report.analysis.bins:
            yield Measurement(key="instability", value=each.instability, step=each.asked_tokens)
            yield Measurement(key="within_item_variance", value=each.within_item_variance, step=each.asked_tokens)


def _columns(bins: tuple[Bin, ...]) -> tuple[Column, ...]:
    shares = tuple(phrases.MISSING if b.instability is None else phrases.percent(b.instability) for b in bins)
    return (
        Column(title="bin", cells=tuple(str(position) for position, _ in enumerate(bins, start=1))),
        Column(title="prompt tokens", cells=tuple(f"{b.min_tokens:,}-{b.max_tokens:,}" for b in bins)),
        Column(title="documents", cells=tuple(phrases.whole(b.n_documents) for b in bins)),
        Column(title="questions", cells=tuple(phrases.whole(b.n_items) for b in bins)),
        Column(title="sd", cells=tuple(phrases.score(b.std) for b in bins)),
        Column(title="instability", cells=shares),
        Column(title="variance in a question", cells=tuple(_small(b.within_item_variance) for b in bins)),
        Column(title="rolling variance", cells=tuple(_small(b.rolling_variance) for b in bins)),
        Column(title="bimodality", cells=tuple(_small(b.bimodality) for b in bins)),
        Column(title="latency sd", cells=tuple(phrases.milliseconds(b.latency_ms_std) for b in bins)),
    )


def _small(value: float | None) -> str:
    return phrases.MISSING if value is None else f"{value:.3f}"
