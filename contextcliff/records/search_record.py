"""A sequential search of the safe cap: what it may ask, and how it decided each length that it tested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Decision = Literal["baseline", "passed", "below", "unsettled", "unscorable", "open"]
"""`baseline`: the length that the others are compared with. `unsettled`: neither claim was shown by the most samples,
or, at a length that refining tests, the rest of them were not expected to show that it passes. `unscorable`: samples
without a score keep it from passing. `open`: the search ended before the length was decided (out of budget,
interrupted, not asked yet, or was for another rule)."""
PASSED: frozenset[Decision] = frozenset({"passed", "baseline"})
"""Decisions after which a search goes on to longer lengths."""

ThirdName = Literal["first", "middle", "last"]
THIRDS: tuple[ThirdName, ...] = ("first", "middle", "last")
"""Of the depths, from the start of the text to its end."""


REFINED_TO = 16
"""Refining ends at this part of the distance between the last length passed and the first failed, by default."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchPlan:
    """What a search may ask: the lengths of the walk, and how many samples of each."""

    lengths: tuple[int, ...]
    """Prompt lengths in tokens that the walk goes through, ascending."""
    block: int
    """Samples in a block: one at each depth, or a batch where the task has no depths."""
    block_evidence: int
    """Pieces of evidence in a block: its samples, or fewer where some of them share a text."""
    most_blocks: int
    """At one length."""
    refine: bool
    """Whether lengths between the last one passed and the first one failed are tested after the walk."""
    depths: int = 0
    """Different depths in a block; 0 where the task has none."""
    resolution: int | None = None
    """Tokens between the two at which refining ends; None: a sixteenth of their distance after the walk."""
    rule: SearchRule | None = None
    """The rule that it asks for; None in runs of early versions."""

    def resolution_between(self, low: int, high: int) -> int:
        """Tokens at which refining ends between the last length of the walk that passed and the first that failed."""
        return self.resolution or max(1, (high - low) // REFINED_TO)


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchRule:
    """What a length has to show: a mean score above `threshold`, or above that share of the shortest length's."""

    threshold: float
    relative: bool
    confidence: float
    every_depth: bool = False
    """Whether each third of the depths has to show it too, where there are three depths or more."""

    @property
    def best_gain(self) -> float:
        """What a perfect sample wins, per unit staked, beside a perfect one of the baseline where there is one."""
        return 1.0 / self.threshold - 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Replay:
    """The samples that a search asks beside its own, so that its run stays paired with another (`task.like`)."""

    run_id: str
    """The run that is paired with."""
    blocks: Mapping[int, int]
    """By length in tokens, how many blocks of that run, from the first on, its decisions rest on."""
    partial: bool = False
    """Whether that run stopped before its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockEvidence:
    """The evidence about one length at the end of one of its blocks."""

    n: int
    """Samples so far, those without a score among them."""
    e_above: float
    """E-value against "the mean score is at most the threshold", unscored samples counted as 0."""
    e_below: float
    """E-value against "the mean score is at least the threshold", unscored samples counted as 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TestedLength:
    """How one length was decided. Listed in the order of testing, which refining takes up and down."""

    __test__ = False  # not a class of tests

    context_tokens: int
    alpha: float
    """The error that the test of this length may make: it passes at an e-value of 1/alpha."""
    decision: Decision
    refined: bool
    """Whether it lies between two lengths of the walk."""
    blocks: tuple[BlockEvidence, ...]
    """One a block that counted; empty for a baseline."""
    n_blocks: int
    """Blocks that counted."""
    third: ThirdName | None = None
    """The third of the depths that is below, where each has to clear and one of them decided the length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthStanding:
    """How a length stands while a search goes on: the sum of its scores, and its answered samples in whole blocks."""

    context_tokens: int
    decision: Decision
    score_sum: float
    answered: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """How a search went, as far as it came."""

    plan: SearchPlan
    tested: tuple[TestedLength, ...]

    @property
    def is_open(self) -> bool:
        """Whether a length was not decided, or the walk did not come to its end though each length passed."""
        walk = [each.decision for each in self.tested if not each.refined]
        ends_early = 0 < len(walk) < len(self.plan.lengths) and PASSED.issuperset(walk)
        return ends_early or any(each.decision == "open" for each in self.tested)

    def of(self, context_tokens: int) -> TestedLength | None:
        """How this length was decided; None where it was not tested."""
        return next((each for each in self.tested if each.context_tokens == context_tokens), None)


CLAIMS = 1 + len(THIRDS)
"""The mean and each third: "one of them is below" errs no more often than stated where each errs a CLAIMS-th of it."""


def third_sizes(n_depths: int) -> tuple[int, int, int]:
    """How many of so many depths each third has: 11 are 4, 3 and 4; 10 are 3, 4 and 3."""
    each, over = divmod(n_depths, 3)
    return (each + (over == 2), each + (over == 1), each + (over == 2))


def depth_thirds(depths: Iterable[float | None]) -> tuple[frozenset[float], ...]:
    """The different depths in three parts, from the start of the text to its end; empty below three depths."""
    ordered = sorted({depth for depth in depths if depth is not None})
    if len(ordered) < len(THIRDS):
        return ()
    first, middle, last = third_sizes(len(ordered))
    return tuple(map(frozenset, (ordered[:first], ordered[first : first + middle], ordered[-last:])))
