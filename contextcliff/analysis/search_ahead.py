"""What a search is likely to want next: the blocks to ask where requests could go out before it has decided.

The search is followed on through guesses. At each undecided length it may pass or not, each with a chance by what is
answered of it; the blocks of the likeliest courses come first. Guesses never enter a decision.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from contextcliff.analysis.search import BlockKey, BlockScores, SearchRule, Walker, even_block
from contextcliff.records.search_record import SearchPlan, TestedLength

_GOES_ON = 20.0
"""Odds that a length of the walk passes of which nothing is answered: the one before it has."""
_HALFWAY = 1.0
"""The same of a length that halves the distance between one that passed and one that did not."""
_SUREST = 5.0
"""Largest log odds."""
_LIKELY = 0.3
"""A course less likely than this is not asked ahead: what it asks in vain holds up what is needed, and costs."""
_BEST = 0.98
"""Largest guessed score."""
_BEFORE = 10
"""Samples that the score of the length before stands for."""
_NEAR = 0.01
"""Smallest distance of a guessed score from the threshold."""
_FAILING = 0.8
"""Score of a length that does not pass, as a share of the threshold."""


def blocks_ahead(
    plan: SearchPlan, rule: SearchRule, blocks: Mapping[BlockKey, BlockScores], *, most: int
) -> tuple[BlockKey, ...]:
    """The blocks, at most `most`, that the search wants now, and those that it is likely to want next."""
    ahead: dict[BlockKey, None] = {}
    decided: dict[tuple[int, int], TestedLength] = {}
    cut: set[int] = set()
    number = count()
    courses: list[tuple[float, int, dict[int, float]]] = [(-1.0, next(number), {})]
    while courses and len(ahead) < most and -courses[0][0] >= _LIKELY:
        minus_chance, _, guesses = heappop(courses)
        walker = _GuessingWalker(plan=plan, rule=rule, blocks=blocks, guesses=guesses, decided=decided, cut=cut)
        *_, (tested, wanted) = walker.walk()
        ahead |= dict.fromkeys((*walker.guessed, *wanted))
        if wanted:
            length = tested.context_tokens
            course = _Undecided.of(length, plan, rule, blocks, refined=tested.refined)
            heappush(courses, (minus_chance * course.chance, next(number), guesses | {length: course.passing}))
            heappush(courses, (minus_chance * (1.0 - course.chance), next(number), guesses | {length: course.failing}))
    return tuple(ahead)[:most]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Undecided:
    """How an undecided length may turn out."""

    chance: float
    """That it passes."""
    passing: float
    """Mean score where it passes."""
    failing: float

    @classmethod
    def of(
        cls, length: int, plan: SearchPlan, rule: SearchRule, blocks: Mapping[BlockKey, BlockScores], *, refined: bool
    ) -> _Undecided:
        """By the answers at this length, or at the longest shorter one where it has none."""
        bar = rule.threshold
        if rule.relative:
            bar *= _mean(_scores(plan.lengths[0], blocks)) or 1.0
        shorter = max((key.context_tokens for key in blocks if key.context_tokens < length), default=0)
        before, scores = _scores(shorter, blocks), _scores(length, blocks)
        passing = min(_BEST, max(_mean(before) if before else _BEST, (1.0 + bar) / 2.0))
        failing = _FAILING * bar
        log_odds = math.log(_HALFWAY if refined else _GOES_ON) + math.fsum(
            score * math.log(passing / failing) + (1.0 - score) * math.log((1.0 - passing) / (1.0 - failing))
            for score in scores
        )
        return cls(
            chance=1.0 / (1.0 + math.exp(-max(-_SUREST, min(_SUREST, log_odds)))),
            # One miss in a first block says little: the lengths before count as well.
            passing=min(_BEST, max(_mean((*scores, *(passing,) * _BEFORE)), bar + _NEAR)),
            failing=min(_mean(scores), bar - _NEAR) if scores else 0.0,
        )


def _scores(length: int, blocks: Mapping[BlockKey, BlockScores]) -> list[float]:
    return [score or 0.0 for key, block in blocks.items() if key.context_tokens == length for score in block.scores]


def _mean(scores: Sequence[float]) -> float:
    return math.fsum(scores) / len(scores) if scores else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _GuessingWalker(Walker):
    """Goes on behind the answered blocks of the lengths that it has guesses for."""

    guesses: Mapping[int, float]
    """By length, the score of every sample that is not answered."""
    decided: dict[tuple[int, int], TestedLength]
    """Lengths that need no guess, by length and failures: what they need is not worked out again."""
    guessed: dict[BlockKey, None] = field(default_factory=dict)
    """The blocks that this course comes to behind the answered ones."""

    def test(
        self, length: int, before: Iterable[TestedLength], *, failures: int
    ) -> tuple[TestedLength, tuple[BlockKey, ...]]:
        known = None if self.guessed else self.decided.get((length, failures))
        if known is not None:
            return known, ()
        tested, wanted = Walker.test(
            self, length, before, failures=failures
        )  # super() does not work in a class with slots
        if not wanted and not self.guessed:
            self.decided[length, failures] = tested
        return tested, wanted

    def lacking(self, needed: Sequence[BlockKey]) -> tuple[BlockKey, ...]:
        missing = Walker.lacking(self, needed)
        if missing and needed[-1].context_tokens not in self.guesses:
            return missing
        if missing or self.guessed:
            self.guessed.update(dict.fromkeys((*missing, needed[-1])))
        return ()

    def answered(self, key: BlockKey) -> BlockScores:
        if key in self.blocks:
            return self.blocks[key]
        return even_block(self.plan, self.guesses.get(key.context_tokens, 1.0))
