"""What a reader has to know to read the numbers of an analysis right: one record a kind, with its figures."""

from __future__ import annotations

from dataclasses import dataclass

from contextcliff.records.amounts import Quantity, SharedBy
from contextcliff.records.fact import Fact


@dataclass(frozen=True, kw_only=True, slots=True)
class UnscoredSamples(Fact):
    """Samples without a score, by failure tag, the commonest first; an empty tag where none is known.

    `cap_holds`: there is a cap, and it holds even if all of them were wrong.
    """

    n: int
    total: int
    tags: tuple[tuple[str, int], ...]
    cap_holds: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class UnknownMarks(Fact):
    """So many of the `total` answers begin with what looks like a mark of reasoning; `mark` is the commonest."""

    mark: str
    n: int
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EmptyFrom(Fact):
    """Every answer to prompts of this length and longer ones is empty, and some to shorter ones are not."""

    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NotMonotone(Fact):
    """A longer length clears the threshold that the length at which the test stopped does not.

    `may_be_chance`: that length is not shown to be below the threshold either.
    """

    stop_tokens: int
    stop_mean: float
    higher_tokens: int
    higher_mean: float
    may_be_chance: bool
    quantity: Quantity = "score"


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlMeans:
    """Mean scores of the controls of one length: the evidence alone (`ceiling`), and without it (`floor`)."""

    asked_tokens: int
    ceiling: float | None
    floor: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class UninformativeLengths(Fact):
    """Lengths at which no cliff can show, by their controls."""

    lengths: tuple[ControlMeans, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class UninformativeCells(Fact):
    """Cells of the heatmap that tell nothing of their length; `at_other_lengths`: some whole lengths do not either."""

    n: int
    at_other_lengths: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class OneText(Fact):
    """All samples are cut from one text."""

    document_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AllOverOneText(Fact):
    """All samples are cut from one text, and begin at sentences all over it."""

    document_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CoversLittle(Fact):
    """The longest prompt of a set of documents is far from the end of the window: nothing is known beyond it."""

    longest_tokens: int
    window_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentZones(Fact):
    """Documents of natural length share bins: a zone is about the mean of its bins, the cap about single lengths."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoppedWhenDecided(Fact):
    """A search stopped at each length as soon as it was decided: its decisions and the intervals of the lengths allow
    for that, and every other figure is an estimate from stopped data.

    `each_third`: it decided each third of the depths. Where it decided the mean alone, the test of position, which
    exchanges scores within blocks, allows for that too.
    """

    each_third: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RecurringTexts(Fact):
    """Samples of one text are treated as independent."""

    texts: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OneTextALength(Fact):
    """At so many lengths all samples share one text or context."""

    n_lengths: int
    of_lengths: int
    shared_by: SharedBy


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedTexts(Fact):
    """Samples of one length share texts, which the intervals allow for: fewest and most texts a length, and the
    least and largest design effect."""

    shared_by: SharedBy
    texts: tuple[int, int]
    design_effect: tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class FewSharedTexts(Fact):
    """At so many lengths fewer than `fewest` texts: how much they differ is hardly known."""

    shared_by: SharedBy
    fewest: int
    n_lengths: int
    of_lengths: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RepeatedQuestions(Fact):
    """Each question was put so many times; without `draws_anew` its repeats are no draws of their own."""

    times: int
    draws_anew: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedDraws(Fact):
    """So many samples have the prompt and the draw of another one."""

    n: int
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerCountsDiffer(Fact):
    """For so many prompts the server's token count is off the built length by more than `tolerance`."""

    n: int
    total: int
    largest: float
    tolerance: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ZeroOrOneScores(Fact):
    """Scores are 0 or 1: their variance says what their mean says."""
