"""An operating guide: which of the tested lengths can be used as they are, and what to do about the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contextcliff.analysis.bins import LengthResult
from contextcliff.analysis.half_life import HalfLife


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
    """An operating guide: a row a length, and advice in sentences."""

    rows: tuple[GuideRow, ...]
    advice: tuple[str, ...]


SAFE_ABOVE = 0.9
DANGER_BELOW = 0.5
RETRIEVE_BELOW = 4_000
"""Half-life in tokens under which the text should not be given whole."""
ROTATE_BELOW = 2_000
"""Half-life in tokens under which not even a few passages belong in one prompt."""

_DO = {
    "safe": "use the text as it is",
    "caution": "repeat or compress the key facts",
    "danger": "use retrieval, a summary or chunking instead of the whole text",
}


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
    found = result.bin
    if found.mean is None or found.ci_low is None or found.ci_high is None:
        return None
    name = _rate(found.mean)
    return GuideRow(
        asked_tokens=found.asked_tokens,
        n_samples=found.n_samples,
        mean=found.mean,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        level=name,
        sure=_rate(found.ci_low) == name == _rate(found.ci_high),
    )


def _rate(score: float) -> str:
    if score > SAFE_ABOVE:
        return "safe"
    return "danger" if score < DANGER_BELOW else "caution"


def _by_range(rated: Sequence[tuple[LengthResult, GuideRow]]) -> Iterator[str]:
    """A sentence for each run of neighbouring lengths with the same advice."""
    for name, run in itertools.groupby(rated, key=lambda pair: pair[1].level):
        pairs = list(run)
        n = sum(row.n_samples for _, row in pairs)
        unsure = [_tokens(result) for result, row in pairs if not row.sure]
        doubt = f"; at {_listed(unsure)} the interval reaches into another range" if unsure else ""
        yield (
            f"{name} {_range([result for result, _ in pairs])} (mean score {_means(pairs)}, n = {n:,}): "
            f"{_DO[name]}{doubt}"
        )


def _by_half_life(half_life: HalfLife) -> Iterator[str]:
    if half_life.tokens is None or half_life.tokens >= RETRIEVE_BELOW:
        return
    estimate = f"the fitted half-life is {half_life.tokens:,} tokens"
    if half_life.censored:
        estimate += ", beyond the longest test"
    yield f"{estimate}, under {RETRIEVE_BELOW:,}: retrieval or chunking is advised for anything longer"
    if half_life.tokens < ROTATE_BELOW:
        yield (
            f"{estimate}, under {ROTATE_BELOW:,}: rotate the context (split it into short paragraphs, analyse each "
            "by itself, merge the results)"
        )


def _range(results: Sequence[LengthResult]) -> str:
    if len(results) == 1:
        return f"at {_tokens(results[0])} tokens"
    return f"from {_tokens(results[0])} to {_tokens(results[-1])} tokens"


def _means(pairs: Sequence[tuple[LengthResult, GuideRow]]) -> str:
    low, high = min(row.mean for _, row in pairs), max(row.mean for _, row in pairs)
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f}–{high:.2f}"


def _tokens(result: LengthResult) -> str:
    return f"{result.bin.median_tokens:,}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
