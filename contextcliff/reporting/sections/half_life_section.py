"""The length over which the score halves, were its fall exponential."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contextcliff.analysis.half_life import HalfLife, HalfLifeFits, half_life_lsq, half_life_of
from contextcliff.analysis.study import Study
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Image, Pairs, Shown, Text
from contextcliff.reporting.figures.decay_figure import decay_figure
from contextcliff.reporting.report_facts import HalfLifeInShort
from contextcliff.reporting.section import FigureOf, Measurement, Section, from_finding
from contextcliff.reporting.words.english import say

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
    cap_rules = {"half_life": "length over which the score halves, by a fitted exponential decay"}  # noqa: RUF012
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

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:
        fits = self.of(report)
        return (
            ((self.title, HalfLifeInShort(half_life=fits.half_life)),)
            if fits is not None and report.analysis.bins
            else ()
        )

    def full(self, report: Report) -> tuple[Block, ...]:
        fits = self.of(report)
        if fits is None or not report.analysis.bins:
            return ()
        half_life, lsq = fits.half_life, fits.half_life_lsq
        likeliest = "none" if half_life.tokens is None else HalfLifeInShort(half_life=half_life)
        rows: list[tuple[str, Shown]] = [("Maximum likelihood", likeliest)]
        if half_life.initial is not None:
            rows.append(("Score at length 0", phrases.score(half_life.initial)))
        if half_life.tokens is None and half_life.ci_low is not None:
            rows.append(("At least", f"{half_life.ci_low:,} tokens"))
        rows.append(("Least squares", "none" if lsq is None else f"{lsq:,} tokens"))
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


def _figure_words(half_life: HalfLife) -> str:
    if half_life.tokens is None:
        return f"No half-life: {say(half_life.reason)}"
    return f"Half-life: {say(HalfLifeInShort(half_life=half_life))}"
