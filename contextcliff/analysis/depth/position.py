"""Whether the score depends on where the evidence lies.

What is asked is whether late evidence is found more often than early evidence (`recency`), less often (`primacy`), or
the edges more often than the middle (`middle_collapse`: N. F. Liu et al., "Lost in the Middle", arXiv 2307.03172), by
the test of `permutation.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.analysis.bins import Group
from contextcliff.analysis.depth.depth_profile import DepthPoint
from contextcliff.analysis.depth.permutation import permutation_test, varying_strata
from contextcliff.analysis.items import by_item, items_of
from contextcliff.records.fact import Fact
from contextcliff.statistics.descriptive import mean_of


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionPattern:
    """How the score depends on depth: `stable`, `middle_collapse`, `recency` or `primacy`, by a test.

    `recency`: what stands late is found more often; `primacy`: what stands early. `stable` says that no dependence
    was shown. `pattern` and `p_value` are None where there is nothing to test, with the reason.
    """

    pattern: str | None
    p_value: float | None
    n_samples: int
    reason: Fact


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionProfile:
    """Whether the score depends on depth, and the mean score of each depth over all lengths."""

    position: PositionPattern
    profile: tuple[DepthPoint, ...] = ()


FEWEST_DEPTHS = 3
"""With two depths there is no middle."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Third:
    """The mean score of the evidence in one third of the text: `first`, `middle` or `last`."""

    name: str
    mean: float
    n_samples: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TooFewDepths(Fact):
    """A pattern takes scores at `fewest` depths, and there are `depths`."""

    depths: int
    fewest: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NoDepthsToCompare(Fact):
    """At no length does one text have scores at two depths."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EqualScores(Fact):
    """At no length do scores differ, so that no depth can be told from another."""

    thirds: tuple[Third, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionTested(Fact):
    """What the permutation test says, and the mean scores behind it."""

    thirds: tuple[Third, ...]
    pattern: str
    p_value: float
    n_samples: int


def position_pattern(groups: Sequence[Group], confidence: float) -> PositionPattern:
    """The pattern of score over depth, tested at 1 − `confidence`.

    Only scored samples with a depth count. Permutations are drawn from a fixed seed: the same samples, in any order,
    give the same p-value. `pattern` is None where fewer than three depths were scored, or none can be compared within
    a length; it is `stable` without a p-value where scores vary within no length.
    """
    placed = _placed(groups)
    pairs = sorted(pair for stratum in placed for pair in stratum)
    n = len(pairs)
    depths = {depth for depth, _ in pairs}
    if len(depths) < FEWEST_DEPTHS:
        return _untested(None, n, TooFewDepths(depths=len(depths), fewest=FEWEST_DEPTHS))
    if all(len({depth for depth, _ in stratum}) == 1 for stratum in placed):
        return _untested(None, n, NoDepthsToCompare())
    strata = varying_strata(placed)
    if not strata:
        return _untested("stable", n, EqualScores(thirds=_thirds(pairs)))
    linear, edges, p_value = permutation_test(strata)
    pattern = _largest(linear, edges) if p_value <= 1.0 - confidence else "stable"
    return PositionPattern(
        pattern=pattern,
        p_value=p_value,
        n_samples=n,
        reason=PositionTested(thirds=_thirds(pairs), pattern=pattern, p_value=p_value, n_samples=n),
    )


def _placed(groups: Sequence[Group]) -> list[list[tuple[float, float]]]:
    """Depth and score of the items of each stratum, in an order that theirs does not matter for.

    The repeats of one question, or of one prompt at temperature 0, go together: exchanged singly they would look like
    so many samples that agree.
    """
    strata: defaultdict[tuple[int, str], list[tuple[float, float]]] = defaultdict(list)
    for group in groups:
        for repeats in by_item(group.samples):
            depth, (item,) = repeats[0].sample.depth, items_of(repeats)
            if depth is not None and item.score is not None:
                strata[group.asked_tokens, item.cluster].append((depth, item.score))
    return [sorted(strata[key]) for key in sorted(strata)]


def _largest(linear: float, edges: float) -> str:
    if edges > abs(linear):
        return "middle_collapse"
    return "recency" if linear > 0.0 else "primacy"


def _thirds(pairs: Sequence[tuple[float, float]]) -> tuple[Third, ...]:
    """Mean scores by third of the depths, where there are any."""
    bounds = {"first": (0.0, 1.0 / 3.0), "middle": (1.0 / 3.0, 2.0 / 3.0), "last": (2.0 / 3.0, 1.0)}
    thirds = []
    for name, (low, high) in bounds.items():
        scores = [score for depth, score in pairs if low <= depth and (depth < high or high == 1.0)]
        if scores:
            thirds.append(Third(name=name, mean=mean_of(scores), n_samples=len(scores)))
    return tuple(thirds)


def _untested(pattern: str | None, n: int, reason: Fact) -> PositionPattern:
    return PositionPattern(pattern=pattern, p_value=None, n_samples=n, reason=reason)
