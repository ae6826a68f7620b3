"""Whether the score depends on where in the text the evidence stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from contextcliff.analysis.position import PositionProfile, depth_profile, position_pattern
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.drawing import (
    BLUE,
    DIGIT,
    GREY,
    SMALL,
    blank,
    counts_above,
    depth_labels,
    heading,
    interval_bars,
    legible,
    scores_on_y,
)
from contextcliff.findings.finding import (
    Block,
    Column,
    FigureOf,
    Finding,
    Image,
    Measurement,
    Pairs,
    Shown,
    Table,
    from_finding,
)
from contextcliff.findings.phrases import from_stopped_data, interval_words
from contextcliff.records.report import Report
from contextcliff.reporting.report_facts import PatternInShort
from contextcliff.reporting.words.english import say

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _has_profile(report: Report) -> bool:
    finding = report.analysis.finding(PositionProfile)
    return finding is not None and len(finding.profile) >= 2


class PositionSection(Finding[PositionProfile]):
    """The pattern of the score over depth, by a test, and the score of each depth over all lengths."""

    key = "position"
    title = "Position"
    folded = True
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

    def find(self, study: Study) -> PositionProfile | None:
        return PositionProfile(
            profile=depth_profile(study.groups, study.confidence, binary=study.binary),
            position=position_pattern(study.groups, study.confidence),
        )

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:
        finding = self.of(report)
        if finding is None or finding.position.pattern is None:
            return ()
        return ((self.title, PatternInShort(position=finding.position)),)

    def show(self, report: Report) -> tuple[Block, ...]:
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
        stopped = from_stopped_data(report, "The scores of the depths")
        return (Pairs(rows=tuple(rows)), Image(figure="depth_profile"), *table, *(stopped if points else ()))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        if finding is not None:
            yield Measurement(key="position/p_value", value=finding.position.p_value)

    def tags(self, report: Report) -> Mapping[str, str]:
        finding = self.of(report)
        if finding is None or finding.position.pattern is None:
            return {}
        return {"position_pattern": finding.position.pattern}


_WIDTH, _HEIGHT = 7.0, 3.2
_LOW, _HIGH = -0.04, 1.04
"""Ends of the axis of depths: room for a whole marker at either end of the text."""


def profile_figure(report: Report, finding: PositionProfile, *, pattern: str) -> Figure:
    """Draw two depths or more: x is depth (0 the text's start), y the mean score; `pattern` says what was found."""
    points = sorted(finding.profile, key=lambda point: point.depth)
    figure, axes = blank(width=_WIDTH, height=_HEIGHT)
    depths = [point.depth for point in points]
    inches = [_WIDTH * (depth - _LOW) / (_HIGH - _LOW) for depth in depths]
    axes.set_xlim(_LOW, _HIGH)
    scores_on_y(axes)
    labels = depth_labels(depths)
    kept = legible(inches, gap=DIGIT * (max(map(len, labels)) + 1))
    axes.set_xticks(depths, labels=[text if i in kept else "" for i, text in enumerate(labels)], fontsize=SMALL)
    axes.set_xlabel("depth of the evidence (0: the start of the text, 1: its end)", fontsize=9, labelpad=6)
    interval_bars(
        axes,
        places=depths,
        lows=[point.ci_low for point in points],
        highs=[point.ci_high for point in points],
        label="interval",
    )
    axes.plot(depths, [point.mean for point in points], "o-", color=BLUE, markersize=5, linewidth=1.6, zorder=4)
    above = counts_above(axes, places=depths, inches=inches, rows=[("n", [point.n_samples for point in points], GREY)])
    is_tested = finding.position.pattern is not None
    shown_pattern = f", {pattern}" if is_tested else ""
    untested = "" if is_tested else f"; no pattern was tested: {say(finding.position.reason)}"
    heading(
        axes,
        title=f"Score by depth{shown_pattern}: {report.run.model}",
        subtitle=f"{report.run.task}, KV policy {report.run.kv_policy}. Mean score over all lengths, with its"
        f" {interval_words(report)}{untested}",
        inches=_WIDTH,
        above=above + 4,
    )
    return figure
