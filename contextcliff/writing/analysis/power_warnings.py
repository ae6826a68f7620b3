"""What the rounds of a run can't show, whatever the texts are: said before a reader takes silence for health."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from contextcliff.analysis.items import Item
from contextcliff.records.fact import Fact
from contextcliff.statistics.descriptive import counted
from contextcliff.statistics.ranks import holm, is_significant, least_p
from contextcliff.statistics.sample_size import fewest_for_significance
from contextcliff.writing.analysis.draws import DrawnTier
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.prose_findings import WritingTest

_OF_TEXT = tuple(measure.name for measure in MEASURES if measure.worse and measure.of_text)
"""What can get worse in a text: how much of it is missing is known of an empty answer too."""

Against = Literal["shortest", "author"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SameDraws(Fact):
    """Rounds of a length that are one draw, all of them (`every_round`) or some; `lengths` is empty for all lengths."""

    lengths: tuple[int, ...]
    every_round: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundsWithoutText(Fact):
    """So many answered rounds of a length gave no text to measure, by failure tag."""

    tokens: int
    rounds: int
    of_rounds: int
    tags: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class NothingInReach(Fact):
    """At these lengths (empty: at all) no measure can be shown to be degraded, however bad it is.

    `rounds` against `baseline` rounds or windows of the author's can reach `p` at best, and `p_holm` after Holm's
    correction over so many `tests`. From `enough` rounds on it can; None where no number of rounds would do.
    """

    lengths: tuple[int, ...]
    against: Against
    rounds: int
    baseline: int
    p: float
    p_holm: float
    tests: int
    enough: int | None


def power_warnings(tiers: Sequence[DrawnTier], tests: Sequence[WritingTest], *, confidence: float) -> tuple[Fact, ...]:
    """Each thing that the rounds can't show. `tests` are those of both families."""
    return (
        *_same_draws(tiers),
        *_without_text(tiers),
        *_out_of_reach(tests, "shortest", confidence),
        *_out_of_reach(tests, "author", confidence),
    )


def rounds_without_measures(tier: DrawnTier) -> int:
    """Rounds that were answered with nothing that can get worse: no text, or next to none."""
    return sum(len(draw.samples) for draw in tier.draws if _is_without_text(draw))


def _is_without_text(draw: Item) -> bool:
    return not any(name in draw.details for name in _OF_TEXT)


def _same_draws(tiers: Sequence[DrawnTier]) -> Iterator[SameDraws]:
    repeated = [tier for tier in tiers if len(tier.rounds) > len(tier.draws)]
    if repeated:
        yield SameDraws(
            lengths=() if len(repeated) == len(tiers) else tuple(tier.context_tokens for tier in repeated),
            every_round=all(len(tier.draws) == 1 for tier in repeated),
        )


def _without_text(tiers: Sequence[DrawnTier]) -> Iterator[RoundsWithoutText]:
    for tier in tiers:
        missing = rounds_without_measures(tier)
        if missing:
            tags = counted(
                scored.failure or "" for draw in tier.draws if _is_without_text(draw) for scored in draw.samples
            )
            yield RoundsWithoutText(
                tokens=tier.context_tokens,
                rounds=missing,
                of_rounds=len(tier.rounds),
                tags=tuple(tags.items()),
            )


def some_in_reach(tests: Sequence[WritingTest], *, confidence: float) -> bool:
    """Whether some of the tests of one family could be significant after Holm's correction, whatever was measured."""
    least = holm([least_p(test.n, test.n_baseline) for test in tests])
    return any(is_significant(p_holm, confidence) for p_holm in least)


def _out_of_reach(tests: Sequence[WritingTest], against: Against, confidence: float) -> Iterator[NothingInReach]:
    """The corrected least p-values are the best that Holm's correction can give to each test."""
    family = [test for test in tests if test.against == against]
    least = [least_p(test.n, test.n_baseline) for test in family]
    lengths: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    best: dict[int, tuple[float, float, WritingTest]] = {}
    for test, p, p_holm in zip(family, least, holm(least), strict=True):
        reached = (p_holm, p, test)
        best[test.context_tokens] = min(best.get(test.context_tokens, reached), reached, key=lambda one: one[:2])
    for tokens, (p_holm, _, test) in best.items():
        if not is_significant(p_holm, confidence):
            lengths[test.n, test.n_baseline].append(tokens)
    for (n, n_baseline), at in lengths.items():
        p = least_p(n, n_baseline)
        yield NothingInReach(
            lengths=() if len(at) == len(best) else tuple(at),
            against=against,
            rounds=n,
            baseline=n_baseline,
            p=p,
            p_holm=min(1.0, p * len(family)),
            tests=len(family),
            enough=fewest_for_significance(len(family), None if against == "shortest" else n_baseline, confidence),
        )
