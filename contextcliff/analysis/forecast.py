"""Before anything is sent: what a search is expected to ask, and the cap that the best possible answers would give.

The chances are those of the search's own tests, exact for 0/1 scores against a fixed threshold, and drawn with a fixed
seed against a share of the baseline (`statistics/power.py`). A text that several samples share counts as one
sample that is right or wrong as a whole, which is the hardest case.
"""

from __future__ import annotations

import bisect
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from contextcliff.analysis.analyse import sequence_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.bins import group
from contextcliff.analysis.lengths import LengthResult, if_perfect, in_as_many_texts, planned_at
from contextcliff.analysis.reason import fewest_all_right, threshold_name
from contextcliff.analysis.search import (
    BASELINE_SAMPLES,
    BlockKey,
    BlockScores,
    alpha_of,
    follow,
    perfect_path,
    third_evidence,
)
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
from contextcliff.records.search_record import CLAIMS, PASSED, SearchPlan, SearchRule, TestedLength
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.intervals import binomial_above
from contextcliff.statistics.power import (
    SequentialPower,
    fewest_perfect,
    fewest_perfect_share,
    sequential_power,
    share_power,
)

RateAt = Callable[[int], float]
"""The true score of a model at a length in tokens."""
_NEGLIGIBLE = 1e-6
"""Branches of refining that are less likely than this are left out."""


def chance_to_pass(plan: SearchPlan, rule: SearchRule, rate: float) -> float:
    """Chance that the walk passes a length at which the true score is `rate`, as at the baseline if there is one."""
    return _power(plan, rule, rate, rate).above if plan.most_blocks else 0.0


def expected_blocks(
    plan: SearchPlan, rule: SearchRule, rate_at: RateAt, known: Mapping[BlockKey, BlockScores]
) -> Mapping[int, float]:
    """Blocks to expect at each length, those of `known` not counted.

    The shortest length of a relative threshold is paired with all others: it is counted as the one of them that is
    expected to take the most, which is slightly too few.
    """
    return _Forecast(plan=plan, rule=rule, rate_at=rate_at, known=known).blocks()


def most_blocks(plan: SearchPlan, rule: SearchRule, known: Mapping[BlockKey, BlockScores]) -> Mapping[int, int]:
    """Blocks at each length in the worst case by tokens, those of `known` not counted.

    Every length takes all that it may, up to the one at which the walk ends; refining then goes up all the way.
    """
    followed = follow(plan, rule, known)
    if not followed.wanted:
        return {}
    tested = {each.context_tokens: each for each in followed.search.tested}
    best, _ = perfect_path(plan, rule, known)
    in_reach = sum(each.decision in PASSED and not each.refined for each in best.tested)
    costs = [
        {length: plan.most_blocks - (tested[length].n_blocks if length in tested else 0) for length in lengths}
        for lengths in _paths(plan, rule, followed.search.tested, in_reach)
    ]
    return max(costs, key=lambda cost: sum(length * blocks for length, blocks in cost.items()), default={})


def _paths(plan: SearchPlan, rule: SearchRule, tested: Sequence[TestedLength], in_reach: int) -> list[tuple[int, ...]]:
    """The lengths that can be tested, as far as they are not decided, for each length at which the walk may end.

    `in_reach`: lengths of the walk that a perfect model passes.
    """
    passed = [each.context_tokens for each in tested if each.decision in PASSED]
    failed = [each.context_tokens for each in tested if each.decision in ("below", "unsettled", "unscorable")]
    if failed:
        walked = [each for each in tested if not each.refined]
        resolution = plan.resolution_between(walked[-2].context_tokens, walked[-1].context_tokens)
        return [_middles(max(passed), min(failed), resolution)]
    paths = []
    for position in range(len(passed), min(in_reach + 1, len(plan.lengths))):
        low, high = plan.lengths[max(0, position - 1)], plan.lengths[position]
        between = _middles(low, high, plan.resolution_between(low, high)) if plan.refine and position else ()
        # The lengths that passed are free, except that a baseline is asked again for each block that is paired with it.
        again = plan.lengths[:1] if rule.relative else ()
        paths.append((*again, *plan.lengths[max(len(passed), len(again)) : position + 1], *between))
    return paths


def _middles(low: int, high: int, resolution: int) -> tuple[int, ...]:
    """The lengths that refining tests if all of them pass."""
    middles = []
    while high - low > resolution:
        low = (low + high) // 2
        middles.append(low)
    return tuple(middles)


def _power(
    plan: SearchPlan,
    rule: SearchRule,
    rate: float,
    baseline: float,
    *,
    failures: int = 0,
    before: tuple[int, int] = (0, 0),
) -> SequentialPower:
    """Of the test of one length, in pieces of evidence; `before` are those that were seen and decided nothing."""
    alpha, below_at = alpha_of(plan, rule, failures=failures), 1.0 / (1.0 - rule.confidence)

    def of_part(size: int, below_at: float) -> SequentialPower:
        most, seen = size * plan.most_blocks, tuple(n * size // plan.block_evidence for n in before)
        if rule.relative:
            share = rule.threshold
            return share_power(
                rate, baseline, share=share, alpha=alpha, block=size, most=most, below_at=below_at,
                gives_up=failures > 0,
            )  # fmt: skip
        return sequential_power(
            rate, threshold=rule.threshold, alpha=alpha, block=size, most=most, below_at=below_at,
            before=(seen[0], seen[1]), gives_up=failures > 0,
        )  # fmt: skip

    sizes = third_evidence(plan) if rule.every_depth else ()
    if not sizes:
        return of_part(plan.block_evidence, below_at)
    return _of_all([(size, of_part(size, CLAIMS * below_at)) for size in sizes], plan.block_evidence)


def _of_all(parts: Sequence[tuple[int, SequentialPower]], block: int) -> SequentialPower:
    """Of thirds that share no sample and each have to clear, with the samples of one third in a block.

    The samples to expect are those of the slowest third by itself: a little fewer than until all are decided.
    """
    above = math.prod(power.above for _, power in parts)
    below = min(1.0 - above, 1.0 - math.prod(1.0 - power.below for _, power in parts))
    return SequentialPower(
        above=above, below=below, open=1.0 - above - below,
        expected_samples=max(power.expected_samples / size for size, power in parts) * block,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ends:
    """Chances that a length passes and that it is shown below, and the blocks that this takes."""

    passes: float
    below: float
    blocks: float


@dataclass(frozen=True, kw_only=True)
class _Forecast:
    plan: SearchPlan
    rule: SearchRule
    rate_at: RateAt
    known: Mapping[BlockKey, BlockScores]

    def blocks(self) -> Mapping[int, float]:
        asked: defaultdict[int, float] = defaultdict(float)
        chance, low = 1.0, None
        for length in self.plan.lengths:
            ends = self._ends(length)
            asked[length] += chance * ends.blocks
            if self.plan.refine and low is not None:
                resolution = self.plan.resolution_between(low, length)
                self._refine(low, length, resolution, 1, chance * ends.below, asked)
            chance, low = chance * ends.passes, length
        if self.rule.relative:
            first = self.plan.lengths[0]
            have = sum(key.context_tokens == first for key in self.known)
            asked[first] = max(asked[first], *(blocks - have for blocks in asked.values()))
        return dict(asked)

    def _refine(
        self, low: int, high: int, resolution: int, failures: int, chance: float, asked: defaultdict[int, float]
    ) -> None:
        if chance < _NEGLIGIBLE or high - low <= resolution:
            return
        middle = (low + high) // 2
        ends = self._ends(middle, failures=failures)
        asked[middle] += chance * ends.blocks
        self._refine(middle, high, resolution, failures, chance * ends.passes, asked)
        self._refine(low, middle, resolution, failures + 1, chance * (1.0 - ends.passes), asked)

    def _ends(self, length: int, *, failures: int = 0) -> _Ends:
        tested = self._tested.get(length)
        if tested is not None and tested.decision != "open":
            return _Ends(passes=float(tested.decision in PASSED), below=float(tested.decision == "below"), blocks=0.0)
        if not self.plan.most_blocks:
            return _Ends(passes=0.0, below=0.0, blocks=0.0)
        seen = 0 if tested is None else tested.n_blocks
        if self.rule.relative and length == self.plan.lengths[0]:
            return _Ends(passes=1.0, below=0.0, blocks=max(1, -(-BASELINE_SAMPLES // self.plan.block) - seen))
        rate, baseline = self.rate_at(length), self.rate_at(self.plan.lengths[0])
        power = _power(self.plan, self.rule, rate, baseline, failures=failures, before=self._before(length, seen))
        blocks = power.expected_samples / self.plan.block_evidence - seen
        return _Ends(passes=power.above, below=power.below, blocks=max(1.0, blocks))

    def _before(self, length: int, seen: int) -> tuple[int, int]:
        """Pieces of evidence seen at a length, and how many of them count as right."""
        blocks = [self.known[BlockKey(context_tokens=length, index=index)] for index in range(seen)]
        return seen * self.plan.block_evidence, math.floor(
            math.fsum(score or 0.0 for block in blocks for score in block.scores)
        )

    @cached_property
    def _tested(self) -> Mapping[int, TestedLength]:
        return {each.context_tokens: each for each in follow(self.plan, self.rule, self.known).search.tested}


@dataclass(frozen=True, kw_only=True, slots=True)
class BestCase:
    """The walk of a perfect model over the planned samples."""

    sequence: FixedSequenceTest
    threshold: Threshold
    """Without the decisions of a search."""
    asked: float
    """The threshold as it is configured."""
    confidence: float
    search: tuple[SearchPlan, SearchRule] | None
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
        if self.search is None:
            fewest = fewest_all_right(self._at, self.threshold, self.asked, self.confidence)
        else:
            plan, fewest = self.search[0], fewest_of_search(*self.search)
            fewest = None if fewest is None else fewest // plan.block_evidence * plan.block
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
    search: tuple[SearchPlan, SearchRule] | None = None,
    quantity: Quantity = "score",
) -> BestCase:
    """Test at least one planned sample, every one of them at 1, in the score or another `quantity`.

    Of a search, `planned` are the blocks that a perfect model is asked.
    """
    scored = [
        ScoredSample(
            sample=sample, prompt_sha256="", score=1.0, failure=None, prediction="", generation=None,
            details={quantity: 1.0},
        )
        for sample in planned
    ]  # fmt: skip
    groups = group(scored, designed_lengths=designed_lengths, bins=settings.bins)
    relative = settings.is_relative(by_default=relative_by_default)
    decided = None
    if search is not None:
        decided, _ = perfect_path(*search, {})
    sequence, threshold = sequence_of(groups, settings, relative=relative, search=decided, quantity=quantity)
    return BestCase(
        sequence=sequence, threshold=threshold.asked if isinstance(threshold, SearchThreshold) else threshold,
        asked=settings.threshold, confidence=settings.confidence,
        search=search,
        is_shown=threshold.is_shown_above,
    )  # fmt: skip


def fewest_of_search(plan: SearchPlan, rule: SearchRule) -> int | None:
    """Pieces of evidence, in whole blocks, by which a perfect model passes a length; None where no number is enough."""
    fewest = fewest_perfect_share if rule.relative else fewest_perfect
    parts = (third_evidence(plan) if rule.every_depth else ()) or (plan.block_evidence,)
    # The smallest part of a block is the last to be shown.
    needed = fewest(rule.threshold, alpha=alpha_of(plan, rule), block=min(parts))
    return None if needed is None else needed // min(parts) * plan.block_evidence


def chance_to_clear(planned: LengthResult, threshold: Threshold, rate: float) -> float | None:
    """For independent 0/1 scores with a true score of `rate`: exact, by the test that the cap is made with.

    None where samples share texts or the threshold is a share of the baseline: the chance depends on these.
    """
    if planned.sharing or not isinstance(threshold, AbsoluteThreshold):
        return None
    n = planned.planned

    def right_of(right: int) -> Evidence:
        return Evidence(scores=(0.0,) * (n - right) + (1.0,) * right, binary=True)

    fewest = bisect.bisect_left(
        range(n + 1), True, key=lambda right: threshold.could_be_shown_above(planned, right_of(right))
    )
    return binomial_above(fewest - 1, n, rate)
