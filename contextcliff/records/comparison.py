"""Two runs that were asked the same, sample by sample, and what is decided of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from typing import Literal

from contextcliff.records.amounts import Quantity

CandidateVerdict = Literal["worse", "better", "not_worse", "unknown"]
"""`not_worse`: worse by less than the margin, if at all. `unknown`: the pairs show neither."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredPair:
    """One sample as both runs answered it; outcomes are of the matching's `quantity`."""

    sample_id: str
    context_tokens: int
    baseline: float | None
    candidate: float | None
    cluster: str = ""
    """The text that it shares with other samples."""
    item: str = ""
    step: int | None = None
    baseline_figures: Mapping[str, float] = field(default_factory=dict, hash=False, repr=False)
    """What else was measured of the baseline's answer, by name."""
    candidate_figures: Mapping[str, float] = field(default_factory=dict, hash=False, repr=False)

    @property
    def is_scored(self) -> bool:
        return self.baseline is not None and self.candidate is not None

    @property
    def at_worst(self) -> ScoredPair:
        """The pair as if every missing score told against the candidate."""
        return self._with_missing(baseline=1.0, candidate=0.0)

    @property
    def at_best(self) -> ScoredPair:
        return self._with_missing(baseline=0.0, candidate=1.0)

    def _with_missing(self, *, baseline: float, candidate: float) -> ScoredPair:
        return replace(
            self,
            baseline=baseline if self.baseline is None else self.baseline,
            candidate=candidate if self.candidate is None else self.candidate,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Matching:
    """The samples of a baseline and a candidate, matched by id and prompt."""

    pairs: tuple[ScoredPair, ...]
    only_baseline: int
    only_candidate: int
    other_prompt: int
    """Samples of one id with two prompts: they are no pairs."""
    not_sent: int = 0
    """Samples that one of the runs did not send: its budget was spent, or it was stopped."""
    too_long: int = 0
    """Samples that both servers refused as too long."""
    searched: bool
    """Whether a search chose how many samples a length got, in either run."""
    lengths: tuple[int, ...] = ()
    """Of a search the lengths in the baseline's order of testing, the lengths of its walk first."""
    n_walk_lengths: int = 0
    """How many of them the walk could go through; the others came by refining."""
    step_samples: int = 0
    longest: tuple[int, int] | None = None
    """Tokens, from and to, of the longest length that the baseline can do, where only the KV cache differs."""
    error_share: float = 1.0
    """The part of the error that earlier looks at some of the samples leave for this one."""
    quantity: Quantity = "score"

    @property
    def scored(self) -> tuple[ScoredPair, ...]:
        return tuple(pair for pair in self.pairs if pair.is_scored)

    @property
    def n_unscored(self) -> int:
        return len(self.pairs) - len(self.scored)

    @property
    def whole_steps(self) -> Mapping[int, Sequence[Sequence[ScoredPair]]]:
        """Of each length in the order of testing the steps that both runs have whole, from the first without a gap."""
        steps: defaultdict[tuple[int, int], list[ScoredPair]] = defaultdict(list)
        for pair in self.pairs:
            if pair.step is not None:
                steps[pair.context_tokens, pair.step].append(pair)
        whole: dict[int, Sequence[Sequence[ScoredPair]]] = {}
        for tokens in self.lengths:
            of_length = takewhile(lambda step: len(step) == self.step_samples > 0, (steps[tokens, n] for n in count()))
            if each := list(of_length):
                whole[tokens] = each
        return whole


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """The candidate's mean score minus the baseline's over some pairs, −1 to 1."""

    mean: float
    low: float
    high: float
    """Each end of the interval holds by itself at the decision's confidence."""
    method: str
    """`tango`, `gaffke`, `mover` or `confidence sequence`."""
    n_pairs: int
    n_units: int
    """Independent pieces of evidence: fewer than pairs where some share a text or a question."""
    baseline_mean: float
    candidate_mean: float
    worse: int
    better: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthDifference:
    context_tokens: int
    difference: Difference
    p_worse: float
    p_worse_corrected: float
    """For the number of lengths."""
    p_better: float
    p_better_corrected: float


@dataclass(frozen=True, kw_only=True, slots=True)
class DirectionTest:
    """The tests in one direction: is the candidate worse, or is it better?"""

    p_overall: float
    p_somewhere: float
    """At one length at least, corrected for their number."""
    p: float
    """Of both tests together: twice the smaller one."""
    p_of_all: float
    """Corrected for the number of candidates (Holm)."""
    lengths: tuple[int, ...]
    """Those at which it is shown: the test of the length, corrected, at half of α."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PairedDecision:
    """What is decided of one candidate against the baseline."""

    verdict: CandidateVerdict
    confidence: float
    margin: float
    """The fall in the mean outcome that would not matter."""
    quantity: Quantity
    sequential: bool
    """Whether bets decided it, because a search chose the number of samples."""
    worse: DirectionTest
    better: DirectionTest
    overall: Difference
    """The mean of the lengths' differences, each length counting alike."""
    worst_low: float
    """The lower end of the interval if every missing score told against the candidate."""
    area: Difference | None
    """The same for the area under the score over log length; None with less than two lengths."""
    longest_tokens: int | None
    """The longest length that the baseline can do, where only the KV cache differs; None elsewhere."""
    longest: Difference | None
    """The difference there, its lower end as if missing scores told against the candidate: what *not worse* is of."""
    lengths: tuple[LengthDifference, ...]
    more_pairs: int | None
    """Pairs that are missing until it is likely to be settled, at `longest_tokens` where that is known; None where it
    is settled, or nothing can be planned."""
    only_baseline: int
    only_candidate: int
    other_prompt: int
    not_sent: int
    too_long: int
    n_unscored: int
    low_baseline: bool
    """Whether the baseline hardly does the task at any length: that a candidate is not worse then says nothing."""

    @property
    def judged(self) -> Difference:
        """The difference that the verdict is about."""
        return self.overall if self.longest is None or self.verdict in ("worse", "better") else self.longest
