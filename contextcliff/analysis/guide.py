"""An operating guide: which of the tested lengths can be used as they are, and what to do about the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contextcliff.analysis.half_life import HalfLife
from contextcliff.analysis.length_result import LengthResult
from contextcliff.records.fact import Fact


@dataclass(frozen=True, kw_only=True, slots=True)
class GuideRow:
    """What to do at one length: `safe` (score over 0.9), `caution` (0.5 to 0.9) or `danger` (under 0.5).

    `sure` is whether the whole interval lies in that range.
    """

    asked_tokens: int
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float
    level: str
    sure: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Guide:
    """An operating guide: a row a length, and advice on ranges of them."""

    rows: tuple[GuideRow, ...]
    advice: tuple[Fact, ...]


SAFE_ABOVE = 0.9
DANGER_BELOW = 0.5
RETRIEVE_BELOW = 4_000
"""Half-life in tokens under which the text should not be given whole."""
ROTATE_BELOW = 2_000
"""Half-life in tokens under which not even a few passages belong in one prompt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RangeAdvice(Fact):
    """Neighbouring lengths of one `level` (`safe`, `caution` or `danger`), from the shortest to the longest.

    Lengths are median measured prompts, `means` the lowest and highest mean score; at the lengths in `unsure` the
    interval reaches into another level.
    """

    level: str
    lengths: tuple[int, ...]
    means: tuple[float, float]
    n_samples: int
    unsure: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrieve(Fact):
    """The half-life is so short that longer texts are better retrieved from or given in chunks."""

    half_life_tokens: int
    beyond_longest: bool
    below: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Rotate(Fact):
    """The half-life is so short that each paragraph is better analysed by itself."""

    half_life_tokens: int
    beyond_longest: bool
    below: int


def operating_guide(results: Sequence[LengthResult], half_life: HalfLife) -> Guide:
    """A row for each length with scores, and advice for the ranges that were tested.

    `safe` is a mean score above 0.9, `danger` one below 0.5, `caution` what is between, both ends included. These are
    rules of thumb about means: the safe cap is the claim that was tested. Nothing is said of lengths between two
    tested ones of different advice, nor beyond the longest.
    """
    rated = [(result, row) for result in results if (row := _row(result)) is not None]
    return Guide(
        rows=tuple(row for _, row in rated),
        advice=(*_by_range(rated), *_by_half_life(half_life)),
    )


def _row(result: LengthResult) -> GuideRow | None:
    length = result.bin
    if length.mean is None or length.ci_low is None or length.ci_high is None:
        return None
    level = _rate(length.mean)
    return GuideRow(
        asked_tokens=length.asked_tokens,
        n_samples=length.n_samples,
        mean=length.mean,
        ci_low=length.ci_low,
        ci_high=length.ci_high,
        level=level,
        sure=_rate(length.ci_low) == level == _rate(length.ci_high),
    )


def _rate(score: float) -> str:
    if score > SAFE_ABOVE:
        return "safe"
    return "danger" if score < DANGER_BELOW else "caution"


def _by_range(rated: Sequence[tuple[LengthResult, GuideRow]]) -> Iterator[RangeAdvice]:
    """One for each run of neighbouring lengths with the same level."""
    for level, run in itertools.groupby(rated, key=lambda pair: pair[1].level):
        pairs = list(run)
        means = [row.mean for _, row in pairs]
        yield RangeAdvice(
            level=level,
            lengths=tuple(result.bin.median_tokens for result, _ in pairs),
            means=(min(means), max(means)),
            n_samples=sum(row.n_samples for _, row in pairs),
            unsure=tuple(result.bin.median_tokens for result, row in pairs if not row.sure),
        )


def _by_half_life(half_life: HalfLife) -> Iterator[Fact]:
    tokens, beyond = half_life.tokens, half_life.censored
    if tokens is not None and tokens < RETRIEVE_BELOW:
        yield Retrieve(half_life_tokens=tokens, beyond_longest=beyond, below=RETRIEVE_BELOW)
    if tokens is not None and tokens < ROTATE_BELOW:
        yield Rotate(half_life_tokens=tokens, beyond_longest=beyond, below=ROTATE_BELOW)
