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

from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.threshold import Threshold


@dataclass(frozen=True, kw_only=True, slots=True)
class FixedSequenceTest:
    """The result of the sequence of tests."""

    results: tuple[LengthResult, ...]
    """Every length, shortest first."""
    cleared: int
    """Number of lengths shown above the threshold before the sequence stopped."""
    degraded: tuple[int, ...]
    """Positions in `results` of the lengths that the walk from the longest one down shows to be below."""
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
        """The length up to which the last one shown above the threshold clears; None also where it is withheld."""
        return None if self.last_cleared is None or self.is_withheld else self.last_cleared.bin.clears_up_to


def fixed_sequence_test(
    results: Sequence[LengthResult], threshold: Threshold, *, is_open: bool = False
) -> FixedSequenceTest:
    """Test the lengths from the shortest up until one is not shown above, and from the longest down likewise.

    From the longest down each is tested for being below, one-sided at the same confidence: the second sequence of tests
    is as fixed as the first, so that "every degraded length is below" holds at the confidence as a whole.

    `is_open`: a search ended before it had decided its last length.
    """
    results = tuple(results)
    cleared = 0
    while cleared < len(results) and threshold.is_shown_above(results[cleared]):
        cleared += 1
    first_below = len(results)
    while first_below > cleared and threshold.is_shown_below(results[first_below - 1]):
        first_below -= 1
    baseline = threshold.relative
    is_alone = baseline is not None and cleared <= len(baseline.members)
    is_low = baseline is not None and baseline.is_low
    return FixedSequenceTest(
        results=results,
        cleared=cleared,
        degraded=tuple(range(first_below, len(results))),
        is_open=is_open,
        is_withheld=is_alone or is_low,
    )


def evidence_suffices(result: LengthResult, threshold: Threshold) -> bool:
    """Whether this length would be shown above the threshold if every scored sample were right."""
    return threshold.could_be_shown_above(result, result.if_scored_right)


def crossing_ceiling(sequence: FixedSequenceTest, threshold: Threshold) -> int | None:
    """Length by which the score is below the threshold: tested one-sided from the longest length down.

    Tokens from which on the last length in that sequence that is shown below is below; None where the longest length is
    not.
    """
    ceiling = None
    for result in reversed(sequence.results):
        if not threshold.is_shown_below(result):
            break
        ceiling = result.bin.below_from
    if ceiling is None or sequence.cap_tokens is None:
        return ceiling
    # Measured lengths of neighbouring bins can overlap; the crossing is above the cap all the same.
    return max(ceiling, sequence.cap_tokens + 1)
