"""An operating guide: which of the tested lengths can be used as they are, and what to do about the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from contextcliff.analysis.fixed_sequence import FixedSequenceTest
from contextcliff.analysis.length_result import LengthResult
from contextcliff.records.fact import Fact

if TYPE_CHECKING:
    from contextcliff.findings.half_life import HalfLife

LevelName = Literal["safe", "caution", "danger"]


@dataclass(frozen=True, kw_only=True, slots=True)
class GuideRow:
    """What to do at one length: `safe`, `caution` or `danger`.

    `sure` is whether the tests of the safe cap show it: that the length clears the threshold where it is `safe`, that
    it is below the threshold elsewhere.
    """

    asked_tokens: int
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float
    level: LevelName
    sure: bool
    max_tokens: int | None = None
    """The prompt that the level is said of: the longest, of natural lengths the shortest where it is cleared and else
    the median; None in older reports."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Guide:
    """An operating guide: a row a length, and advice on ranges of them."""

    rows: tuple[GuideRow, ...]
    advice: tuple[Fact, ...]


DANGER_BELOW = 0.5
RETRIEVE_BELOW = 4_000
"""Half-life in tokens under which the text should not be given whole."""
ROTATE_BELOW = 2_000
"""Half-life in tokens under which not even a few passages belong in one prompt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RangeAdvice(Fact):
    """Neighbouring lengths of one `level` (`safe`, `caution` or `danger`), from the shortest to the longest.

    Lengths are longest measured prompts, as the cap is, `means` the lowest and highest mean score. What is said of the
    lengths in `unsure` is not shown by the tests of the cap.
    """

    level: LevelName
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


def operating_guide(sequence: FixedSequenceTest, half_life: HalfLife) -> Guide:
    """A row for each length with scores, and advice for the ranges that were tested.

    Up to the safe cap a length is `safe`, and none beyond it is: there `danger` is a mean score below 0.5, a rule of
    thumb, and `caution` any other. Nothing is said of lengths between two tested ones of different advice, nor beyond
    the longest.
    """
    cleared = 0 if sequence.is_withheld else sequence.cleared
    rated = [
        row
        for place, result in enumerate(sequence.results)
        if (row := _row(result, is_cleared=place < cleared, is_degraded=place in sequence.degraded)) is not None
    ]
    return Guide(rows=tuple(rated), advice=(*_by_range(rated), *_by_half_life(half_life)))


def _row(result: LengthResult, *, is_cleared: bool, is_degraded: bool) -> GuideRow | None:
    length = result.bin
    if length.mean is None or length.ci_low is None or length.ci_high is None:
        return None
    beyond: LevelName = "danger" if length.mean < DANGER_BELOW else "caution"
    return GuideRow(
        asked_tokens=length.asked_tokens,
        n_samples=length.n_samples,
        mean=length.mean,
        ci_low=length.ci_low,
        ci_high=length.ci_high,
        level="safe" if is_cleared else beyond,
        sure=is_cleared or is_degraded,
        max_tokens=length.clears_up_to if is_cleared or not length.natural_lengths else length.median_tokens,
    )


def _by_range(rated: Sequence[GuideRow]) -> Iterator[RangeAdvice]:
    """One for each run of neighbouring lengths with the same level."""
    for level, run in itertools.groupby(rated, key=lambda row: row.level):
        rows = list(run)
        means = [row.mean for row in rows]
        yield RangeAdvice(
            level=level,
            lengths=tuple(map(tokens_of, rows)),
            means=(min(means), max(means)),
            n_samples=sum(row.n_samples for row in rows),
            unsure=tuple(tokens_of(row) for row in rows if not row.sure),
        )


def tokens_of(row: GuideRow) -> int:
    """The longest prompt of a row's length."""
    return row.asked_tokens if row.max_tokens is None else row.max_tokens


def _by_half_life(half_life: HalfLife) -> Iterator[Fact]:
    tokens, beyond = half_life.tokens, half_life.censored
    if tokens is not None and tokens < RETRIEVE_BELOW:
        yield Retrieve(half_life_tokens=tokens, beyond_longest=beyond, below=RETRIEVE_BELOW)
    if tokens is not None and tokens < ROTATE_BELOW:
        yield Rotate(half_life_tokens=tokens, beyond_longest=beyond, below=ROTATE_BELOW)
