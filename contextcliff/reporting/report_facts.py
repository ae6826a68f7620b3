"""What a report shows beside the facts of its analysis: figures that take a sentence, as facts."""

from __future__ import annotations

from dataclasses import dataclass

from contextcliff.records.amounts import Quantity
from contextcliff.records.analysis import SafeCap, Zone
from contextcliff.records.fact import Fact


@dataclass(frozen=True, kw_only=True, slots=True)
class StoppedEarly(Fact):
    """The run stopped before its end: lengths may be missing, or else ratings or measures."""

    lengths_missing: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokens(Fact):
    """A number of tokens."""

    n: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Headline(Fact):
    """The answer: the cap with its confidence and its share of the window, or that there is none."""

    cap: SafeCap


@dataclass(frozen=True, kw_only=True, slots=True)
class Recommendation(Fact):
    """What to do: the length that prompts should keep to."""

    cap: SafeCap


@dataclass(frozen=True, kw_only=True, slots=True)
class ShapeInWords(Fact):
    """How the scores run over so many lengths that have some, with what that means; the cap must have a shape."""

    cap: SafeCap
    n_lengths: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceInWords(Fact):
    """Whether the tests show that, and how many more samples would; the cap must have a shape."""

    cap: SafeCap


@dataclass(frozen=True, kw_only=True, slots=True)
class ThresholdName(Fact):
    """What a length has to clear: a score, or a share of the shortest length's."""

    cap: SafeCap


@dataclass(frozen=True, kw_only=True, slots=True)
class NoCliffInRange(Fact):
    """No cliff up to the longest test, whose length as asked is `longest`."""

    longest: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class HealthyRound(Fact):
    """What a healthy round of writing is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Crossing(Fact):
    """Where the score falls through the threshold: at or above `low` tokens, below `high`.

    `low` is None where no length clears it.
    """

    low: int | None
    high: int
    quantity: Quantity = "score"


@dataclass(frozen=True, kw_only=True, slots=True)
class NoCrossingShown(Fact):
    """No length is shown to be below the threshold; what is up to `low` tokens clears it."""

    low: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ZoneNames(Fact):
    """What the three zones are, at this confidence."""

    confidence: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ZoneRange(Fact):
    """A zone with its mark, which says without colour what it is."""

    mark: str
    zone: Zone
