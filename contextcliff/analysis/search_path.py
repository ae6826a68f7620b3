"""The path of a search: which sample comes next, and how each length ends. Why it is valid: `safe_cap_search.py`."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from contextcliff.analysis.posterior import Posterior, curves_of
from contextcliff.records.search_record import BASELINE_SAMPLES, MOST_CANDIDATES, Key
from contextcliff.statistics.adaptive_bets import MOST_STAKED, Bar, Evidence, log_factor
from contextcliff.statistics.betting import BELOW_AT, Repeat, Score, bounds_of, require_alpha, require_threshold
from contextcliff.statistics.descriptive import mean_of_known

LADDER = 0.7
"""Share of alpha for the ladder of a search that also looks between its lengths; the rest is the bracket's."""
PARTS = 16
"""Into how many parts a bracket is cut by default."""
SOONEST = 20
"""Steps before which a length is not given up."""
HOPELESS, HOPELESS_AFTER, HOPELESS_BELOW = 0.1, 10, 0.3
"""A length whose mean is at most the first ends after so many steps, where its bar is at least the last."""
MOST_WITHOUT_A_SCORE = 10
"""Samples of a length after which it is unscorable if not one of them has a score."""
WORTH = 400.0
"""Samples that an octave is worth, at the longer length."""
LEAST_CHANCE = 0.1
"""Of being above the bar, for a length in a bracket to be asked."""
_BASELINE_BEFORE = 1.9, 2.0
"""The sum and number of the scores that a baseline is taken to have had before its first."""
_NONE = 0.0, 0.0
"""Those of a length without one."""


Step = Score | tuple[Score, ...] | Repeat
"""The outcome of one step: the score of a sample, or those of all samples of a text."""
End = Literal["baseline", "passed", "below", "given_up", "unscorable", "too_long", "open"]
"""How a length ended. `given_up`: its samples are used up, or the rest are not expected to show it. `unscorable`: none
has a score, or it would not be given up if those without one had been right. `open`: it is not decided."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchDesign:
    """What is searched. Raises ValueError for lengths, a resolution, alpha or a threshold that no search can have."""

    lengths: tuple[int, ...]
    """Of the ladder, in tokens, ascending."""
    threshold: float
    alpha: float
    """The error that the cap may have."""
    most: int
    """Steps at one length."""
    refine: bool = True
    resolution: int | None = None
    """Tokens between two candidates; a sixteenth of the bracket if None."""
    relative: bool = False
    """Whether the threshold is a share of the shortest length's mean."""
    added: tuple[int, ...] = ()
    """Lengths that were put into the ladder of an earlier search, in their order: each has half the error of the one
    before, from a half on."""

    def __post_init__(self) -> None:
        require_alpha(self.alpha)
        if not (self.relative and self.threshold == 1.0):
            require_threshold(self.threshold)
        if list(self.lengths) != sorted({*self.lengths}) or not self.lengths or self.lengths[0] < 1:
            raise ValueError(f"the lengths of a search ascend from 1 or more, unlike {self.lengths}")
        if self.most < 1:
            raise ValueError("a search has at least one step a length")
        if self.refine and self.resolution is not None and self.resolution < self.finest:
            raise ValueError(f"a resolution of {self.resolution} leaves more than {MOST_CANDIDATES} lengths to search")

    @property
    def finest(self) -> int:
        """The smallest resolution by which no two neighbouring lengths have more than `MOST_CANDIDATES` between."""
        return max((-(-(high - low) // (MOST_CANDIDATES + 1)) for low, high in pairwise(self.lengths)), default=1)

    @property
    def bar(self) -> Bar:
        """What a mean is compared with."""
        return Bar(level=self.threshold, is_share=self.relative)

    def ladder_alpha(self, length: int) -> float:
        """The error that this length of the ladder may make; those that were not added share one."""
        later = self.added.index(length) + 1 if length in self.added else 0
        return self.alpha * (LADDER if self.refine else 1.0) / 2.0**later

    @property
    def bracket_alpha(self) -> float:
        """The error that the bracket may make."""
        return self.alpha * (1.0 - LADDER)

    @property
    def added_alpha(self) -> float:
        """The error that the added lengths may make, beside alpha."""
        return math.fsum(map(self.ladder_alpha, self.added))

    def ladder_at(self, length: int) -> float:
        """The log e-value at which a length of the ladder passes."""
        return -math.log(self.ladder_alpha(length))

    @property
    def bracket_at(self) -> float:
        """The log e-value at which a candidate in a bracket is shown."""
        return -math.log(self.bracket_alpha)

    def candidates(self, low: int, high: int) -> tuple[int, ...]:
        """The lengths between two that are searched."""
        step = self.resolution or max(1, (high - low) // PARTS)
        return tuple(range(low + step, high, step))


class SearchPath:
    """A search as far as it is answered. What its attributes hold is replaced and never changed in place."""

    def __init__(self, design: SearchDesign, limits: Mapping[int, int | None]) -> None:
        self.design, self.limits, self.bar = design, limits, design.bar
        self.ladder = design.lengths
        self.ends: Mapping[int, End] = {}
        self.evidence: Mapping[int, Evidence] = {}
        self.scores: Mapping[int, tuple[float, float]] = {}
        """By length, the sum of the scores and how many there are."""
        self.repeats: Mapping[int, int] = {}
        """By length, steps whose scores are not among these."""
        self.pairs = 0
        """Steps that were compared with one of the baseline."""
        self.baseline = _BASELINE_BEFORE
        """The sum and number of the baseline's scores that bets may know of."""
        self.candidates: tuple[int, ...] = ()
        self.logs = self.highest = np.zeros(0)
        """Of each candidate the log of the product of its bets, now and at its highest."""
        self.posterior = Posterior.of(curves_of(design.lengths[0], design.lengths[-1]), {})
        self.at = self._next_length()
        """The length of the next step; None at the end."""

    def copied(self) -> SearchPath:
        """Another path that goes on from here."""
        return copy.copy(self)

    def needs(self) -> tuple[Key, ...]:
        """The steps whose outcomes the path takes next; empty at its end."""
        if self.at is None:
            return ()
        own = (self.at, self.n(self.at))
        return ((self.ladder[0], self.pairs), own) if self._is_paired(self.at) else (own,)

    def expected(self) -> tuple[float, ...]:
        """The scores to expect of these steps."""
        if self.at is None:
            return ()
        mean = self.posterior.mean(self.at)
        return (self.base, mean) if self._is_paired(self.at) else (mean,)

    def take(self, outcomes: Sequence[Step]) -> None:
        """Go on by the outcomes of the steps that are needed."""
        if (length := self.at) is None:
            raise ValueError("the search is over")
        scores, is_repeat = scores_of(outcomes[-1]), any(isinstance(each, Repeat) for each in outcomes)
        if self.is_baseline(length):
            if is_repeat:
                self._use_up(length)
            else:
                self._count(length, scores)
            self.ends = {**self.ends, length: self._baseline_end(length, len(scores))}
        else:
            others = scores_of(outcomes[0]) if self._is_paired(length) else (1.0,)
            self._bet(length, scores, others, is_repeat=is_repeat)
            if is_repeat:
                self.repeats = {**self.repeats, length: self.repeats.get(length, 0) + 1}
            else:
                self._count(length, scores)
                if (mean := mean_of_known(scores)) is not None:
                    self.posterior = self.posterior.after(length, mean)
            if length not in self.candidates:
                self.ends = {**self.ends, length: self._end(length, len(scores))}
        self.at = self._next_length()

    def _count(self, length: int, scores: Sequence[Score]) -> None:
        """Sum up a step's scores; a text counts by the share of its samples that have one."""
        total, n = self.scores.get(length, _NONE)
        share = sum(score is not None for score in scores) / len(scores)
        self.scores = {**self.scores, length: (total + share * (mean_of_known(scores) or 0.0), n + share)}
        if self.is_baseline(length):
            self._use_up(length)

    def _use_up(self, length: int) -> None:
        """Count a step on which nothing is bet."""
        before = self._evidence_at(length)
        self.evidence = {**self.evidence, length: replace(before, n=before.n + 1)}

    def _evidence_at(self, length: int) -> Evidence:
        return self.evidence.get(length) or Evidence.before_any(self.bar)

    def _bet(self, length: int, scores: Sequence[Score], others: Sequence[Score], *, is_repeat: bool) -> None:
        """Bet on a step by what was known before it."""
        stake = self.bar.stake(self._stakable(self.posterior.mean(length)), self.base)
        score, baseline = bounds_of(scores), bounds_of(others)
        after = self._evidence_at(length).after(stake, score, baseline, is_repeat=is_repeat)
        self.evidence = {**self.evidence, length: after}
        if stake > 0.0 and length in self.candidates:
            reach = self.candidates.index(length) + 1
            logs = self.logs.copy()
            logs[:reach] += log_factor(self.bar, stake, score, baseline, is_repeat=is_repeat)
            self.logs, self.highest = logs, np.maximum(self.highest, logs)
        if self._is_paired(length):
            if not is_repeat:
                self._learn_of_baseline(others)
            self.pairs += 1

    def _learn_of_baseline(self, others: Sequence[Score]) -> None:
        """Learn of a step of the baseline, which no other pair will have."""
        if self.pairs >= self.n(self.ladder[0]):
            self._count(self.ladder[0], others)
        if (mean := mean_of_known(others)) is not None:
            self.baseline = self.baseline[0] + mean, self.baseline[1] + 1.0

    def _end(self, length: int, size: int) -> End:
        """How a length of the ladder stands after a look at it; steps have `size` samples."""
        design, evidence = self.design, self.evidence[length]
        passes_at = design.ladder_at(length)
        if evidence.log_above >= passes_at:
            return "passed"
        if evidence.log_below >= math.log(BELOW_AT):
            return "below"
        if not self.scores.get(length, _NONE)[1] and evidence.n * size >= MOST_WITHOUT_A_SCORE:
            return "unscorable"
        is_used_up = evidence.n >= design.most or self._is_hopeless(length)
        if is_used_up or (evidence.n >= SOONEST and evidence.log_expected(design.most) < passes_at):
            has_lost = self.scores.get(length, _NONE)[1] < evidence.n - self.repeats.get(length, 0)
            hoped = has_lost and evidence.log_expected(design.most, hoped=True) >= passes_at
            return "unscorable" if hoped else "given_up"
        return "open"

    def _is_hopeless(self, length: int) -> bool:
        (total, scored), n = self.scores.get(length, _NONE), self.n(length)
        return n >= HOPELESS_AFTER and total <= HOPELESS * scored and self.bar.at(self.base) >= HOPELESS_BELOW

    def _baseline_end(self, length: int, size: int) -> End:
        (total, scored), n = self.scores.get(length, _NONE), self.n(length)
        if scored >= BASELINE_SAMPLES and total > 0.0:
            return "baseline"
        if not scored and n * size >= MOST_WITHOUT_A_SCORE:
            return "unscorable"
        return "given_up" if n >= min(SOONEST, self.design.most) else "open"

    def _next_length(self) -> int | None:
        for place, length in enumerate(self.ladder):
            end = self.ends.get(length, "open")
            if end == "open" and length in self.limits:
                longest = self.limits[length]
                if longest is None or not (self.ladder[place - 1] if place else 0) < longest < length:
                    self.ends = {**self.ends, length: "too_long"}
                    return None
                self.ladder = (*self.ladder[:place], longest)
                return self._next_length()
            if end == "open":
                return length
            if end not in ("passed", "baseline"):
                return self._in_bracket(place) if end == "below" and self.design.refine and place else None
        return None

    def _in_bracket(self, place: int) -> int | None:
        """The next length in the bracket below a length of the ladder; None where none is worth its samples."""
        low, high = self.ladder[place - 1], self.ladder[place]
        if not self.candidates:
            self.candidates = self.design.candidates(low, high)
            self.logs = self.highest = np.zeros(len(self.candidates))
            curves = curves_of(self.design.lengths[0], self.design.lengths[-1], (low, high))
            self.posterior = Posterior.of(curves, self.posterior.seen)
        worth = [(value, length) for value, length, more in self.offers() if more <= self.left(length)]
        value, length = max(worth, default=(0.0, 0))
        return length if value > 0.0 else None

    def offers(self) -> list[tuple[float, int, float]]:
        """What each candidate beyond the cap is worth in tokens, the candidate, and the steps that would show it."""
        shown, needed, offers = self.shown(), math.inf, []
        chances = self.posterior.good(self.candidates, self.bar.at(self.base)) if self.candidates else []
        for place, (length, (chance, mean)) in enumerate(zip(self.candidates, chances, strict=True)):
            if place < shown:
                continue
            if self.highest[place] < self.design.bracket_at:
                needed = min(needed, float(self.logs[place]))
            if chance >= LEAST_CHANCE and length not in self.limits:
                more = self.more(self.design.bracket_at - needed, mean)
                worth = chance * WORTH * math.log2(length / self.longest_passed())
                offers.append(((worth - more) * length, length, more))
        return offers

    def more(self, lacks: float, mean: float) -> float:
        """Steps that raise a log e-value by what it lacks, at this mean; infinite where none do."""
        growth = self.bar.growth(self._stakable(mean), self.base)
        return lacks / growth if growth > 0.0 else math.inf

    def shown(self) -> int:
        """How many candidates are shown above the bar, from the shortest on."""
        reached = self.highest >= self.design.bracket_at
        return len(reached) if reached.all() else int(reached.argmin())

    def longest_passed(self) -> int:
        """The longest length that passed, candidates included, or the baseline; 0 without one."""
        if shown := self.shown():
            return self.candidates[shown - 1]
        return max((length for length, end in self.ends.items() if end in ("passed", "baseline")), default=0)

    @property
    def base(self) -> float:
        """What is expected of the baseline; 1 where there is none."""
        return self.baseline[0] / self.baseline[1] if self.design.relative else 1.0

    def is_baseline(self, length: int) -> bool:
        """Whether others are compared with this length."""
        return self.design.relative and length == self.ladder[0]

    def n(self, length: int) -> int:
        """Steps of a length that counted."""
        return self.evidence[length].n if length in self.evidence else 0

    def left(self, length: int) -> int:
        """Steps that may still be asked there; those of a bracket are counted together."""
        return self.design.most - sum(map(self.n, self.candidates if length in self.candidates else (length,)))

    def _is_paired(self, length: int) -> bool:
        return self.design.relative and length != self.ladder[0]

    def _stakable(self, mean: float) -> float:
        """A mean, no nearer to 1 than a bet may stake on."""
        bar = self.bar.at(self.base)
        return min(mean, bar + MOST_STAKED * (1.0 - bar))


def scores_of(step: Step) -> tuple[Score, ...]:
    """The scores of a step's samples."""
    if isinstance(step, Repeat):
        return step.scores
    return step if isinstance(step, tuple) else (step,)
