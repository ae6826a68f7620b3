"""Before anything is sent: what a search is expected to ask, and the cap that the best possible answers would give.

What a search is expected to ask is played: so many searches of a model with a known score, by the product's own search.
A text that several samples share is right or wrong as a whole, which is the hardest case."""

from __future__ import annotations

import bisect
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from contextcliff.analysis.analyse import sequence_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.bins import group
from contextcliff.analysis.lengths import LengthResult, if_perfect, in_as_many_texts, planned_at
from contextcliff.analysis.reason import fewest_all_right, threshold_name
from contextcliff.analysis.search import MOST, Path, Steps, StepScores, fewest_steps
from contextcliff.analysis.walk import (
    AbsoluteThreshold,
    FixedSequenceTest,
    RelativeThreshold,
    SearchThreshold,
    Threshold,
)
from contextcliff.records.amounts import Quantity
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import Note
from contextcliff.records.sample import Sample
from contextcliff.records.search_record import BASELINE_SAMPLES, PASSED, Key, Search
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.intervals import binomial_above

PLAYS = 20
"""Searches that an expectation is the mean of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """What to expect of a search."""

    steps: Mapping[int, float]
    """By length, steps that are not answered yet."""
    whole_range: float
    """Chance that the longest length is shown above the threshold."""


def expected(path: Path, steps: Steps, score_at: Callable[[int], float], *, plays: int = PLAYS) -> Forecast:
    """What to expect of a search that has these answers, of a model with these true scores."""
    asked: Counter[int] = Counter()
    whole = 0
    for play in range(plays):
        rng = random.Random(play)

        def answer(key: Key, rng: random.Random = rng) -> StepScores:
            right = float(rng.random() < score_at(key[0]))
            return StepScores(scores=(right,) * path.plan.step_samples)

        end, keys = path.played(steps, answer)
        asked.update(length for length, _ in keys)
        last = end.search.of(path.plan.lengths[-1])
        whole += last is not None and last.decision in PASSED
    return Forecast(steps={length: n / plays for length, n in asked.items()}, whole_range=whole / plays)


def most_steps(path: Path, steps: Steps) -> Mapping[int, int]:
    """Steps at each length, beyond those that are answered, if every length of the climb takes all that it may, and
    the bracket below the last one too."""
    if not path.follow(steps):
        return {}
    decided = {each.context_tokens for each in path.search.tested if each.decision != "open"}
    seen = Counter(length for length, _ in path.used)
    plan = path.plan
    most = {length: plan.most_steps - seen[length] for length in plan.lengths if length not in decided}
    if plan.refine and len(plan.lengths) > 1:
        most[sum(plan.lengths[-2:]) // 2] = plan.most_steps
    return most


@dataclass(frozen=True, kw_only=True, slots=True)
class BestCase:
    """The walk of a perfect model over the planned samples."""

    sequence: FixedSequenceTest
    threshold: Threshold
    """Without the decisions of a search."""
    asked: float
    """The threshold as it is configured."""
    confidence: float
    search: Search | None
    is_shown: Callable[[LengthResult], bool]
    """Whether a length is shown above the threshold."""

    @property
    def is_enough(self) -> bool:
        """Whether a perfect model's cap is the whole range, and more than the baseline that it is a share of."""
        return self.sequence.stop is None and not self.is_baseline_alone

    @property
    def is_baseline_alone(self) -> bool:
        """Whether no length is left that could be compared with the baseline."""
        return isinstance(self.threshold, RelativeThreshold) and len(self.threshold.members) == len(
            self.sequence.results
        )

    @property
    def has_shared_draws(self) -> bool:
        """Whether samples there are one draw (temperature 0, or a seed for all), so that more of them show no more."""
        return self._at.noun == "distinct samples"

    def needed(self) -> Note | None:
        """The fewest samples of a length that could show it, in texts as now; None where no number could."""
        if self.search is not None and (rule := self.search.plan.rule) is not None:
            plan = replace(self.search.plan, most_steps=MOST)
            steps = fewest_steps(plan, rule)
            fewest = None if steps >= MOST else steps * plan.step_samples
        else:
            fewest = fewest_all_right(self._at, self.threshold, self.asked, self.confidence)
        return None if fewest is None else in_as_many_texts(self._at, fewest, each_length=True)

    @property
    def _at(self) -> LengthResult:
        return self.sequence.stop or self.sequence.results[-1]

    def shortfall(self) -> Note:
        """What cap is out of reach and why. The best case must not be enough."""
        sequence, threshold = self.sequence, self.threshold
        if self.is_baseline_alone and sequence.cleared:
            return Note("no safe cap can be tested: there is no length beyond the baseline to compare with it")
        if sequence.cleared == 0 and isinstance(threshold, RelativeThreshold):
            return Note(
                "no safe cap is possible: {planned} at the shortest length {n:is/are} no baseline, which takes at least"
                " {fewest}",
                planned=planned_at(threshold.baseline), n=threshold.baseline.planned, fewest=BASELINE_SAMPLES,
            )  # fmt: skip
        tested = (
            sequence.results[len(threshold.members) :] if isinstance(threshold, RelativeThreshold) else sequence.results
        )
        failing = [result for result in tested if not self.is_shown(result)]
        if len(failing) == len(tested):
            return Note("no safe cap is possible: {short}", short=self._short(self._at, each_length=True))
        cap, others = sequence.cap_tokens, len(failing) - 1
        return Note(
            "no safe cap{beyond} is possible: at {tokens:,} tokens {short}{others}",
            beyond="" if cap is None else Note(" beyond {tokens:,} tokens", tokens=cap),
            tokens=failing[0].bin.median_tokens,
            short=self._short(failing[0]),
            others=Note(", nor those at {n:longer lengths}", n=others) if others else "",
        )

    def _short(self, result: LengthResult, *, each_length: bool = False) -> Note:
        """That the samples of a length cannot show the threshold."""
        threshold = self.threshold
        return Note(
            "{planned} cannot show {threshold} at {confidence:percent} confidence even if {perfect}",
            planned=planned_at(result, each_length=each_length),
            threshold=threshold_name(self.asked, threshold, in_full=False),
            confidence=self.confidence,
            perfect=if_perfect(result, threshold.quantity),
        )


def best_case(
    planned: Sequence[Sample],
    settings: AnalysisSettings,
    *,
    designed_lengths: bool,
    relative_by_default: bool,
    search: Search | None = None,
    quantity: Quantity = "score",
) -> BestCase:
    """Test at least one planned sample, every one of them at 1, in the score or another `quantity`. `search` is that of
    a perfect model; None for a fixed design."""
    scored = [
        ScoredSample(
            sample=sample, prompt_sha256="", score=1.0, failure=None, prediction="", generation=None,
            details={quantity: 1.0},
        )
        for sample in planned
    ]  # fmt: skip
    groups = group(scored, designed_lengths=designed_lengths, bins=settings.bins)
    relative = settings.is_relative(by_default=relative_by_default)
    sequence, threshold = sequence_of(groups, settings, relative=relative, search=search, quantity=quantity)
    return BestCase(
        sequence=sequence, threshold=threshold.asked if isinstance(threshold, SearchThreshold) else threshold,
        asked=settings.threshold, confidence=settings.confidence,
        search=search,
        is_shown=threshold.is_shown_above,
    )  # fmt: skip


def chance_to_clear(planned: LengthResult, threshold: Threshold, rate: float) -> float | None:
    """For independent 0/1 scores with a true score of `rate`: exact, by the test that the cap is made with. None where
    samples share texts or the threshold is a share of the baseline: the chance depends on these."""
    if planned.sharing or not isinstance(threshold, AbsoluteThreshold):
        return None
    n = planned.planned

    def right_of(right: int) -> Evidence:
        return Evidence(scores=(0.0,) * (n - right) + (1.0,) * right, binary=True)

    fewest = bisect.bisect_left(
        range(n + 1), True, key=lambda right: threshold.could_be_shown_above(planned, right_of(right))
    )
    return binomial_above(fewest - 1, n, rate)
