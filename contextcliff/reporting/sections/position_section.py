"""Whether the score depends on where in the text the evidence stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contextcliff.analysis.position import PositionProfile, position_pattern
from contextcliff.analysis.profile import depth_profile
from contextcliff.analysis.study import Study
from contextcliff.records.report import Report
from contextcliff.reporting.section import Measurement, Section


class PositionSection(Section[PositionProfile]):
    """Whether the score depends on where in the text the evidence stands."""

    key = "position"
    title = "Position"
    record = PositionProfile
    inline = True

    def compute(self, study: Study) -> PositionProfile | None:
        return PositionProfile(
            profile=depth_profile(study.groups, study.confidence, binary=study.binary),
            position=position_pattern(study.groups, study.confidence),
        )

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        if finding is not None:
            yield Measurement(key="position_p_value", value=finding.position.p_value)

    def tags(self, report: Report) -> Mapping[str, str]:
        finding = self.of(report)
        if finding is None or finding.position.pattern is None:
            return {}
        return {"position_pattern": finding.position.pattern}
