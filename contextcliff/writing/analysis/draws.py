"""The rounds of one context length as draws: what is counted, averaged and tested.

At temperature 0, or where `sampling.seed` is set, all rounds of a length are one and the same text, or nearly so.
Rounds with the same `Sample.item` are one draw, and its measures are means over them: n counts draws.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from contextcliff.analysis.bins import mean_of
from contextcliff.analysis.items import by_item
from contextcliff.records.generation import ScoredSample


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """One text, or the mean over repeats of it. `details` are those of `Score.details` that are finite."""

    score: float
    details: Mapping[str, float]
    rounds: tuple[ScoredSample, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnTier:
    """One context length: its draws, and the rounds that were not answered."""

    context_tokens: int
    draws: tuple[Draw, ...]
    unscored: tuple[ScoredSample, ...] = ()

    @property
    def rounds(self) -> tuple[ScoredSample, ...]:
        return tuple(scored for draw in self.draws for scored in draw.rounds)

    @property
    def scores(self) -> tuple[float, ...]:
        """One for each draw, sorted."""
        return tuple(sorted(draw.score for draw in self.draws))

    def values(self, key: str) -> tuple[float, ...]:
        """A detail of every draw that has it, in the order of the draws."""
        return tuple(draw.details[key] for draw in self.draws if key in draw.details)

    def mean(self, key: str) -> float | None:
        """None where no draw has it."""
        found = self.values(key)
        return mean_of(found) if found else None


def drawn_tiers(scored: Iterable[ScoredSample]) -> tuple[DrawnTier, ...]:
    """The draws of every length, shortest first; the order of the samples does not matter."""
    by_length: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for item in sorted(scored, key=lambda s: (s.sample.trial, s.sample.sample_id)):
        by_length[item.sample.context_tokens].append(item)
    return tuple(
        DrawnTier(
            context_tokens=tokens,
            draws=tuple(map(_draw, by_item(s for s in by_length[tokens] if s.score is not None))),
            unscored=tuple(s for s in by_length[tokens] if s.score is None),
        )
        for tokens in sorted(by_length)
    )


def _draw(rounds: Sequence[ScoredSample]) -> Draw:
    values: defaultdict[str, list[float]] = defaultdict(list)
    for scored in rounds:
        for key, value in scored.details.items():
            if math.isfinite(value):
                values[key].append(value)
    return Draw(
        score=mean_of([scored.score for scored in rounds if scored.score is not None]),
        details={key: mean_of(found) for key, found in values.items()},
        rounds=tuple(rounds),
    )
