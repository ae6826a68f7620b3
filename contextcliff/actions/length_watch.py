"""The lengths of a fixed design while it is sent: each is summed up as soon as its last answer is there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from contextcliff.execution.scoring import Scorer
from contextcliff.execution.store import PlannedSample
from contextcliff.records.generation import Outcome
from contextcliff.records.sample import Sample
from contextcliff.tasks.task import Task
from contextcliff.tracking.tracker import LengthPoint


@dataclass(kw_only=True, slots=True)
class LengthWatch:
    """Counts the outcomes of each length, and scores them when the last one is there."""

    task: Task
    scorer: Scorer
    tell: Callable[[LengthPoint], None]
    """Hears the mean score of each length that the task designs."""
    _left: Counter[int]
    """Samples without an outcome, by length or, where documents have their own, by bin."""
    _ended: defaultdict[int, list[Outcome]]

    @classmethod
    def of(
        cls,
        task: Task,
        scorer: Scorer,
        *,
        missing: Sequence[PlannedSample],
        answered: Iterable[Outcome],
        tell: Callable[[LengthPoint], None],
    ) -> LengthWatch:
        """A watch over `missing`; what was `answered` before counts in the means of its length."""
        ended: defaultdict[int, list[Outcome]] = defaultdict(list)
        for outcome in answered:
            if outcome.sample.is_ordinary:
                ended[_place(outcome.sample)].append(outcome)
        left = Counter(_place(item.sample) for item in missing if item.sample.is_ordinary)
        return cls(task=task, scorer=scorer, tell=tell, _left=left, _ended=ended)

    def ended(self, outcome: Outcome) -> str | None:
        """One more sample has its answer, or has failed for good. Returns the averages of a length that is complete."""
        place = _place(outcome.sample)
        if not outcome.sample.is_ordinary or place not in self._left:
            return None
        self._ended[place].append(outcome)
        self._left[place] -= 1
        if self._left[place]:
            return None
        scored = [self.scorer.score(each) for each in self._ended.pop(place)]
        scores = [each.score for each in scored if each.score is not None]
        if not scores:
            return None
        mean = fmean(scores)
        if outcome.sample.bin is None:
            self.tell(LengthPoint(context_tokens=place, score=mean, n_samples=len(scores)))
        name = f"{place:,} tokens" if outcome.sample.bin is None else f"bin {place + 1}"
        n = f"{len(scores):,} sample{'' if len(scores) == 1 else 's'}"
        figures = self.task.answer_figures(_means(each.details for each in scored if each.score is not None))
        return " · ".join((f"{name}: mean score {mean:.2f}, {n}", *figures))


def _place(sample: Sample) -> int:
    return sample.context_tokens if sample.bin is None else sample.bin


def _means(details: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Of each detail over the answers that have it."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for each in details:
        for name, value in each.items():
            values[name].append(value)
    return {name: fmean(found) for name, found in values.items()}
