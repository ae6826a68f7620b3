"""Several tasks of a sweep as one benchmark: the mean over the tasks at each length that all of them were asked.

After RULER (C.-P. Hsieh et al., arXiv 2404.06654), which averages thirteen tasks and calls the longest length whose
average exceeds 85.6% effective. Beside it stands a cap: the last length, from the shortest up, at which the lower end
of the mean's interval is above the threshold. The tasks are fixed, their samples independent. So the end is above a
true mean in about 5% of runs at most (at 95%; 6% at the worst that was simulated), whatever the tasks' scores. The
first length that is not shown ends the walk, so that no correction is needed for several lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from contextcliff.records.analysis import cap_in_short
from contextcliff.records.sample import same_length
from contextcliff.records.sweep import CurvePoint, SweepRow
from contextcliff.statistics.descriptive import leading_above
from contextcliff.statistics.intervals import mean_of_parts

RULER_THRESHOLD = 0.856
"""What Llama2-7B scores at 4K on RULER's 13 tasks (section 4 of the paper)."""
_FEWEST = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanPoint:
    """The mean over all tasks at one length, in tokens as asked."""

    asked_tokens: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskMeans:
    """The tasks of one model under one KV policy, as one benchmark."""

    model: str
    kv_policy: str
    options: Mapping[str, str]
    """What else tells it apart in its sweep."""
    tasks: tuple[str, ...]
    """Those that the mean is over."""
    lacking: tuple[str, ...]
    """Tasks of the sweep that have no scores here: failed, or without designed lengths."""
    points: tuple[MeanPoint, ...]
    """Lengths that all tasks have, ascending."""
    incomplete: Mapping[int, int]
    """Lengths that only some have, and how many."""
    confidence: float | None
    """Of the intervals; None: they differ, or an earlier version kept none."""
    threshold: float
    """The threshold of every task, as a score, where they share one; else RULER's."""
    effective_tokens: int | None
    """The last length before the first whose mean does not exceed RULER's 0.856."""
    cap_tokens: int | None
    """The last length before the first whose interval is not above `threshold`."""

    @property
    def censored(self) -> bool:
        """Whether every length is shown to be above."""
        return self.cap_tokens is not None and self.cap_tokens == self.points[-1].asked_tokens

    @property
    def in_short(self) -> str:
        """The cap in words; without one, whether the interval of the shortest length is below the threshold."""
        below = self.points[0].high < self.threshold
        return cap_in_short(self.cap_tokens, "below" if below else "undecided", at_least=self.censored)


def task_means(rows: Sequence[SweepRow]) -> tuple[TaskMeans, ...]:
    """One for each model, policy and whatever else was swept, where at least two tasks share a length."""
    groups: dict[tuple[object, ...], list[SweepRow]] = {}
    for row in rows:
        if row.state != "running":
            key = (row.model, row.kv_policy, tuple(sorted(row.differing.items())))
            groups.setdefault(key, []).append(row)
    every = tuple(dict.fromkeys(row.task for row in rows))
    return tuple(found for group in groups.values() if (found := _of(group, every)) is not None)


def _of(group: Sequence[SweepRow], every: Sequence[str]) -> TaskMeans | None:
    by_task = {row.task: row for row in group if _asked(row)}
    if len(by_task) < _FEWEST:
        return None
    columns = _columns(by_task)
    is_searched = any(row.searched for row in by_task.values())
    points = tuple(
        _point(tokens, column, is_searched=is_searched)
        for tokens, column in columns.items()
        if len(column) == len(by_task)
    )
    if not points:
        return None
    thresholds = {row.threshold_score for row in by_task.values()}
    shared = next(iter(thresholds)) if len(thresholds) == 1 else None
    threshold = RULER_THRESHOLD if shared is None else shared
    confidences = {row.confidence for row in by_task.values()}
    return TaskMeans(
        model=group[0].model, kv_policy=group[0].kv_policy, options=dict(group[0].differing), tasks=tuple(by_task),
        lacking=tuple(task for task in every if task not in by_task), points=points,
        incomplete={tokens: len(column) for tokens, column in columns.items() if len(column) < len(by_task)},
        confidence=next(iter(confidences)) if len(confidences) == 1 else None, threshold=threshold,
        effective_tokens=_last(points, leading_above((point.mean for point in points), RULER_THRESHOLD)),
        cap_tokens=_last(points, leading_above((point.low for point in points), threshold)),
    )  # fmt: skip


def _asked(row: SweepRow) -> tuple[CurvePoint, ...]:
    if row.quantity != "score" or row.threshold_score is None:
        return ()
    return tuple(point for point in row.curve if point.asked_tokens)


def _columns(by_task: Mapping[str, SweepRow]) -> dict[int, dict[str, CurvePoint]]:
    """The tasks' points by length, ascending. The answer shortens a window's own length, and tasks differ in it."""
    lengths = sorted({point.asked_tokens for row in by_task.values() for point in _asked(row)}, reverse=True)
    heads: list[int] = []
    for tokens in lengths:
        if not heads or not same_length(tokens, heads[-1]):
            heads.append(tokens)
    columns: dict[int, dict[str, CurvePoint]] = {tokens: {} for tokens in reversed(heads)}
    for task, row in by_task.items():
        for point in sorted(_asked(row), key=lambda point: point.asked_tokens):
            head = next(
                tokens for tokens in heads if same_length(point.asked_tokens, tokens) and point.asked_tokens <= tokens
            )
            columns[head][task] = point
    return columns


def _point(tokens: int, column: Mapping[str, CurvePoint], *, is_searched: bool) -> MeanPoint:
    """The mean of tasks at a length. A search stops where scores look good, or bad: such errors lean to one side and
    add up, so that the ends are the means of the tasks' own ends."""
    parts = [(point.mean, point.low, point.high) for point in column.values()]
    mean, low, high = map(fmean, zip(*parts, strict=True)) if is_searched else mean_of_parts(parts)
    return MeanPoint(asked_tokens=tokens, mean=mean, low=low, high=high)


def _last(points: Sequence[MeanPoint], above: int) -> int | None:
    return points[above - 1].asked_tokens if above else None
