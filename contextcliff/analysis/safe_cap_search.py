"""The search of the safe cap, sample by sample, as a function of the answers: no input or output, no clock, no chance.

The ladder goes up from the shortest length. A length passes, is shown below, or ends undecided; the first that does not
pass ends the ladder. If it is below, the bracket between it and the last one that passed is searched. A sample there
bets for its own length and for all shorter candidates: where the score does not rise, they are above the bar if it is.

Why the cap errs with a chance of at most alpha. Bets are fixed before their sample is scored, whatever chose them. The
ladder has `LADDER` of alpha: passes are free, and only the first length whose mean is not above the bar can pass
wrongly, on samples of its own. A length that was added where longer ones had been answered can be one by itself. The
bracket has the rest, on samples of its own: only the first candidate whose mean is not above the bar can be wrong, and
its product bets on lengths that are then not above it either. Where the score rises with length inside the bracket, the
claim is about the mean over what was asked from a candidate on.

A posterior (`posterior.py`) chooses each bet and each next length and decides nothing.

Samples count in the order in which the path needs them, never in that of arrival: what was asked ahead waits. A search
that is told the same answers in any order, at once or one by one, stands the same."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from contextcliff.analysis.search_path import End, SearchDesign, SearchPath, Step, scores_of
from contextcliff.records.search_record import Key
from contextcliff.statistics.betting import bounds_of, e_value_of

LIKELY = 0.4
"""Chance of a path down to which its samples are asked ahead."""

Stopped = Literal[
    "under_way", "whole_range", "below", "given_up", "unscorable", "too_long", "max_trials", "not_worth_it"
]
"""Why a search ended: how the last length of its ladder ended; of one with a bracket, that a candidate is worth more
samples than it may have (`max_trials`), or none is worth those that it takes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """How one length stands: of the ladder, or a candidate in the bracket."""

    context_tokens: int
    end: End
    """Of a candidate `passed`, `given_up` where its samples can't be enough, or `open`."""
    n: int
    """Steps that counted."""
    scored: float
    """Of these, those with a score; of a text the share of its samples that have one."""
    mean: float | None
    """Of the scores; None without one."""
    e_above: float
    """Of a candidate, by the samples of the bracket at this length and beyond, at its highest."""
    e_below: float
    refined: bool
    """Whether it lies in the bracket."""
    chance: float | None = None
    """By the curves, that its mean is above the bar; None where that is decided."""
    more: int | None = None
    """Steps that would show it if it is; None where it is decided, or less likely than is worth a sample."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchAnswer:
    """What a search claims, as far as it came."""

    cap: int | None
    """The longest length shown safe, in tokens; None without one. A baseline alone is none."""
    stopped: Stopped
    ladder: tuple[Standing, ...]
    """The lengths that were looked at, from the shortest."""
    bracket: tuple[Standing, ...]
    """The candidates between the last length that passed and the first that is below, ascending."""
    would_help: Standing | None
    """The length at which more samples are worth the most; None where none would help."""


class SafeCapSearch:
    """A search under way: `next` says what it needs, `tell` and `too_long` take answers, `answer` is what it claims."""

    def __init__(self, design: SearchDesign) -> None:
        self.design = design
        self._told: dict[int, dict[int, Step]] = {}
        self._limits: dict[int, int | None] = {}
        self._begin()

    def next(self, most: int = 1) -> tuple[Key, ...]:
        """At most so many steps that have no outcome yet: what is needed now, and then what is likely to be after it.

        The first is needed whatever comes (of a pair, what it lacks of both). The others are those of the path on which
        each outcome is the likelier one, as long as its chance is at least `LIKELY`. Empty at the end."""
        path, chance, wanted = self._path, 1.0, dict[Key, None]()
        while len(wanted) < most and chance >= LIKELY and (keys := path.needs()):
            path = path.copied() if path is self._path else path
            outcomes: list[Step] = []
            for key, expected in zip(keys, path.expected(), strict=True):
                if self._is_told(key):
                    outcomes.append(self._told[key[0]][key[1]])
                else:
                    wanted[key] = None
                    chance *= max(expected, 1.0 - expected)
                    outcomes.append(float(expected >= 0.5))
            path.take(outcomes)
        return tuple(wanted)[:most]

    def tell(self, length: int, scores: Sequence[Step], first: int | None = None) -> None:
        """Take the outcomes of the steps `first`, `first` + 1, … of a length; if None, those behind the ones told.

        An outcome is final: a score that came later is told to a new search, with all others. Raises ValueError for one
        that differs from what was told, and for a score outside [0, 1]."""
        told = self._told.setdefault(length, {})
        for number, step in enumerate(scores, start=len(told) if first is None else first):
            bounds_of(scores_of(step))
            if told.setdefault(number, step) != step:
                raise ValueError(f"step {number} at {length:,} tokens has another outcome; begin a new search")
        self._advance()

    def too_long(self, length: int, longest: int | None = None) -> None:
        """Take it that a length is more than the server takes; `longest` is the longest that fits, None if unknown. The
        ladder then ends with `longest`, and the path is gone again, by all answers."""
        self._limits[length] = longest
        self._begin()
        self._advance()

    def needed(self) -> tuple[Key, ...]:
        """The steps without an outcome that are needed whatever comes; empty at the end."""
        return tuple(key for key in self._path.needs() if not self._is_told(key))

    def copied(self) -> SafeCapSearch:
        """A search that goes on from here by itself."""
        other = copy.copy(self)
        other._told, other._limits = {length: {**told} for length, told in self._told.items()}, {**self._limits}
        other._path, other._counted = self._path.copied(), [*self._counted]
        return other

    @property
    def counted(self) -> tuple[Key, ...]:
        """The steps that the answer rests on, in the order of the path; what was told beside them was not needed."""
        return tuple(dict.fromkeys(self._counted))

    @property
    def answer(self) -> SearchAnswer:
        """What is claimed by the outcomes so far."""
        path = self._path
        stopped = _stopped(path)
        ladder = tuple(_rung(path, length) for length in path.ladder if length in path.ends or length == path.at)
        bracket = _bracket(path, is_over=path.at is None) if path.candidates else ()
        worth = {length: value for value, length, _ in path.offers()} if path.candidates else {}
        open_ones = [each for each in (*ladder, *bracket) if each.more is not None]
        cap = path.longest_passed()
        return SearchAnswer(
            cap=None if not cap or path.is_baseline(cap) else cap, stopped=stopped, ladder=ladder, bracket=bracket,
            would_help=max(open_ones, key=lambda each: worth.get(each.context_tokens, 0.0), default=None),
        )  # fmt: skip

    def _begin(self) -> None:
        self._path = SearchPath(self.design, self._limits)
        self._counted: list[Key] = []

    def _advance(self) -> None:
        while (keys := self._path.needs()) and all(map(self._is_told, keys)):
            self._path.take([self._told[length][number] for length, number in keys])
            self._counted += keys

    def _is_told(self, key: Key) -> bool:
        return key[1] in self._told.get(key[0], ())


def _stopped(path: SearchPath) -> Stopped:
    if path.at is not None:
        return "under_way"
    if path.candidates:
        return "max_trials" if any(value > 0.0 for value, *_ in path.offers()) else "not_worth_it"
    ends = (end for end in path.ends.values() if end not in ("passed", "baseline"))
    return cast(Stopped, next(ends, "whole_range"))


def _rung(path: SearchPath, length: int) -> Standing:
    end = path.ends.get(length, "open")
    found, chance, more = path.evidence.get(length), None, None
    if found is not None and end in ("given_up", "unscorable", "open") and not path.is_baseline(length):
        ((chance, mean),) = path.posterior.good((length,), path.bar.at(path.base))
        more = _whole(path.more(max(0.0, path.design.ladder_at(length) - found.log_above), mean))
    return _standing(path, length, end, 0.0 if found is None else found.log_above, False, chance, more)


def _bracket(path: SearchPath, *, is_over: bool) -> tuple[Standing, ...]:
    more_of = {length: _whole(more) for _, length, more in path.offers()}
    chances = path.posterior.good(path.candidates, path.bar.at(path.base))
    standings = []
    for place, (length, (chance, _)) in enumerate(zip(path.candidates, chances, strict=True)):
        is_shown, more = place < path.shown(), more_of.get(length)
        is_used_up = is_over and more is not None and more > path.left(length)
        end: End = "passed" if is_shown else "given_up" if is_used_up else "open"
        log_above = float(path.highest[place])
        standings.append(_standing(path, length, end, log_above, True, None if is_shown else chance, more))
    return tuple(standings)


def _standing(
    path: SearchPath, length: int, end: End, log_above: float, refined: bool, chance: float | None, more: int | None
) -> Standing:
    total, scored = path.scores.get(length, (0.0, 0.0))
    found = path.evidence.get(length)
    return Standing(
        context_tokens=length, end=end, n=path.n(length), scored=scored, mean=total / scored if scored else None,
        e_above=e_value_of(log_above), e_below=1.0 if found is None else e_value_of(found.log_below), refined=refined,
        chance=chance, more=more,
    )  # fmt: skip


def _whole(steps: float) -> int | None:
    return math.ceil(steps) if math.isfinite(steps) else None
