"""The search of a run: its answered samples as the steps of `safe_cap_search`, and what that finds as a record.

A run that was killed, one that asked ahead and an analysis of stored answers decide alike: a step counts when the path
of the search comes to it, whenever it was answered.

- Evidence counts once: a step is a repeat where each of its samples was counted before, be it the same question or the
  same answer to the same prompt, and counts against a claim alone. A server that ignores the seed, and a task with few
  different prompts, show no more by more samples.
- A length that the server refused as too long and named its window, or whose prompts it cut in silence, ends the range:
  the longest prompt that fits takes its place. Whether prompts were cut is told by the server's counts
  (`server_counts.py`). It may be seen late, from shorter lengths; the path is then followed anew."""

from __future__ import annotations

import copy
from collections import ChainMap, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from contextcliff.analysis.server_counts import PromptCount, is_cut, prompt_counts
from contextcliff.records.generation import NOT_SENT, OVERFLOW, TRUNCATED, ScoredSample
from contextcliff.records.sample import Sample, same_length
from contextcliff.records.search_record import (
    PASSED,
    Advice,
    Asked,
    Decision,
    Ending,
    Key,
    Search,
    SearchPlan,
    SearchRule,
    TestedLength,
)
from contextcliff.statistics.betting import Repeat, Score
from contextcliff.statistics.descriptive import mean_of_known

if TYPE_CHECKING:
    from contextcliff.analysis.safe_cap_search import Standing
    from contextcliff.analysis.search_path import End, SearchDesign

MOST = 2_000
"""Steps at a length; a search that needs more is not practical."""
_COUNTS_FOR_CUT = 3
"""Prompts of a length that are counted before it may be taken for cut, if it is not decided earlier."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepScores:
    """The scores of one answered step: of a sample, or of all samples of a text."""

    scores: tuple[Score, ...]
    pieces: tuple[Hashable, ...] = ()
    """What names each sample's evidence; None for one without an answer."""
    is_too_long: bool = False
    """Whether the server refused a sample as too long, or cut it."""
    window_tokens: int | None = None
    """The context window that it named as it did; None if unknown."""
    counts: tuple[PromptCount, ...] = ()
    """The prompts of the samples with a score, as the server counted them."""

    @property
    def score(self) -> float | None:
        """The mean of those that are scored; None without one."""
        return mean_of_known(self.scores)

    def adds_to(self, seen: set[Hashable]) -> bool:
        """Whether some of its evidence was not `seen` at its length before; all of it is from now on."""
        is_new = not self.pieces or any(piece is None or piece not in seen for piece in self.pieces)
        seen.update(self.pieces)
        return is_new


Steps = Mapping[Key, StepScores]
"""By length in tokens and number."""


def step_key(sample: Sample) -> Key | None:
    """The step that a sample belongs to; None where its length has a fixed number of samples."""
    return None if sample.step is None else (sample.context_tokens, sample.step)


def step_scores(samples: Sequence[ScoredSample]) -> StepScores:
    """The scores of one complete step."""
    return StepScores(
        scores=tuple(item.score for item in samples),
        pieces=tuple(item.piece if item.score is not None else None for item in samples),
        is_too_long=any(item.failure in (OVERFLOW, TRUNCATED) for item in samples),
        window_tokens=min((item.window_tokens for item in samples if item.window_tokens is not None), default=None),
        counts=prompt_counts(samples),
    )


def complete_steps(scored: Iterable[ScoredSample], plan: SearchPlan) -> dict[Key, StepScores]:
    """The scores of every step of which each sample has an outcome, be it a score or a failure to get one."""
    steps: defaultdict[Key, list[ScoredSample]] = defaultdict(list)
    for item in scored:
        key = step_key(item.sample)
        if key is not None and item.failure != NOT_SENT:
            steps[key].append(item)
    return {key: step_scores(samples) for key, samples in sorted(steps.items()) if len(samples) == plan.step_samples}


def design_of(plan: SearchPlan, rule: SearchRule) -> SearchDesign:
    """What is searched for a plan and a rule."""
    from contextcliff.analysis.search_path import SearchDesign  # imported late, since it loads numpy

    return SearchDesign(
        lengths=plan.lengths, threshold=rule.threshold, alpha=rule.alpha, most=plan.most_steps, refine=plan.refine,
        resolution=plan.resolution, relative=rule.relative, added=plan.added,
    )  # fmt: skip


class Path:
    """The way of a search along its answered steps, as far as they go."""

    def __init__(self, plan: SearchPlan, rule: SearchRule) -> None:
        self.plan, self.rule = plan, rule
        self.cut: set[int] = set()
        """Lengths whose prompts the server cut in silence, by its counts: their scores do not count."""
        self._begin()

    def _begin(self) -> None:
        from contextcliff.analysis.safe_cap_search import SafeCapSearch

        self._search = SafeCapSearch(design_of(self.plan, self.rule))
        self._asked: list[Asked] = []
        self._pieces: defaultdict[int, set[Hashable]] = defaultdict(set)
        self._counts: defaultdict[int, list[PromptCount]] = defaultdict(list)
        self._refused: dict[int, int] = {}
        """Lengths beyond what the server takes, and how many steps showed it."""

    def follow(self, steps: Steps) -> tuple[Key, ...]:
        """Go on as far as there are answers. Returns the steps that are needed next; none at the end."""
        while keys := self._search.needed():
            length, number = keys[0]
            step = steps.get(keys[0])
            if step is None:
                return keys
            window = step.window_tokens if step.is_too_long else None
            if length in self.cut:
                window = min(count.counted for count in step.counts) if step.counts else 0
            if window is not None:
                self._refused[length] = number + 1
                self._search.too_long(length, self._longest(length, window))
                continue
            self._counts[length] += step.counts
            is_new = step.adds_to(self._pieces[length])
            self._asked.append(Asked(context_tokens=length, score=step.score if is_new else None))
            self._search.tell(length, [step.scores if is_new else Repeat(step.scores)], first=number)
            # A length that was decided may be seen to be cut by the counts of shorter ones that are asked after it.
            cut = {longer for longer in self._counts if longer >= length and self._is_cut(longer)}
            if cut:
                self.cut |= cut
                self._begin()
        return ()

    def ahead(self, steps: Steps, *, most: int) -> tuple[Key, ...]:
        """At most so many steps without an answer: what is needed now, and then what is likely to be after it."""
        self.follow(steps)
        return tuple(key for key in self._search.next(most) if key not in steps)

    def played(self, steps: Steps, answer: Callable[[Key], StepScores]) -> tuple[Path, tuple[Key, ...]]:
        """The path to its end, and the steps that it asks for, if each of these has the given outcome."""
        path, made = self._copied(), dict[Key, StepScores]()
        while keys := path.follow(ChainMap(made, steps)):  # type: ignore[arg-type]  # it is only read
            made |= {key: answer(key) for key in keys}
        return path, tuple(made)

    def _copied(self) -> Path:
        path = copy.copy(self)
        path.cut, path._refused = {*self.cut}, {**self._refused}
        path._asked, path._search = [*self._asked], self._search.copied()
        path._pieces = defaultdict(set, {length: {*pieces} for length, pieces in self._pieces.items()})
        path._counts = defaultdict(list, {length: [*counts] for length, counts in self._counts.items()})
        return path

    @property
    def cap_tokens(self) -> int | None:
        """The longest length that is shown safe; None without one."""
        return self._search.answer.cap

    @property
    def used(self) -> frozenset[Key]:
        """The steps that the decisions rest on, refusals among them."""
        refused = ((length, number) for length, n in self._refused.items() for number in range(n))
        return frozenset((*self._search.counted, *refused))

    @property
    def search(self) -> Search:
        """How the search went, as far as it was followed."""
        answer = self._search.answer
        climbed = [self._tested(each) for each in answer.ladder]
        refused = [
            TestedLength(context_tokens=length, decision="unscorable", steps=n, alpha=self.rule.alpha)
            for length, n in self._refused.items()
        ]
        first = {asked.context_tokens: place for place, asked in reversed([*enumerate(self._asked)])}
        between = [self._tested(each, ended=answer.stopped != "under_way") for each in answer.bracket if each.n]
        helps = answer.would_help
        advice = None
        if helps is not None and helps.more is not None and helps.chance is not None:
            advice = Advice(
                context_tokens=helps.context_tokens, samples=helps.more * self.plan.step_samples, chance=helps.chance
            )
        between.sort(key=lambda each: first[each.context_tokens])
        return Search(
            plan=self.plan, tested=(*climbed, *refused, *between), is_open=answer.stopped == "under_way",
            path=tuple(self._asked), advice=advice,
        )  # fmt: skip

    def _tested(self, standing: Standing, *, ended: bool = False) -> TestedLength:
        decision: Decision = _DECISIONS[standing.end]
        ending: Ending = ""
        if decision == "open" and standing.refined and ended:
            decision, ending = "unsettled", "not_worth_it"
        elif decision == "unsettled":
            ending = "max_trials" if standing.n >= self.plan.most_steps else "given_up"
        design = self._search.design
        return TestedLength(
            context_tokens=standing.context_tokens, decision=decision, steps=standing.n,
            alpha=design.bracket_alpha if standing.refined else design.ladder_alpha(standing.context_tokens),
            e_above=standing.e_above, e_below=standing.e_below, refined=standing.refined, ending=ending,
        )  # fmt: skip

    def _is_cut(self, length: int) -> bool:
        """Whether the server cut a length, by the counts so far; asked early, and again when it is decided."""
        needed = self._search.needed()
        if len(self._counts[length]) < _COUNTS_FOR_CUT and any(key[0] == length for key in needed):
            return False
        shorter = [counts for tokens, counts in self._counts.items() if tokens < length]
        return is_cut(self._counts[length], shorter)

    def _longest(self, length: int, window: int) -> int | None:
        """The longest prompt that fits the window of a server, by its counts of the longest length before."""
        before = [tokens for tokens, counts in self._counts.items() if tokens < length and counts]
        low = max(before, default=0)
        if not low:
            return None
        counts = self._counts[low]
        # A count above ours may be due to what the server adds to each prompt.
        rate = sum(count.counted for count in counts) / sum(count.built for count in counts)
        longest = min(length - 1, low + int((window - low * rate) / min(1.0, rate)))
        return None if longest <= low or same_length(low, longest) else longest


_DECISIONS: Mapping[End, Decision] = {
    "baseline": "baseline",
    "passed": "passed",
    "below": "below",
    "given_up": "unsettled",
    "unscorable": "unscorable",
    "too_long": "unscorable",
    "open": "open",
}


def perfect(plan: SearchPlan) -> StepScores:
    """A step in which every answer is the best possible."""
    return StepScores(scores=(1.0,) * plan.step_samples)


def fewest_steps(plan: SearchPlan, rule: SearchRule) -> int:
    """Steps of a length by which the best possible answers pass; the most where even they do not."""
    lengths = plan.lengths[:2] if rule.relative else plan.lengths[:1]
    path, _ = Path(replace(plan, lengths=lengths), rule).played({}, lambda _: perfect(plan))
    tested = path.search.of(lengths[-1])
    return max(1, tested.steps) if tested is not None and tested.decision in PASSED else plan.most_steps
