"""What changes beside the mean score as prompts grow: latency, spread, instability, failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contextcliff.analysis.early_warning import EarlyWarning, WarningName
from contextcliff.analysis.early_warnings import EarlyWarnings, early_warnings
from contextcliff.analysis.latency_cap import LatencyCap
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Finding, Heading, Line, Lines, Measurement, Table, Text
from contextcliff.records.report import Report

_DEFINITIONS: Mapping[WarningName, str] = {
    "latency_canary": "from here on the typical time to the first token is at least 1.5 times what the time to read"
    " the prompt (a fixed part, a part for each token and one for attention, fitted to the shorter lengths) predicts",
    "latency_spread": "the quartiles of the time to the first token are at least twice as far apart as at the shortest"
    " length, relative to the median",
    "score_spread": "the standard deviation of the scores is at least twice that of the shortest length; not for"
    " scores of 0 or 1, whose spread follows from their mean, and not in a search",
    "instability": "the share of repeated questions whose score changes between repeats is more than twice that of the"
    " shortest length and 10 points above it",
    "failure_spike": "the share of answers that fail is more than twice that of the shortest length and 10 points"
    " above it",
    "unscored_spike": "the share of samples without an answer that can be scored is more than twice that of the"
    " shortest length and 10 points above it",
}
_TITLES: Mapping[WarningName, str] = {
    "latency_canary": "Latency canary",
    "latency_spread": "Latency spread",
    "score_spread": "Score spread",
    "instability": "Instability",
    "failure_spike": "Failure spike",
    "unscored_spike": "Unscored spike",
}
_READ = (
    "Times to the first token (TTFT) over the requests of which the server read at least half of the prompt, each"
    " prompt once; the others came out of a cache. The prediction is the curve of the shorter lengths. The spread is"
    " the distance of the quartiles, as a share of the median."
)


class WarningsSection(Finding[EarlyWarnings]):
    """Each warning with the length where it begins, and the cap rule `latency`."""

    key = "early_warnings"
    title = "Early warnings"
    record = EarlyWarnings
    inline = True
    cap_rules = {  # noqa: RUF012 - a ClassVar of the base class
        "latency": "longest prompt of the last length, from the shortest up, at which the share"
        " analysis.latency_slo_share of the requests was shown to end within analysis.latency_slo_ms"
    }

    def find(self, study: Study) -> EarlyWarnings | None:
        return early_warnings(study)

    def caps(self, finding: EarlyWarnings, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        return {} if finding.latency_slo is None else {"latency": finding.latency_slo.tokens}

    def short(self, report: Report) -> tuple[Block, ...]:
        warnings = _warnings(report)
        lines = tuple(Line(label=_TITLES[each.name], text=each.reason, mood="doubtful") for each in warnings)
        return (Lines(lines=lines),) if lines else ()

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        if finding is None:
            return ()
        confidence = phrases.percent(report.analysis.safe_cap.confidence)
        shown = f"Each is shown at {confidence} confidence against the shortest length, over all lengths together."
        blocks: list[Block] = [Text(text=shown)] if finding.warnings else [Text(text="None.")]
        if finding.warnings:
            blocks += [*self.short(report), _table(finding.warnings, report)]
        if len(finding.prefill) > 1:
            blocks += [Heading(text="Time to read the prompt"), Text(text=_READ), _times(finding)]
        if finding.latency_slo is not None:
            blocks += _limit(finding.latency_slo, confidence)
        return tuple(blocks)

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        if finding is None:
            return
        yield Measurement(key="warnings/count", value=len(finding.warnings))
        for each in finding.warnings:
            yield Measurement(key=f"warnings/{each.name}_tokens", value=each.median_tokens)
            for name, figure in each.figures.items():
                yield Measurement(key=f"warnings/{each.name}_{name}", value=figure, step=each.context_tokens)
        for length in finding.prefill:
            yield Measurement(key="by_length/ttft_ms_per_token", value=length.ms_per_token, step=length.context_tokens)
            yield Measurement(key="by_length/ttft_ms_predicted", value=length.predicted_ms, step=length.context_tokens)
            yield Measurement(key="by_length/ttft_spread", value=length.spread, step=length.context_tokens)
        if finding.latency_slo is not None:
            for within in finding.latency_slo.lengths:
                share = within.n_within / within.n_requests if within.n_requests else None
                yield Measurement(key="by_length/within_latency_slo", value=share, step=within.context_tokens)

    def tags(self, report: Report) -> Mapping[str, str]:
        names = ", ".join(each.name for each in _warnings(report))
        return {"warnings": names} if names else {}


def _warnings(report: Report) -> tuple[EarlyWarning, ...]:
    finding = report.analysis.finding(EarlyWarnings)
    return () if finding is None else finding.warnings


def _table(warnings: tuple[EarlyWarning, ...], report: Report) -> Table:
    return Table(
        columns=(
            Column(title="warning", cells=tuple(_TITLES[each.name] for each in warnings), words=True),
            Column(title="begins at tokens", cells=tuple(phrases.whole(each.median_tokens) for each in warnings)),
            Column(title="zone", cells=tuple(_zone_at(each.median_tokens, report) for each in warnings), words=True),
            Column(title="what it is", cells=tuple(_DEFINITIONS[each.name] for each in warnings), words=True),
        )
    )


def _zone_at(tokens: int, report: Report) -> str:
    """The zone that a length lies in; the zones are ranges of measured lengths."""
    zones = report.analysis.zones
    return next((zone.name for zone in zones if zone.min_tokens <= tokens <= zone.max_tokens), phrases.MISSING)


def _times(finding: EarlyWarnings) -> Table:
    rows = finding.prefill
    return Table(
        columns=(
            Column(title="asked tokens", cells=tuple(phrases.whole(row.context_tokens) for row in rows)),
            Column(title="n", cells=tuple(phrases.whole(row.n_requests) for row in rows)),
            Column(title="typical TTFT", cells=tuple(phrases.milliseconds(row.ttft_ms) for row in rows)),
            Column(title="predicted", cells=tuple(phrases.milliseconds(row.predicted_ms) for row in rows)),
            Column(title="ms per token", cells=tuple(f"{row.ms_per_token:.3g}" for row in rows)),
            Column(title="spread", cells=tuple(phrases.percent(row.spread) for row in rows)),
        )
    )


def _limit(cap: LatencyCap, confidence: str) -> list[Block]:
    rows = cap.lengths
    meaning = (
        f"A length clears where at least {phrases.percent(cap.share)} of its requests are shown to end within"
        f" {phrases.milliseconds(cap.slo_ms)}, at {confidence} confidence; a sample without an answer counts as late."
    )
    table = Table(
        columns=(
            Column(title="asked tokens", cells=tuple(phrases.whole(row.context_tokens) for row in rows)),
            Column(title="requests", cells=tuple(phrases.whole(row.n_requests) for row in rows)),
            Column(title="in time", cells=tuple(phrases.whole(row.n_within) for row in rows)),
            Column(title="tested bound", cells=tuple(phrases.score(row.ci_low) for row in rows)),
            Column(title="clears", cells=tuple("yes" if row.clears else "no" for row in rows), words=True),
        )
    )
    return [Heading(text="Limit on latency"), Text(text=meaning), table]
