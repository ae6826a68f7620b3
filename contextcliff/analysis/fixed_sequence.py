"""The safe cap: fixed-sequence testing from the shortest length up.

At each length the hypothesis "the score here is below the threshold" is tested one-sided. The sequence stops at the
first length where it cannot be rejected. Since the order is fixed beforehand and nothing is tested after the first
failure, "every tested length up to the cap is above the threshold" holds at the stated confidence without a correction
for the number of lengths (W. Maurer, L. A. Hothorn and W. Lehmacher 1995; P. H. Westfall and A. Krishen, J. Statist.
Plann. Inference 99 (2001) 25-40). Between tested lengths it is assumed that the score falls monotonically.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy import stats

from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.threshold import Threshold, is_degraded
from contextcliff.records.analysis import Zone
from contextcliff.statistics.clusters import p_at_least_share
from contextcliff.statistics.rank_tests import is_significant

Verdict = Literal["cliff", "slope", "flat", "insufficient_evidence"]

_CLIFF_SHARE = 2 / 3
"""Share of the whole fall between two neighbouring lengths from which on a fall is a cliff, and not a slope."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FixedSequenceTest:
    """The result of the sequence of tests."""

    results: tuple[LengthResult, ...]
    """Every length, shortest first."""
    cleared: int
    """Number of lengths shown above the threshold before the sequence stopped."""
    degraded: tuple[int, ...]
    """Positions in `results`, from `cleared` on, of the lengths whose shown interval lies below the threshold."""
    verdict: Verdict
    is_open: bool = False
    """Whether a search ended before the length at which it stood was decided."""
    is_withheld: bool = False
    """Whether what was cleared gives no cap: it is the baseline alone, or is compared with one that is hardly one."""

    @property
    def last_cleared(self) -> LengthResult | None:
        """The longest length shown above the threshold; None where the shortest one is not."""
        return self.results[self.cleared - 1] if self.cleared else None

    @property
    def stop(self) -> LengthResult | None:
        """The length at which the sequence stopped; None where every length was shown above the threshold."""
        return self.results[self.cleared] if self.cleared < len(self.results) else None

    @property
    def cap_tokens(self) -> int | None:
        """Tokens of the longest prompt of the last length shown above the threshold; None also where it is withheld."""
        return None if self.last_cleared is None or self.is_withheld else self.last_cleared.bin.max_tokens


def fixed_sequence_test(
    results: Sequence[LengthResult], threshold: Threshold, confidence: float, *, is_open: bool = False
) -> FixedSequenceTest:
    """Test the lengths from the shortest up until one fails, and give the verdict on what follows.

    `is_open`: a search ended before it had decided its last length.
    """
    results = tuple(results)
    cleared = 0
    while cleared < len(results) and threshold.is_shown_above(results[cleared]):
        cleared += 1
    degraded = tuple(i for i in range(cleared, len(results)) if is_degraded(results[i], threshold))
    baseline = threshold.relative
    is_alone = baseline is not None and cleared <= len(baseline.members)
    is_low = baseline is not None and baseline.is_low
    return FixedSequenceTest(
        results=results,
        cleared=cleared,
        degraded=degraded,
        verdict="insufficient_evidence"
        if is_low or (is_alone and cleared == len(results))
        else _verdict(results, cleared, degraded, threshold, confidence, is_open=is_open),
        is_open=is_open,
        is_withheld=is_alone or is_low,
    )


def _verdict(
    results: Sequence[LengthResult],
    cleared: int,
    degraded: Sequence[int],
    threshold: Threshold,
    confidence: float,
    *,
    is_open: bool,
) -> Verdict:
    if is_open and not degraded:
        return "insufficient_evidence"
    if cleared == len(results):
        return "flat"
    if not degraded:
        return "insufficient_evidence"
    if degraded[0] > cleared and not evidence_suffices(results[cleared], threshold):
        # Between the cap and the fall lies a length that no scores of so many samples could have shown above.
        return "insufficient_evidence"
    if cleared:
        return "cliff" if _steepest_share(results[cleared - 1 :]) >= _CLIFF_SHARE else "slope"
    return "slope" if _longest_is_lower(results, confidence) else "flat"


def _steepest_share(results: Sequence[LengthResult]) -> float:
    """The largest fall of the mean between neighbouring lengths, as a share of the whole fall."""
    means = [result.bin.mean for result in results if result.bin.mean is not None]
    whole = means[0] - min(means)
    return max(earlier - later for earlier, later in pairwise(means)) / whole if whole > 0 else 0.0


def evidence_suffices(result: LengthResult, threshold: Threshold) -> bool:
    """Whether this length would be shown above the threshold if every scored sample were right."""
    return threshold.could_be_shown_above(result, result.if_scored_right)


def _longest_is_lower(results: Sequence[LengthResult], confidence: float) -> bool:
    """One-sided Fisher test (0/1 scores) or Mann-Whitney test of the longest length against the shortest.

    Where samples share texts, Fisher's test with the effective counts.
    """
    scored = [result for result in results if result.scores]
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
    return is_significant(float(p), confidence)


def crossing_ceiling(sequence: FixedSequenceTest, threshold: Threshold) -> int | None:
    """Length by which the score is below the threshold: tested one-sided from the longest length down.

    Tokens of the shortest prompt of the last length in that sequence that is shown below; None where the longest
    length is not.
    """
    ceiling = None
    for result in reversed(sequence.results):
        if not threshold.is_shown_below(result):
            break
        ceiling = result.bin.min_tokens
    if ceiling is None or sequence.cap_tokens is None:
        return ceiling
    # Measured lengths of neighbouring bins can overlap; the crossing is above the cap all the same.
    return max(ceiling, sequence.cap_tokens + 1)


def zones_of(sequence: FixedSequenceTest) -> tuple[Zone, ...]:
    """The zones of the range from 0 tokens (without a cap: from the shortest prompt) to the longest prompt, no gaps.

    Stable reaches up to the cap. Degraded starts with the shortest prompt of the first length after the cap whose shown
    interval lies below the threshold. Transition lies between them; after a cliff it is the untested gap between two
    lengths. A zone without a token in it is left out.
    """
    if not sequence.results:
        return ()
    longest = max(result.bin.max_tokens for result in sequence.results)
    cap = sequence.cap_tokens
    start = min(result.bin.min_tokens for result in sequence.results) if cap is None else cap + 1
    fall = longest + 1
    if sequence.degraded:
        # Measured lengths of neighbouring bins can overlap: the fall starts after the cap at the earliest.
        fall = max(start, sequence.results[sequence.degraded[0]].bin.min_tokens)
    zones = [] if cap is None else [Zone(name="stable", min_tokens=0, max_tokens=cap)]
    zones.append(Zone(name="transition", min_tokens=start, max_tokens=min(fall - 1, longest)))
    zones.append(Zone(name="degraded", min_tokens=fall, max_tokens=longest))
    return tuple(zone for zone in zones if zone.min_tokens <= zone.max_tokens)
