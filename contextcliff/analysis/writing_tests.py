"""Is the prose at a length worse than at the shortest one, and worse than the author's own?

Every measure with a worse direction is tested one-sided at every length, by Mann and Whitney's exact test, and Holm's
correction is over all lengths and measures that are tested against the same. So the chance that anything is called
degraded in a run in which nothing changes is at most 1 − confidence, however the measures hang together. An
improvement is never a degradation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from contextcliff.analysis.draws import DrawnTier
from contextcliff.analysis.holm import holm, is_significant
from contextcliff.analysis.rank_tests import p_larger, rank_biserial
from contextcliff.analysis.writing_scale import Values, has_every_z, worsening
from contextcliff.writing.measures import AUTHOR_MEAN, MEASURES, Measure, Z
from contextcliff.writing_records import WritingTest

FEWEST_WINDOWS = 8
"""Windows of the author's text that a measure takes to be tested against them."""

Against = Literal["shortest", "author"]
Size = Literal["none", "small", "medium", "large"]

_TESTED = tuple(measure for measure in MEASURES if measure.worse)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Comparison:
    """Values here and there, up is worse, and the difference of the raw means."""

    context_tokens: int
    measure: str
    here: Values
    there: Values
    shift: float


def against_shortest(tiers: Sequence[DrawnTier], *, confidence: float) -> tuple[WritingTest, ...]:
    """Every length above the shortest against it, by length and measure; `tiers` are the shortest first."""
    found = []
    for tier in tiers[1:]:
        for measure in _TESTED:
            here, there = worsening(measure, (tier, tiers[0]))
            mean, baseline = tier.mean(measure.name), tiers[0].mean(measure.name)
            if mean is not None and baseline is not None:
                found.append(_comparison(tier, measure, here, there, mean - baseline))
    return _tested(found, "shortest", confidence)


def against_author(
    tiers: Sequence[DrawnTier], windows: Mapping[str, Sequence[float]], *, confidence: float
) -> tuple[WritingTest, ...]:
    """Every length against the author's windows, which are given as z-scores by measure.

    A measure is left out where it has fewer than eight windows, or some draw has no z-score.
    """
    found = []
    for tier in tiers:
        for measure in _TESTED:
            there = tuple(measure.worse * z for z in windows.get(measure.name, ()))
            mean, author = tier.mean(measure.name), tier.mean(AUTHOR_MEAN + measure.name)
            if len(there) < FEWEST_WINDOWS or mean is None or author is None or not has_every_z(measure, tier):
                continue
            here = tuple(measure.worse * z for z in tier.values(Z + measure.name))
            found.append(_comparison(tier, measure, here, there, mean - author))
    return _tested(found, "author", confidence)


def _comparison(tier: DrawnTier, measure: Measure, here: Values, there: Values, rise: float) -> _Comparison:
    return _Comparison(
        context_tokens=tier.context_tokens, measure=measure.name, here=here, there=there, shift=measure.worse * rise
    )


def _tested(found: Sequence[_Comparison], against: Against, confidence: float) -> tuple[WritingTest, ...]:
    p_values = [p_larger(one.here, one.there) for one in found]
    return tuple(
        _test(one, against, p_value, p_holm, confidence)
        for one, p_value, p_holm in zip(found, p_values, holm(p_values), strict=True)
    )


def _test(one: _Comparison, against: Against, p_value: float, p_holm: float, confidence: float) -> WritingTest:
    effect = rank_biserial(one.here, one.there)
    return WritingTest(
        context_tokens=one.context_tokens,
        measure=one.measure,
        against=against,
        n=len(one.here),
        n_baseline=len(one.there),
        shift=one.shift,
        p_value=p_value,
        p_holm=p_holm,
        effect=effect,
        size=size_of(effect),
        degraded=effect > 0.0 and is_significant(p_holm, confidence),
    )


def size_of(effect: float) -> Size:
    """A rank-biserial correlation in words, in Context-Tester's bands; below 0.1 it is none."""
    if effect < 0.1:
        return "none"
    if effect <= 0.3:
        return "small"
    return "medium" if effect <= 0.5 else "large"
