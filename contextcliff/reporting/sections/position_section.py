"""Whether the score depends on where in the text the evidence stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contextcliff.analysis.position import PositionProfile, depth_profile, position_pattern
from contextcliff.analysis.study import Study
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Column, Image, Pairs, Shown, Table
from contextcliff.reporting.figures.profile_figure import profile_figure
from contextcliff.reporting.report_facts import PatternInShort
from contextcliff.reporting.section import FigureOf, Measurement, Section, from_finding
from contextcliff.reporting.words.english import say


def _has_profile(report: Report) -> bool:
    finding = report.analysis.finding(PositionProfile)
    return finding is not None and len(finding.profile) >= 2


class PositionSection(Section[PositionProfile]):
    """The pattern of the score over depth, by a test, and the score of each depth over all lengths."""

    key = "position"
    title = "Position"
    record = PositionProfile
    inline = True
    figures = (
        FigureOf(
            name="depth_profile",
            caption="Score by depth",
            has_data=_has_profile,
            draw=from_finding(
                PositionProfile,
                lambda report, finding: profile_figure(
                    report, finding, pattern=say(PatternInShort(position=finding.position))
                ),
            ),
        ),
    )

    def compute(self, study: Study) -> PositionProfile | None:
        return PositionProfile(
            profile=depth_profile(study.groups, study.confidence, binary=study.binary),
            position=position_pattern(study.groups, study.confidence),
        )

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:
        finding = self.of(report)
        if finding is None or finding.position.pattern is None:
            return ()
        return ((self.title, PatternInShort(position=finding.position)),)

    def full(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        if finding is None or (finding.position.pattern is None and not finding.profile):
            return ()
        position, points = finding.position, finding.profile
        rows: list[tuple[str, Shown]] = [("Pattern", PatternInShort(position=position))]
        if position.n_samples:
            rows.append(("Samples", phrases.whole(position.n_samples)))
        rows.append(("Reason", position.reason))
        columns = (
            Column(title="depth", cells=tuple(f"{point.depth:.3g}" for point in points)),
            Column(title="n", cells=tuple(phrases.whole(point.n_samples) for point in points)),
            Column(title="score", cells=tuple(phrases.score(point.mean) for point in points)),
            Column(title="interval", cells=tuple(phrases.interval(point.ci_low, point.ci_high) for point in points)),
        )
        table = (Table(columns=columns),) if points else ()
        return (Pairs(rows=tuple(rows)), Image(figure="depth_profile"), *table)

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        if finding is not None:
            yield Measurement(key="position_p_value", value=finding.position.p_value)

    def tags(self, report: Report) -> Mapping[str, str]:
        finding = self.of(report)
        if finding is None or finding.position.pattern is None:
            return {}
        return {"position_pattern": finding.position.pattern}
