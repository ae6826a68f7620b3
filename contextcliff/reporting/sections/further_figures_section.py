"""Figures that other tools give and this report does not read: at its end, for comparison."""

from __future__ import annotations

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Finding, Table, Text
from contextcliff.findings.half_life import HalfLifeFits
from contextcliff.records.report import Report

_LSQ = (
    "The half-life by least squares, r0 * exp(-kL) fitted to the mean scores with every length counting alike, for"
    " comparison with figures made that way; it knows neither how many samples stand behind a mean nor that r0 is at"
    " most 1:"
)
_SPREAD = (
    "The rolling variance is the variance of the scores of a length and its neighbours, pooled. Sarle's bimodality"
    " coefficient, above 0.56 (5/9, a uniform distribution's), hints at two kinds of answers, whole and worthless. On"
    " 0/1 scores both restate the mean."
)


class FurtherFiguresSection(Finding[None]):
    """The least-squares half-life, the rolling variance and Sarle's coefficient."""

    key = "further_figures"
    title = "Appendix: further figures"
    folded = True

    def show(self, report: Report) -> tuple[Block, ...]:
        fits, bins = report.analysis.finding(HalfLifeFits), report.analysis.bins
        if not bins:
            return ()
        lsq = None if fits is None else fits.half_life_lsq
        columns = (
            Column(title="asked tokens", cells=tuple(phrases.whole(b.asked_tokens) for b in bins)),
            Column(title="rolling variance", cells=tuple(_small(b.rolling_variance) for b in bins)),
            Column(title="Sarle's coefficient", cells=tuple(_small(b.bimodality) for b in bins)),
        )
        return (
            Text(text=f"{_LSQ} {'none' if lsq is None else f'{lsq:,} tokens'}."),
            Text(text=_SPREAD),
            Table(columns=columns),
        )


def _small(value: float | None) -> str:
    return phrases.MISSING if value is None else f"{value:.3f}"
