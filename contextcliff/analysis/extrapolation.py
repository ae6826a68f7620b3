"""Where extrapolation begins to fail: the scores within the positions that a model was trained on, and beyond them.

The position of a token is its place in the prompt, so that a prompt longer than the trained positions has some that the
model never saw. A scaling of rotary positions (`model.rope`) maps them into the trained range. What each length shows
is what the walk of the safe cap decided of it, from the shortest length up and from the longest one down; nothing is
tested anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from contextcliff.analysis.bins import Group
from contextcliff.analysis.fixed_sequence import FixedSequenceTest
from contextcliff.analysis.items import pooled_evidence
from contextcliff.analysis.study import Study
from contextcliff.records.analysis import Bin
from contextcliff.records.fact import Fact
from contextcliff.records.positions import Positions
from contextcliff.statistics.descriptive import mean_of

Place = Literal["within", "across", "beyond"]
Shown = Literal["cleared", "below", "open"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtrapolatedLength:
    """A tested length: where it lies, and what the walk of the safe cap shows of it."""

    asked_tokens: int
    median_tokens: int
    place: Place
    """`within` the trained positions or `beyond` them with every prompt, or `across` their end."""
    n_samples: int
    """Scored ones."""
    mean: float | None
    shown: Shown
    """It `cleared` the threshold, is `below` it, or neither is shown."""
    reaches_tokens: int
    """The prompt that this is said of: the longest that cleared; where it is below, the shortest that is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PooledScore:
    """The mean score of several lengths together; the interval is at the confidence of the analysis."""

    n_lengths: int
    n_samples: int
    """Scored questions or draws; the repeats of one count once."""
    mean: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class FailsBeyond(Fact):
    """Extrapolation begins to fail: the shortest length shown to be below the threshold, beyond the trained positions.

    `times` is that length over the trained positions, `cleared_tokens` the longest that clears, None where none does.
    """

    tokens: int
    times: float
    cleared_tokens: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FailsWithin(Fact):
    """From this length on, within the trained positions, every one is shown to be below the threshold."""

    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ClearsBeyond(Fact):
    """No length is shown to be below; beyond the trained positions they clear up to `tokens`, `times` as many.

    `n_open` longer lengths show neither.
    """

    tokens: int
    times: float
    n_open: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NeitherBeyond(Fact):
    """The tests are too few to say: of the lengths beyond the trained positions none clears, and none is below."""

    n_lengths: int
    n_samples: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NothingBeyond(Fact):
    """Positions are scaled, and no length beyond the trained ones was tested."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Extrapolation:
    """The trained positions, the scores within and beyond them, and where extrapolation begins to fail."""

    trained_tokens: int
    positions: Positions
    longest_tokens: int
    """The longest prompt."""
    within: PooledScore | None
    """None where no such length has scores."""
    beyond: PooledScore | None
    fails_at_tokens: int | None
    """Where it begins to fail beyond the trained positions; None where that is not shown."""
    cleared_beyond_tokens: int | None
    """The longest prompt beyond them that is shown to clear the threshold."""
    reason: Fact
    lengths: tuple[ExtrapolatedLength, ...]


def extrapolation(study: Study) -> Extrapolation | None:
    """None where the trained positions are not known, and where nothing reaches beyond them and they are not scaled."""
    positions, sequence = study.facts.positions, study.sequence
    if positions is None or positions.trained_tokens is None or sequence is None:
        return None
    trained = positions.trained_tokens
    longest = max(each.max_tokens for each in study.bins)
    if longest <= trained and not positions.is_extended:
        return None
    lengths = tuple(_lengths(study, sequence, trained))
    reason = _reason(lengths, trained)
    return Extrapolation(
        trained_tokens=trained,
        positions=positions,
        longest_tokens=longest,
        within=_pooled(study, lengths, "within"),
        beyond=_pooled(study, lengths, "beyond"),
        fails_at_tokens=reason.tokens if isinstance(reason, FailsBeyond) else None,
        cleared_beyond_tokens=max((each.reaches_tokens for each in _cleared_beyond(lengths)), default=None),
        reason=reason,
        lengths=lengths,
    )


def _lengths(study: Study, sequence: FixedSequenceTest, trained: int) -> Iterator[ExtrapolatedLength]:
    cleared = 0 if sequence.is_withheld else sequence.cleared
    for number, (result, scored) in enumerate(zip(sequence.results, study.results, strict=True)):
        place = _place(result.bin, trained)
        shown: Shown = "cleared" if number < cleared else "below" if number in sequence.degraded else "open"
        yield ExtrapolatedLength(
            asked_tokens=result.bin.asked_tokens,
            median_tokens=result.bin.median_tokens,
            place=place,
            n_samples=len(scored.scores),
            mean=scored.bin.mean,
            shown=shown,
            reaches_tokens=_reaches(result.bin, place, shown),
        )


def _place(length: Bin, trained: int) -> Place:
    if length.max_tokens <= trained:
        return "within"
    return "beyond" if length.min_tokens > trained else "across"


def _reaches(length: Bin, place: Place, shown: Shown) -> int:
    if shown == "cleared":
        return length.clears_up_to
    # Of a length across the end only the longest prompt is beyond for certain.
    return length.max_tokens if place == "across" else length.below_from


def _cleared_beyond(lengths: Sequence[ExtrapolatedLength]) -> list[ExtrapolatedLength]:
    return [each for each in lengths if each.place == "beyond" and each.shown == "cleared"]


def _reason(lengths: Sequence[ExtrapolatedLength], trained: int) -> Fact:
    below = next((each for each in lengths if each.shown == "below"), None)
    if below is not None and below.place == "within":
        return FailsWithin(tokens=below.reaches_tokens)
    if below is not None:
        cleared = [each.reaches_tokens for each in lengths if each.shown == "cleared"]
        return FailsBeyond(
            tokens=below.reaches_tokens,
            times=below.reaches_tokens / trained,
            cleared_tokens=max(cleared, default=None),
        )
    beyond, clearing = [each for each in lengths if each.place == "beyond"], _cleared_beyond(lengths)
    if clearing:
        tokens = max(each.reaches_tokens for each in clearing)
        return ClearsBeyond(tokens=tokens, times=tokens / trained, n_open=len(beyond) - len(clearing))
    if beyond:
        return NeitherBeyond(n_lengths=len(beyond), n_samples=sum(each.n_samples for each in beyond))
    return NothingBeyond()


def _pooled(study: Study, lengths: Sequence[ExtrapolatedLength], place: Place) -> PooledScore | None:
    own: list[Group] = [group for group, each in zip(study.groups, lengths, strict=True) if each.place == place]
    evidence = pooled_evidence([group.samples for group in own], binary=study.binary)
    if evidence is None:
        return None
    low, high = evidence.shown(study.confidence)
    return PooledScore(
        n_lengths=len(own),
        n_samples=len(evidence.scores),
        mean=mean_of(evidence.scores),
        ci_low=low,
        ci_high=high,
    )
