"""The length over which the score halves, were its fall exponential."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contextcliff.analysis.half_life import HalfLife, HalfLifeFits, half_life_lsq, half_life_of
from contextcliff.analysis.study import Study
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Image, Pairs, Text
from contextcliff.reporting.figures.decay_figure import decay_figure
from contextcliff.reporting.section import FigureOf, Measurement, Section, from_finding

_MEANING = "The length over which the score halves, were its fall exponential; the safe cap does not depend on it."


def _has_decay(report: Report) -> bool:
    """Whether evidence lay at depths, as needles do, and there is a fall to look for: two lengths or a half-life."""
    fits = report.analysis.finding(HalfLifeFits)
    scored = sum(b.mean is not None for b in report.analysis.bins)
    if fits is None or not report.analysis.cells:
        return False
    return scored >= 2 or (scored == 1 and fits.half_life.tokens is not None)


class HalfLifeSection(Section[HalfLifeFits]):
    """The half-life by two fits. It is there also where recall does not fall, since that is a finding."""

    key = "half_life"
    title = "Half-life"
    record = HalfLifeFits
    inline = True
    figures = (
        FigureOf(
            name="decay_curve",
            caption="Decay by length",
            has_data=_has_decay,
            draw=from_finding(
                HalfLifeFits,
                lambda report, fits: decay_figure(report, fits.half_life, words=_figure_words(fits.half_life)),
            ),
        ),
    )

    def compute(self, study: Study) -> HalfLifeFits | None:
        return HalfLifeFits(half_life=half_life_of(study), half_life_lsq=half_life_lsq(study.results))

    def caps(self, finding: HalfLifeFits, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        return {"half_life": finding.half_life.tokens}

    def summary(self, report: Report) -> tuple[tuple[str, str], ...]:
        fits = self.of(report)
        return ((self.title, _words(fits.half_life)),) if fits is not None and report.analysis.bins else ()

    def full(self, report: Report) -> tuple[Block, ...]:
        fits = self.of(report)
        if fits is None or not report.analysis.bins:
            return ()
        half_life, lsq = fits.half_life, fits.half_life_lsq
        rows = [("Maximum likelihood", "none" if half_life.tokens is None else _words(half_life))]
        if half_life.initial is not None:
            rows.append(("Score at length 0", phrases.score(half_life.initial)))
        if half_life.tokens is None and half_life.ci_low is not None:
            rows.append(("At least", f"{half_life.ci_low:,} tokens"))
        rows.append(("Least squares", "none" if lsq is None else f"{lsq:,} tokens"))
        if half_life.reason:
            rows.append(("Reason" if half_life.tokens is None else "Basis", half_life.reason))
        return (Text(text=_MEANING), Pairs(rows=tuple(rows)), Image(figure="decay_curve"))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        fits = self.of(report)
        if fits is None:
            return
        yield Measurement(key="half_life_tokens", value=fits.half_life.tokens)
        yield Measurement(key="half_life_ci_low", value=fits.half_life.ci_low)
        yield Measurement(key="half_life_ci_high", value=fits.half_life.ci_high)
        yield Measurement(key="half_life_lsq", value=fits.half_life_lsq)


def _words(half_life: HalfLife) -> str:
    """The half-life in tokens with its interval, or that there is none and why."""
    if half_life.tokens is None:
        return f"none: {half_life.reason}" if half_life.reason else "none"
    beyond = ", beyond the longest test" if half_life.censored else ""
    return f"{half_life.tokens:,} tokens{_ends(half_life)}{beyond}"


def _ends(half_life: HalfLife) -> str:
    low, high = half_life.ci_low, half_life.ci_high
    if low is None:
        return "" if high is None else f" (up to {high:,})"
    return f" ({low:,} and up)" if high is None else f" ({low:,}-{high:,})"


def _figure_words(half_life: HalfLife) -> str:
    return f"No half-life: {half_life.reason}" if half_life.tokens is None else f"Half-life: {_words(half_life)}"
