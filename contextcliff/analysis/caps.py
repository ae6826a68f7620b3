"""The safe cap: fixed-sequence testing from the shortest length up.

At each length the hypothesis "the score here is below the bar" is tested one-sided, and the walk stops
at the first length where it can't be rejected. Since the order is fixed beforehand and nothing is tested
after the first failure, "every tested length up to the cap clears the bar" holds at the stated confidence
with no correction for the number of lengths (W. Maurer, L. A. Hothorn and W. Lehmacher 1995; P. H. Westfall
and A. Krishen, J. Statist. Plann. Inference 99 (2001) 25-40). Between tested lengths it leans on monotony.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy import stats

from contextcliff.analysis.bar import Bar, is_degraded
from contextcliff.analysis.bins import Level
from contextcliff.analysis.evidence import p_at_least_share

Verdict = Literal["cliff", "slope", "flat", "insufficient_evidence"]

_CLIFF_SHARE = 2 / 3
"""A cliff loses so much of its whole fall between two neighbouring lengths; a slope spreads it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Walk:
    """How far the walk came: `cleared` lengths, and the degraded ones among those after them.

    `degraded` are the positions in `levels`, from `cleared` on, of the lengths shown to be below the bar.
    """

    levels: tuple[Level, ...]
    cleared: int
    degraded: tuple[int, ...]
    verdict: Verdict

    @property
    def last_cleared(self) -> Level | None:
        return self.levels[self.cleared - 1] if self.cleared else None

    @property
    def stop(self) -> Level | None:
        """The length that stopped the walk; None where it came to the end."""
        return self.levels[self.cleared] if self.cleared < len(self.levels) else None

    @property
    def cap_tokens(self) -> int | None:
        """The longest prompt of the last length that cleared the bar."""
        return None if self.last_cleared is None else self.last_cleared.bin.max_tokens


def walk_up(levels: Sequence[Level], bar: Bar, confidence: float) -> Walk:
    """Walk from the shortest length up and judge what stopped it."""
    levels = tuple(levels)
    cleared = 0
    while cleared < len(levels) and bar.clears(levels[cleared]):
        cleared += 1
    degraded = tuple(i for i in range(cleared, len(levels)) if is_degraded(levels[i], bar))
    return Walk(
        levels=levels,
        cleared=cleared,
        degraded=degraded,
        verdict=_verdict(levels, cleared, degraded, bar, confidence),
    )


def _verdict(levels: Sequence[Level], cleared: int, degraded: Sequence[int], bar: Bar, confidence: float) -> Verdict:
    if cleared == len(levels):
        return "flat"
    if not degraded:
        return "insufficient_evidence"
    if degraded[0] > cleared and not evidence_suffices(levels[cleared], bar):
        # Something lies between the cap and the fall, and the data could not have shown it to be good.
        return "insufficient_evidence"
    if cleared:
        return "cliff" if _steepest_share(levels[cleared - 1 :]) >= _CLIFF_SHARE else "slope"
    return "slope" if _longest_is_lower(levels, confidence) else "flat"


def _steepest_share(levels: Sequence[Level]) -> float:
    """The largest fall of the mean between neighbouring lengths, as a share of the whole fall."""
    means = [level.bin.mean for level in levels if level.bin.mean is not None]
    whole = means[0] - min(means)
    return max(earlier - later for earlier, later in pairwise(means)) / whole if whole > 0 else 0.0


def evidence_suffices(level: Level, bar: Bar) -> bool:
    """Whether full scores for all scored samples here would have cleared the bar."""
    return bar.could_clear(level, level.if_scored_right)


def _longest_is_lower(levels: Sequence[Level], confidence: float) -> bool:
    """One-sided Fisher test (0/1 scores) or Mann-Whitney test of the longest length against the shortest.

    Where samples share texts, Fisher's on the effective counts.
    """
    scored = [level for level in levels if level.scores]
    first, last = scored[0].scores, scored[-1].scores
    if len(scored) < 2 or {*first, *last} == {first[0]}:
        return False
    if scored[0].clusters or scored[-1].clusters:
        p = p_at_least_share(scored[-1].evidence, scored[0].evidence, 1.0, confidence)
    elif scored[0].binary:
        right, right_first = int(sum(last)), int(sum(first))
        table = np.array([[right, len(last) - right], [right_first, len(first) - right_first]])
        p = stats.fisher_exact(table, alternative="less").pvalue
    else:
        p = stats.mannwhitneyu(last, first, alternative="less").pvalue
    return bool(p <= 1.0 - confidence)


def crossing_ceiling(walk: Walk, bar: Bar) -> int | None:
    """Length by which the score is below the bar: tested one-sided from the longest length down.

    The tokens of the shortest prompt of the shortest length in that walk; None where the longest length
    is not shown to be below.
    """
    ceiling = None
    for level in reversed(walk.levels):
        if not bar.undercuts(level):
            break
        ceiling = level.bin.min_tokens
    if ceiling is None or walk.cap_tokens is None:
        return ceiling
    # Measured lengths of neighbouring bins can overlap; the crossing is above the cap all the same.
    return max(ceiling, walk.cap_tokens + 1)
