"""Whether the rounds of a continuation run are healthy, and which measures of the prose get worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.records.fact import Fact
from contextcliff.writing.analysis.draws import DrawnTier
from contextcliff.writing.analysis.power_warnings import rounds_without_measures
from contextcliff.writing.prose_findings import Health, WritingTest


@dataclass(frozen=True, kw_only=True, slots=True)
class NoRoundAnswered(Fact):
    """No round of any length was answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasureWorse:
    """A measure that is worse at a length: its corrected p-value and its effect."""

    measure: str
    p_holm: float
    effect: float


@dataclass(frozen=True, kw_only=True, slots=True)
class WithoutText:
    """The length with the largest share of rounds that gave no text to measure."""

    tokens: int
    rounds: int
    of_rounds: int


@dataclass(frozen=True, kw_only=True, slots=True)
class WorseThanAuthor:
    """At these lengths the writing is worse than the author's elsewhere, by these measures, the clearest first."""

    lengths: tuple[int, ...]
    measures: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class HealthVerdict:
    """How the walk over healthy rounds ended, and the rounds a length that would settle it (None: none would, or it is
    settled)."""

    health: Health
    settling_rounds: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class OneWritingLength(Fact):
    """Only one length was tested: nothing to compare with but the author's text."""

    health: HealthVerdict | None
    author: WorseThanAuthor | None


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingDegraded(Fact):
    """Some measure is worse than at the shortest length: `measures` are those of the shortest such length, the clearest
    first."""

    health: HealthVerdict | None
    lengths: tuple[int, ...]
    measures: tuple[MeasureWorse, ...]
    without_text: WithoutText | None
    author: WorseThanAuthor | None


@dataclass(frozen=True, kw_only=True, slots=True)
class NoDegradation(Fact):
    """No measure is shown to be worse than at the shortest length, and what that is worth.

    `compared`: some measure could be tested; `in_reach`: so many rounds could show it to be worse.
    """

    health: HealthVerdict | None
    compared: bool
    in_reach: bool
    without_text: WithoutText | None
    author: WorseThanAuthor | None


def verdict_of(
    tiers: Sequence[DrawnTier],
    tests: Sequence[WritingTest],
    by_author: Sequence[WritingTest] = (),
    *,
    health: Health | None,
    settling_rounds: int | None,
    in_reach: bool,
) -> Fact:
    """`tests` are those against the shortest length, `by_author` those against the author.

    `in_reach`: some test against the shortest length could be significant with so many rounds.
    """
    if not any(tier.draws for tier in tiers):
        return NoRoundAnswered()
    # A model that loops at every length is as bad at the longest as at the shortest.
    author = _worse_than_author([test for test in by_author if test.degraded])
    walked = None if health is None else HealthVerdict(health=health, settling_rounds=settling_rounds)
    if len(tiers) == 1:
        return OneWritingLength(health=walked, author=author)
    degraded = [test for test in tests if test.degraded]
    if not degraded:
        return NoDegradation(
            health=walked,
            compared=bool(tests),
            in_reach=in_reach,
            without_text=_without_text(tiers),
            author=author,
        )
    lengths = sorted({test.context_tokens for test in degraded})
    first = sorted((test for test in degraded if test.context_tokens == lengths[0]), key=_clearest)
    return WritingDegraded(
        health=walked,
        lengths=tuple(lengths),
        measures=tuple(MeasureWorse(measure=test.measure, p_holm=test.p_holm, effect=test.effect) for test in first),
        without_text=_without_text(tiers),
        author=author,
    )


def _worse_than_author(degraded: Sequence[WritingTest]) -> WorseThanAuthor | None:
    """All lengths, and the measures of any; None where nothing is worse."""
    if not degraded:
        return None
    return WorseThanAuthor(
        lengths=tuple(sorted({test.context_tokens for test in degraded})),
        measures=tuple(dict.fromkeys(test.measure for test in sorted(degraded, key=_clearest))),
    )


def _clearest(test: WritingTest) -> tuple[float, float]:
    return test.p_holm, -test.effect


def _without_text(tiers: Sequence[DrawnTier]) -> WithoutText | None:
    """The length with the largest share of rounds without text, where it is larger than the shortest's."""
    answered = [tier for tier in tiers if tier.rounds]
    if not answered:
        return None
    shares = [rounds_without_measures(tier) / len(tier.rounds) for tier in answered]
    worst = max(range(len(answered)), key=lambda place: shares[place])
    if shares[worst] <= shares[0]:
        return None
    tier = answered[worst]
    return WithoutText(tokens=tier.context_tokens, rounds=rounds_without_measures(tier), of_rounds=len(tier.rounds))
