"""Blocks of scores as gains of the two bets of a sequential test: that the mean is above its bar, and below it.

A gain is what a bet wins per unit staked, at least −1, and at most 0 on average where the bet is wrong. A sample
without a score (None) counts for neither side: as 0 in the bet on "above" and as 1 in that on "below". Whatever made it
fail, and however that depends on what the score would have been, no e-value is then larger than with the score.
So a later run that obtains the score may put it in its place, and all looks together still err as seldom as stated.

A block is whole: its samples are planned beforehand and cover each depth equally often.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Score = float | None
"""In [0, 1], or None for a sample that has no score."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Gains per unit staked of the independent units of a block: samples, texts or pairs."""

    above: tuple[float, ...]
    below: tuple[float, ...]
    hoped: tuple[float, ...]
    """Gains of the bet on "above" if every sample without a score had the best one."""
    samples: int
    """Samples at this length, those without a score among them. Baseline samples do not count."""


def block_of(scores: Sequence[Score], threshold: float) -> Block:
    """A block of independent samples, for a mean against `threshold`.

    Raises ValueError for a threshold outside (0, 1), at which no bet can win, or a score outside [0, 1].
    """
    return clustered_block([(score,) for score in scores], threshold)


def clustered_block(texts: Sequence[Sequence[Score]], threshold: float) -> Block:
    """A block of whole texts: the scores of all samples that share a text, for each text.

    Samples of one text are right and wrong together, so the bet is on the text: on the mean of its scores, where all
    texts have as many samples. The sum of the differences to the threshold is divided by the size of the *largest* text
    of the block, so that unequal texts leave the average over the block that over its samples.

    The rule of use: a text belongs to one block alone, with all samples that it will ever have. Where it came again
    after a look, its result would depend on what was seen. Texts are then independent, as draws from the texts of a
    kind, and the claim is about prose of that kind. The price: a text is worth at most one sample, so that
    `fewest_perfect` counts texts, and a handful of them can show nothing at all (18 texts are the fewest for 0.8
    at 95%). For a claim about these very texts, give samples as independent, in blocks that cover each text
    at each depth.

    Raises ValueError as `block_of`.
    """
    require_threshold(threshold)
    largest = max((len(text) for text in texts), default=0)
    return Block(
        above=tuple(_excess(text, threshold, unscored=0.0) / (largest * threshold) for text in texts if text),
        below=tuple(-_excess(text, threshold, unscored=1.0) / (largest * (1.0 - threshold)) for text in texts if text),
        hoped=tuple(_excess(text, threshold, unscored=1.0) / (largest * threshold) for text in texts if text),
        samples=sum(len(text) for text in texts),
    )


def paired_block(pairs: Sequence[tuple[Score, Score]], share: float) -> Block:
    """A block of pairs (score at this length, score at the baseline), for a mean against `share` times the baseline's.

    The bets are on x − share · x₀, at least −share and at most 1. A baseline sample is used in one pair at a length, or
    pairs are not independent; it may be used again at another length. The two of a pair may share an item. A baseline
    score that is missing counts as 1 in the bet on "above" and as 0 in that on "below".

    Raises ValueError for a share outside (0, 1] or a score outside [0, 1].
    """
    if not 0.0 < share <= 1.0:
        raise ValueError(f"a share lies above 0 and not above 1, not {share}")
    return Block(
        above=tuple((_known(x, 0.0) - share * _known(base, 1.0)) / share for x, base in pairs),
        below=tuple(share * _known(base, 0.0) - _known(x, 1.0) for x, base in pairs),
        hoped=tuple((_known(x, 1.0) - share * _known(base, 0.0)) / share for x, base in pairs),
        samples=len(pairs),
    )


def _excess(text: Sequence[Score], threshold: float, *, unscored: float) -> float:
    return math.fsum(_known(score, unscored) - threshold for score in text)


def _known(score: Score, unscored: float) -> float:
    if score is None:
        return unscored
    if not 0.0 <= score <= 1.0:
        raise ValueError(f"a score lies between 0 and 1, not {score}")
    return score


def require_threshold(threshold: float) -> None:
    """Raises ValueError for a threshold outside (0, 1)."""
    if not 0.0 < threshold < 1.0:
        raise ValueError(f"a threshold of a sequential test lies between 0 and 1, both excluded, not {threshold}")
