"""Why the safe cap is where it is: how far the test came, what stopped it, and what would settle it.

Lengths are tokens: the median measured prompt of a length, but for `shown_up_to`, its longest prompt.
"""

from __future__ import annotations

from dataclasses import dataclass

from contextcliff.records.amounts import Quantity, SampleCount, Unit
from contextcliff.records.fact import Fact, NoSamples
from contextcliff.records.note import Note
from contextcliff.records.search_record import ThirdName


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedThreshold:
    """The threshold as it was asked for: a score, or a share of the baseline's score."""

    value: float
    relative: bool
    baseline_mean: float | None = None
    """None where nothing is known of a baseline yet."""
    baseline_tokens: int | None = None
    every_depth: bool = False
    """Whether each third of the depths has to clear it by itself."""
    quantity: Quantity = "score"
    """Of what it is a threshold; `healthy`: of the share of healthy rounds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreAt:
    """The mean score of one length with the interval that is shown; None where nothing was scored.

    Of what the threshold is a threshold: where it is one of healthy rounds, their share.
    """

    tokens: int
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    in_search: bool = False
    """Whether the interval is a confidence sequence, whose ends are rounded outward."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """So many of so many."""

    n: int
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EndOfRange(Fact):
    """The longest length was shown to be good: nothing stopped the test."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Degraded(Fact):
    """The length is shown to be below the threshold, or a `third` of its depths where each has to clear."""

    third: ThirdName | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NeitherShown(Fact):
    """Enough samples, and still neither above nor below; a longer length is below.

    `needed` scored samples would show which with 80% power; None where no practical number would.
    """

    needed: SampleCount | None = None
    planned_score: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MostAsked(Fact):
    """A search asked as many samples as it may, and showed neither claim of the length."""

    asked: SampleCount


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenUp(Fact):
    """A search showed neither claim of a length between two others, and gave it up: by its scores so far the samples
    that it might still ask were not expected to show that it clears."""

    asked: SampleCount


@dataclass(frozen=True, kw_only=True, slots=True)
class Unscorable(Fact):
    """A search ended a length because its samples without a score kept it from clearing, whatever came after them."""

    unscored: Part
    kind: str
    """Why most of them have none: `overflow`, `truncated`, `content_filter`, `timeout` …"""
    window_tokens: int | None = None
    """The context window that the server named as it refused them; None if unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NotDecided(Fact):
    """A search ended before it had decided the length: the budget ran out, or it was stopped.

    `asked` is None where no sample of the next length was answered.
    """

    asked: SampleCount | None


@dataclass(frozen=True, kw_only=True, slots=True)
class NoneScored(Fact):
    """No sample of the length was scored. `needed` is None where no number would do."""

    planned: SampleCount
    needed: SampleCount | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Unshowable(Fact):
    """The threshold is one that no number of samples can show."""

    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class TooFewPlanned(Fact):
    """Full scores for all planned samples would not have cleared the threshold.

    `needed` is None where it would take more than `most`; `binary` is whether answers are right or wrong.
    """

    planned: SampleCount
    binary: bool
    needed: SampleCount | None
    most: int


@dataclass(frozen=True, kw_only=True, slots=True)
class UnscoredDecide(Fact):
    """The samples without a score, counted against the claim, are what stops it: here, at the baseline, or both."""

    here: Part | None
    at_baseline: Part | None


@dataclass(frozen=True, kw_only=True, slots=True)
class UnscoredCouldBeRight(Fact):
    """The scored samples alone are below the threshold, and would not be with the unscored ones right."""

    here: Part


@dataclass(frozen=True, kw_only=True, slots=True)
class TooFewToClear(Fact):
    """The score is above the threshold, and the samples are too few to show that.

    `needed` scored samples (at each of the two lengths, where a baseline is one of them) settle it with 80% power;
    None where it would take more than `most`. They are planned for `planned_score`, which the curve over all lengths
    gives at this one: the score that stopped the test came out low also by chance.
    """

    scored: int
    unit: Unit
    at_both_lengths: bool
    needed: SampleCount | None
    most: int
    planned_score: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TooFewToReject(Fact):
    """The score is at or below the threshold, and the samples are too few to show that it is below.

    `needed`, `most` and `planned_score` as above.
    """

    scored: int
    unit: Unit
    is_at_threshold: bool
    needed: SampleCount | None
    most: int
    at_both_lengths: bool = False
    planned_score: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Unsettled(Fact):
    """The score neither clears the threshold nor can be said to miss it, and no advice can be computed."""


StopCause = (
    EndOfRange
    | Degraded
    | NeitherShown
    | MostAsked
    | GivenUp
    | Unscorable
    | NotDecided
    | NoneScored
    | Unshowable
    | TooFewPlanned
    | UnscoredDecide
    | UnscoredCouldBeRight
    | TooFewToClear
    | TooFewToReject
    | Unsettled
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop(Fact):
    """What was shown up to where, and what stopped the test there.

    `shown_up_to` is None where no length was shown to be good; `at` is the length that stopped the test (None: none
    did), and `fall` the first longer one that is shown to be below.
    """

    threshold: AskedThreshold
    confidence: float
    shown_up_to: int | None
    at: ScoreAt | None
    cause: StopCause
    fall: ScoreAt | None = None
    cleared_to: int | None = None
    """Longest prompt of the last bin that cleared, where prompts have natural lengths and the cap is its shortest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NothingScored(Fact):
    """No sample of any length was scored."""

    planned: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BaselineAlone(Fact):
    """All lengths are part of the baseline itself; `tokens` is its longest prompt."""

    tokens: int
    n_lengths: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class LowBaseline(Fact):
    """The baseline's score is below `least`: a share of it says nothing, whatever length keeps it."""

    mean: float
    tokens: int
    least: float
    quantity: Quantity = "score"


@dataclass(frozen=True, kw_only=True, slots=True)
class NoBaseline(Fact):
    """Too few scored samples at the shortest length, or at the shortest `n_lengths` together, to compare with."""

    n_lengths: int
    tokens: int
    scored: int
    planned: int
    unit: Unit
    fewest: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ShortestUnscored(Fact):
    """There is a baseline of several lengths, but nothing was scored at the shortest."""

    tokens: int
    planned: int
    unit: Unit


@dataclass(frozen=True, kw_only=True, slots=True)
class ZeroBaseline(Fact):
    """The score at the shortest length is 0."""

    tokens: int
    quantity: Quantity = "score"


@dataclass(frozen=True, kw_only=True, slots=True)
class BelowEverywhere(Fact):
    """Every length is shown to be below the threshold; `first` is the shortest."""

    threshold: AskedThreshold
    confidence: float
    first: ScoreAt


@dataclass(frozen=True, kw_only=True, slots=True)
class BelowAtShortest(Fact):
    """The shortest length is shown to be below, and not all longer ones are.

    `recovered_tokens` is a longer length that clears the threshold when it is tested by itself. `is_only`: no longer
    one was tested, since a search ends there.
    """

    threshold: AskedThreshold
    confidence: float
    first: ScoreAt
    recovered_tokens: int | None
    is_only: bool = False


CapReason = (
    Stop
    | NoSamples
    | NothingScored
    | BaselineAlone
    | LowBaseline
    | NoBaseline
    | ShortestUnscored
    | ZeroBaseline
    | BelowEverywhere
    | BelowAtShortest
    | Note
)
