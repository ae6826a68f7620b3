"""Whether the score depends on where the evidence stands: late evidence is found more often (`recency`), less often
(`primacy`), or the edges more often than the middle (`middle_collapse`: N. F. Liu et al., "Lost in the Middle", arXiv
2307.03172), by the test of `statistics/ranks.py`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from contextcliff.analysis.bins import Group
from contextcliff.analysis.lengths import by_item, items_of
from contextcliff.analysis.study import Study
from contextcliff.findings import drawing, phrases
from contextcliff.findings.finding import Block, Finding, Image, Pairs, Table, Text, columns
from contextcliff.findings.phrases import interval_words
from contextcliff.records.amounts import THIRDS_OF_DEPTH
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import Note
from contextcliff.records.report import Report
from contextcliff.records.search_record import THIRDS
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.intervals import shown_interval
from contextcliff.statistics.ranks import is_significant, permutation_test, varying_strata

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PatternName = Literal["stable", "middle_collapse", "recency", "primacy"]
_PATTERNS: Mapping[PatternName, Note] = {
    "stable": Note("no dependence on depth is shown"),
    "recency": Note("late evidence is found more often"),
    "primacy": Note("early evidence is found more often"),
    "middle_collapse": Note("the edges are found more often than the middle"),
}
FEWEST_DEPTHS = 3
"""With two depths there is no middle."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionPattern:
    """How the score depends on depth, by a test.

    `recency`: late evidence is found more often; `primacy`: early evidence is; `stable`: no dependence was shown.
    `pattern` and `p_value` are None where there is nothing to test, and `reason` says why.
    """

    pattern: PatternName | None
    p_value: float | None
    n_samples: int
    reason: Note


@dataclass(frozen=True, kw_only=True, slots=True)
class DepthPoint:
    """Mean score of one depth over all lengths, with its interval."""

    depth: float
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionProfile:
    """Whether the score depends on depth, and the mean score of each depth over all lengths."""

    position: PositionPattern
    profile: tuple[DepthPoint, ...] = ()
    position_up_to_cap: PositionPattern | None = None
    """The same over the lengths up to the safe cap, `stable` unless the report raises the alarm; None without a cap."""


def position_pattern(groups: Sequence[Group], confidence: float) -> PositionPattern:
    """The pattern of score over depth, tested at 1 − `confidence`. None below three depths, or where no length has two
    to compare; `stable` without a p-value where scores vary within no length."""
    placed = _placed(groups)
    pairs = sorted(pair for stratum in placed for pair in stratum)
    n = len(pairs)
    depths = {depth for depth, _ in pairs}
    if len(depths) < FEWEST_DEPTHS:
        counts = {"fewest": FEWEST_DEPTHS, "depths": len(depths)}
        reason = Note("a pattern takes scores at {fewest} depths, and there are {depths}", **counts)
        return PositionPattern(pattern=None, p_value=None, n_samples=n, reason=reason)
    if all(len({depth for depth, _ in stratum}) == 1 for stratum in placed):
        reason = Note("no two depths can be compared at the same length and in the same text")
        return PositionPattern(pattern=None, p_value=None, n_samples=n, reason=reason)
    strata = varying_strata(placed)
    if not strata:
        reason = Note("nothing to tell apart: {thirds}, and at no length do scores differ", thirds=_thirds(pairs))
        return PositionPattern(pattern="stable", p_value=None, n_samples=n, reason=reason)
    linear, edges, p_value = permutation_test(strata)
    pattern: PatternName = "stable"
    if is_significant(p_value, confidence):
        pattern = "middle_collapse" if edges > abs(linear) else "recency" if linear > 0.0 else "primacy"
    reason = Note("{thirds} ({pattern}, p = {p_value:.2g}, {n_samples:,} samples)", thirds=_thirds(pairs),
                  pattern=_PATTERNS[pattern], p_value=p_value, n_samples=n)  # fmt: skip
    return PositionPattern(pattern=pattern, p_value=p_value, n_samples=n, reason=reason)


def _placed(groups: Sequence[Group]) -> list[list[tuple[float, float]]]:
    """Depth and score of the items of each stratum, sorted. A search stops by its scores alone: where depth has no
    effect they can be exchanged among its depths all the same."""
    strata: defaultdict[tuple[int, str], list[tuple[float, float]]] = defaultdict(list)
    for group in groups:
        for repeats in by_item(group.samples):
            sample, (item,) = repeats[0].sample, items_of(repeats)
            if sample.depth is not None and item.score is not None:
                strata[group.asked_tokens, item.cluster].append((sample.depth, item.score))
    return [sorted(strata[key]) for key in sorted(strata)]


def _thirds(pairs: Sequence[tuple[float, float]]) -> Note:
    bounds = ((0.0, 1.0 / 3.0), (1.0 / 3.0, 2.0 / 3.0), (2.0 / 3.0, 1.0))
    means = []
    for name, (low, high) in zip(THIRDS, bounds, strict=True):
        if scores := [score for depth, score in pairs if low <= depth and (depth < high or high == 1.0)]:
            third, mean = THIRDS_OF_DEPTH[name], mean_of(scores)
            means.append(Note("{mean:.2f} in the {third} (n = {n})", mean=mean, third=third, n=len(scores)))
    return Note("the mean score is {means}", means=means)


def depth_profile(groups: Sequence[Group], confidence: float, *, binary: bool) -> tuple[DepthPoint, ...]:
    """One point for each depth that was scored, shallowest first; the repeats of a question count once."""
    scores: defaultdict[float, list[float]] = defaultdict(list)
    for group in groups:
        by_depth: defaultdict[float, list[ScoredSample]] = defaultdict(list)
        for sample in group.samples:
            if sample.sample.depth is not None:
                by_depth[sample.sample.depth].append(sample)
        for depth, samples in by_depth.items():
            scores[depth] += [item.score for item in items_of(samples) if item.score is not None]
    found = sorted((depth, tuple(sorted(each))) for depth, each in scores.items() if each)
    ends = [shown_interval(each, confidence, binary=binary) for _, each in found]
    return tuple(
        DepthPoint(depth=depth, n_samples=len(each), mean=mean_of(each), ci_low=low, ci_high=high)
        for (depth, each), (low, high) in zip(found, ends, strict=True)
    )


class PositionFinding(Finding[PositionProfile]):
    key = "position"
    title = "Position"
    record = PositionProfile
    inline = True

    def find(self, study: Study) -> PositionProfile | None:
        cap = study.safe_cap.tokens or 0
        relied_on = [group for group, a_bin in zip(study.groups, study.bins, strict=True) if a_bin.clears_up_to <= cap]
        return PositionProfile(
            profile=depth_profile(study.groups, study.confidence, binary=study.binary),
            position=position_pattern(study.groups, study.confidence),
            position_up_to_cap=position_pattern(relied_on, study.confidence) if relied_on else None,
        )

    def alarms(self, finding: PositionProfile, study: Study) -> Mapping[str, float]:  # noqa: ARG002
        tested = finding.position_up_to_cap
        return {} if tested is None or tested.p_value is None else {"position": tested.p_value}

    def raised(self, finding: PositionProfile, study: Study) -> PositionProfile:
        tested = finding.position_up_to_cap
        if tested is None or tested.pattern is None or study.raises("position"):
            return finding
        return replace(finding, position_up_to_cap=replace(tested, pattern="stable"))

    def look(self, report: Report) -> tuple[Text, ...]:
        """What holds up to the safe cap: beyond it a model that fails finds late evidence more often, or early one."""
        found = self.of(report).position_up_to_cap
        if found is None or found.pattern in (None, "stable"):
            return ()
        return (Text(label=self.title, text=Note("up to the safe cap {reason}", reason=found.reason)),)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        position, points = finding.position, finding.profile
        if position.pattern is None and not points:
            return ()
        cells = columns(
            points,
            ("depth", lambda point: f"{point.depth:.3g}"),
            ("n", lambda point: phrases.whole(point.n_samples)),
            ("score", lambda point: phrases.score(point.mean)),
            ("interval", lambda point: phrases.interval(point.ci_low, point.ci_high)),
        )
        table = (Table(columns=cells),) if points else ()
        figure = Image(name="depth_profile", caption="Score by depth", draw=lambda: profile_figure(report, finding))
        drawn = (figure,) if len(points) > 1 else ()
        return (Pairs(rows=(("Pattern", position.reason),)), *drawn, *table)

    def tags(self, report: Report) -> Mapping[str, str]:
        pattern = self.of(report).position.pattern
        return {} if pattern is None else {"position_pattern": pattern}


_WIDTH, _HEIGHT = 7.0, 3.2
_LOW, _HIGH = -0.04, 1.04
"""Ends of the axis of depths: room for a whole marker at either end of the text."""


def profile_figure(report: Report, finding: PositionProfile) -> Figure:
    """Draw a profile of two depths or more: mean score over depth, with what the test found in the title."""
    points = sorted(finding.profile, key=lambda point: point.depth)
    figure, axes = drawing.blank(width=_WIDTH, height=_HEIGHT)
    depths = [point.depth for point in points]
    inches = [_WIDTH * (depth - _LOW) / (_HIGH - _LOW) for depth in depths]
    axes.set_xlim(_LOW, _HIGH)
    drawing.scores_on_y(axes)
    labels = [f"{depth:.3g}" for depth in depths]
    kept = drawing.legible(inches, gap=drawing.DIGIT * (max(map(len, labels)) + 1))
    axes.set_xticks(depths, labels=[text if i in kept else "" for i, text in enumerate(labels)], fontsize=drawing.SMALL)
    axes.set_xlabel("depth of the evidence (0: the start of the text, 1: its end)", fontsize=9, labelpad=6)
    lows, highs = [point.ci_low for point in points], [point.ci_high for point in points]
    drawing.interval_bars(axes, places=depths, lows=lows, highs=highs, label="interval")
    axes.plot(depths, [point.mean for point in points], "o-", color=drawing.BLUE, markersize=5, linewidth=1.6, zorder=4)
    counts = ("n", [point.n_samples for point in points], drawing.GREY)
    above = drawing.counts_above(axes, places=depths, inches=inches, rows=[counts])
    name, words = "Score by depth", f"Mean score over all lengths, with its {interval_words(report)}"
    position = finding.position
    if position.pattern is None:
        words += f"; no pattern was tested: {position.reason}"
    else:
        p = "" if position.p_value is None else f" ({phrases.p_value(position.p_value)})"
        name += f", {position.pattern.replace('_', ' ')}{p}"
    drawing.run_heading(axes, report.run, name, words, inches=_WIDTH, above=above + 4)
    return figure
