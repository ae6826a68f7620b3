"""`task.longest_pairs`: more samples at the longest length that the baseline can do, for a comparison there.

A mean over lengths hides a fall at the longest one, and a search asks too few there to show by themselves that there is
none. The baseline asks all of them when its search has ended. A run that stays paired with it (`task.like`) asks them
in their order until the pairs say whether it is worse there. No decision and no figure of either run rests on them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from contextcliff.actions.action import Invocation
from contextcliff.actions.like import Baseline
from contextcliff.actions.prepare import Prepared
from contextcliff.analysis.paired import is_settled, longest_done
from contextcliff.analysis.search import Path, StepScores
from contextcliff.records.comparison import ScoredPair
from contextcliff.records.search_record import Key
from contextcliff.statistics.descriptive import mean_of_known


@dataclass(frozen=True, kw_only=True, slots=True)
class PairsAtLongest:
    """What is asked of which step, a list at a time."""

    most: int
    """Steps at the longest length."""
    at_once: int
    confidence: float
    replayed: tuple[Key, ...] = ()
    """Steps of the baseline at other lengths."""
    tokens: int | None = None
    """The longest length; None where this run is the baseline."""
    there: Mapping[int, float | None] | None = None
    """The baseline's score by step; None where this run is the baseline."""

    @classmethod
    def of(cls, invocation: Invocation, prepared: Prepared, baseline: Baseline | None) -> Self:
        most, at_once = invocation.task.longest_steps, invocation.engine.concurrency
        confidence = invocation.analysis.confidence
        if baseline is None or prepared.search is None:
            return cls(most=most, at_once=at_once, confidence=confidence)
        paired = Counter(each.context_tokens for each in baseline.asked if each.replayed)
        tokens = paired.most_common(1)[0][0] if paired else 0
        scores = defaultdict[int, list[float | None]](list)
        for each in baseline.asked:
            if each.context_tokens == tokens and each.step is not None:
                scores[each.step].append(each.score)
        return cls(
            most=most, at_once=at_once, confidence=confidence, tokens=tokens,
            replayed=tuple(key for key in prepared.search.replayed if key[0] != tokens),
            there={step: mean_of_known(each) for step, each in scores.items()},
        )  # fmt: skip

    def next(self, path: Path, complete: Mapping[Key, StepScores]) -> Sequence[Key]:
        """The steps to ask now."""
        if self.there is None or self.tokens is None:
            tokens = path.cap_tokens or longest_done((tokens, step.score) for (tokens, _), step in complete.items())
            keys = [] if tokens is None else [(tokens, number) for number in range(self.most)]
            return [key for key in keys if key not in complete]
        keys = [(self.tokens, number) for number in range(self.most) if number in self.there]
        done = [key for key in keys if key in complete]
        steps = [
            [
                ScoredPair(
                    sample_id=str(number),
                    context_tokens=tokens,
                    baseline=self.there[number],
                    candidate=complete[tokens, number].score,
                )
            ]
            for tokens, number in done
        ]
        if is_settled(steps, confidence=self.confidence):
            return ()
        return [key for key in keys if key not in complete][: self.at_once]
