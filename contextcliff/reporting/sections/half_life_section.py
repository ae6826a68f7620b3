"""The length over which the score halves, were its fall exponential."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contextcliff.analysis.half_life import HalfLifeFits, half_life_lsq, half_life_of
from contextcliff.analysis.study import Study
from contextcliff.records.report import Report
from contextcliff.reporting.section import Measurement, Section


class HalfLifeSection(Section[HalfLifeFits]):
    """The length over which the score halves, were its fall exponential."""

    key = "half_life"
    title = "Half-life"
    record = HalfLifeFits
    inline = True

    def compute(self, study: Study) -> HalfLifeFits | None:
        return HalfLifeFits(half_life=half_life_of(study), half_life_lsq=half_life_lsq(study.results))

    def caps(self, finding: HalfLifeFits, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        return {"half_life": finding.half_life.tokens}

    def metrics(self, report: Report) -> Iterator[Measurement]:
        fits = self.of(report)
        if fits is None:
            return
        yield Measurement(key="half_life_tokens", value=fits.half_life.tokens)
        yield Measurement(key="half_life_ci_low", value=fits.half_life.ci_low)
        yield Measurement(key="half_life_ci_high", value=fits.half_life.ci_high)
        yield Measurement(key="half_life_lsq", value=fits.half_life_lsq)
