"""A sequential search of the safe cap: what it may ask, and how it decided each length that it tested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Decision = Literal["baseline", "passed", "below", "unsettled", "unscorable", "open"]
"""`baseline`: the length that the others are compared with. `unsettled`: neither claim was shown. `unscorable`: none of
its samples has a score. `open`: the search ended before the length was decided (out of budget, interrupted, not asked
yet, or was for another rule)."""
PASSED: frozenset[Decision] = frozenset({"passed", "baseline"})
"""Decisions after which a search goes on to longer lengths."""

Ending = Literal["", "max_trials", "given_up", "not_worth_it"]
"""Why a length is unsettled: it has had all the samples that it may; more of them were not expected to show it; or, of
a length between two others, what they could show was not worth their tokens. Empty for other decisions."""

Key = tuple[int, int]
"""A step of a search: its length in tokens, and its number there, from 0."""
BASELINE_SAMPLES = 5
"""Fewest scored steps of a length that others are compared with."""
MOST_CANDIDATES = 63
"""Most lengths between two neighbours that a search tests."""

ThirdName = Literal["first", "middle", "last"]
THIRDS: tuple[ThirdName, ...] = ("first", "middle", "last")
"""Of the depths, from the start of the text to its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchRule:
    """What a length has to show: a mean score above `threshold`, or above that share of the shortest length's."""

    threshold: float
    relative: bool
    confidence: float

    @property
    def alpha(self) -> float:
        return 1.0 - self.confidence


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchPlan:
    """What a search may ask: the lengths of the ladder, and how many samples of each."""

    lengths: tuple[int, ...]
    """Prompt lengths in tokens that the search climbs, ascending."""
    refine: bool
    """Whether lengths between the last one passed and the first one below are tested after the climb."""
    step_samples: int = 1
    """Samples in a step: one, or all of a text that they share."""
    most_steps: int = 0
    """At one length; 0 in runs of earlier versions, which asked in blocks."""
    resolution: int | None = None
    """Tokens between two lengths that refining tests; a sixteenth of the distance between two of the ladder if None."""
    rule: SearchRule | None = None
    """The rule that it asks for; None in runs of early versions."""
    added: tuple[int, ...] = ()
    """Lengths of the ladder that were first asked when a longer one had been answered, in that order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replay:
    """The samples that a search asks beside its own, so that its run stays paired with another (`task.like`)."""

    run_id: str
    """The run that is paired with."""
    steps: Mapping[int, int] = field(default_factory=dict)
    """By length in tokens, how many steps of that run, from the first on, its decisions rest on."""
    partial: bool = False
    """Whether that run stopped before its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TestedLength:
    """How one length was decided."""

    __test__ = False  # not a class of tests

    context_tokens: int
    decision: Decision
    steps: int
    """Steps that counted."""
    alpha: float
    """The error that its test may make: it passes at an e-value of 1/alpha."""
    e_above: float = 1.0
    """E-value against "the mean score is at most the threshold", unscored samples counted as 0."""
    e_below: float = 1.0
    """E-value against "the mean score is at least the threshold", unscored samples counted as 1."""
    refined: bool = False
    """Whether it lies between two lengths of the ladder."""
    ending: Ending = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """One step of a search in the order in which it counted."""

    context_tokens: int
    score: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """What would help a search that has ended: about so many more samples at a length show it, if it is good."""

    context_tokens: int
    samples: int
    chance: float
    """That its mean score is above the threshold, by the working posterior."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthStanding:
    """How a length stands while a search goes on: the sum of its scores, and its answered samples."""

    context_tokens: int
    decision: Decision
    score_sum: float
    answered: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """How a search went, as far as it came."""

    plan: SearchPlan
    tested: tuple[TestedLength, ...]
    """The lengths of the ladder in their order, those that the server refused, and the refined
    ones in the order of asking."""
    is_open: bool = False
    """Whether it came to no end: out of budget, interrupted, or asked by another rule."""
    path: tuple[Asked, ...] = ()
    advice: Advice | None = None

    def of(self, context_tokens: int) -> TestedLength | None:
        """How this length was decided; None where it was not tested."""
        return next((each for each in self.tested if each.context_tokens == context_tokens), None)


CLAIMS = 1 + len(THIRDS)
"""The mean and each third: "one of them is below" errs no more often than stated where each errs a CLAIMS-th of it."""


def depth_thirds(depths: Iterable[float | None]) -> tuple[frozenset[float], ...]:
    """The different depths in three parts, from the start of the text to its end; empty below three depths."""
    ordered = sorted({depth for depth in depths if depth is not None})
    each, over = divmod(len(ordered), 3)
    first, middle = each + (over == 2), each + (over == 1)
    if len(ordered) < len(THIRDS):
        return ()
    return tuple(map(frozenset, (ordered[:first], ordered[first : first + middle], ordered[first + middle :])))
