"""What a search will ask is known before it asks, and how likely a length is to clear."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from contextcliff.analysis.bins import group, summarise
from contextcliff.analysis.forecast import chance_to_clear, chance_to_pass, expected_blocks, most_blocks
from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.search import BlockKey, BlockScores, alpha_of, blocks_used, follow
from contextcliff.analysis.walk import AbsoluteThreshold, RelativeThreshold
from contextcliff.records.generation import ScoredSample
from contextcliff.records.search_record import Search, SearchPlan, SearchRule
from contextcliff.statistics.intervals import clopper_pearson_low
from contextcliff.statistics.power import sequential_power
from contextcliff.statistics.sequential import decide
from tests.tasks.needles import build, niah

SMALL = SearchPlan(lengths=(100, 200), block=3, block_evidence=3, most_blocks=4, refine=False)
RULE = SearchRule(threshold=0.5, relative=False, confidence=0.8)
SHIPPED = SearchPlan(lengths=(512, 1024, 2048), block=11, block_evidence=11, most_blocks=14, refine=True)
NEEDLES = SearchRule(threshold=0.8, relative=False, confidence=0.95)


def enumerated(rate: float) -> tuple[float, float]:
    """Chance that a length of `SMALL` passes, and the blocks to expect there, over all answers that there can be."""
    passes = blocks = 0.0
    chances = [float(stats.binom.pmf(right, 3, rate)) for right in range(4)]
    for rights in itertools.product(range(4), repeat=4):
        chance = math.prod(chances[right] for right in rights)
        scores = [(1.0,) * right + (0.0,) * (3 - right) for right in rights]
        decided = decide(scores, threshold=0.5, alpha=alpha_of(SMALL, RULE), below_at=5.0)
        passes += chance * (decided.kind == "above")
        blocks += chance * decided.blocks_used
    return passes, blocks


def test_the_chances_of_a_walk_are_those_of_all_answers_that_there_can_be() -> None:
    first, first_blocks = enumerated(0.9)
    second, second_blocks = enumerated(0.4)
    asked = expected_blocks(SMALL, RULE, {100: 0.9, 200: 0.4}.__getitem__, {})
    assert asked == pytest.approx({100: first_blocks, 200: first * second_blocks})
    assert chance_to_pass(SMALL, RULE, 0.9) == pytest.approx(first)
    assert chance_to_pass(SMALL, RULE, 0.4) == pytest.approx(second)


def simulated(
    plan: SearchPlan,
    rule: SearchRule,
    rate_at: Callable[[int], float],
    rng: random.Random,
    known: Mapping[BlockKey, BlockScores] | None = None,
) -> tuple[Search, Counter[int]]:
    """One search of a model, and its blocks at each length beyond those known."""
    blocks = dict(known or {})
    while wanted := follow(plan, rule, blocks).wanted:
        for key in wanted:
            rate = rate_at(key.context_tokens)
            texts = tuple((float(rng.random() < rate),) for _ in range(plan.block_evidence))
            blocks[key] = BlockScores(texts=texts)
    search = follow(plan, rule, blocks).search
    used = blocks_used(search, relative=rule.relative) - set(known or {})
    return search, Counter(key.context_tokens for key in used)


@pytest.mark.slow
def test_what_refining_is_expected_to_ask_is_what_searches_ask_on_average() -> None:
    def rate_at(length: int) -> float:
        return 0.97 if length < 1300 else 0.3

    rng, runs = random.Random(1), 600
    asked = sum((simulated(SHIPPED, NEEDLES, rate_at, rng)[1] for _ in range(runs)), Counter[int]())
    expected = expected_blocks(SHIPPED, NEEDLES, rate_at, {})
    for length in (512, 1024, 2048, 1536, 1280, 1408):
        assert asked[length] / runs == pytest.approx(expected[length], rel=0.08), length
    assert asked.total() / runs == pytest.approx(sum(expected.values()), rel=0.03)


@settings(max_examples=40)
@given(
    rates=st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3),
    relative=st.booleans(),
    refine=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_no_search_asks_more_than_the_most(rates: list[float], relative: bool, refine: bool, seed: int) -> None:
    plan = replace(SHIPPED, refine=refine, block=5, block_evidence=5, most_blocks=8)
    rule = replace(NEEDLES, relative=relative)

    def rate_at(length: int) -> float:
        return rates[min(2, (length - 1) // 700)]

    _, asked = simulated(plan, rule, rate_at, random.Random(seed))
    most = most_blocks(plan, rule, {})
    assert sum(n * length for length, n in asked.items()) <= sum(n * length for length, n in most.items())


def test_the_most_is_every_block_of_the_walk_and_of_refining_below_its_last_length() -> None:
    assert most_blocks(SHIPPED, NEEDLES, {}) == dict.fromkeys((512, 1024, 2048, 1536, 1792, 1920, 1984), 14)
    assert most_blocks(replace(SHIPPED, refine=False), NEEDLES, {}) == dict.fromkeys((512, 1024, 2048), 14)


@pytest.mark.slow
def test_a_length_that_is_half_answered_goes_on_from_there() -> None:
    """Ten of eleven are right so far, and the model is right in 0.9: what is expected is what such searches ask."""
    key = BlockKey(context_tokens=512, index=0)
    known = {key: BlockScores(texts=((0.0,), *((1.0,),) * 10))}
    expected = expected_blocks(SHIPPED, NEEDLES, lambda _: 0.9, known)[512]
    power = sequential_power(0.9, threshold=0.8, alpha=0.025, block=11, most=154, before=(11, 10))
    assert expected == pytest.approx(power.expected_samples / 11 - 1)
    rng, runs = random.Random(2), 300
    asked = sum(simulated(SHIPPED, NEEDLES, lambda _: 0.9, rng, known)[1][512] for _ in range(runs))
    assert asked / runs == pytest.approx(expected, rel=0.12)


def test_the_baseline_is_asked_as_often_as_what_is_compared_with_it() -> None:
    rule = replace(NEEDLES, relative=True)
    expected = expected_blocks(SHIPPED, rule, lambda _: 0.98, {})
    assert expected[512] == pytest.approx(max(expected[1024], expected[2048]))
    rng, runs = random.Random(3), 40
    asked = sum((simulated(SHIPPED, rule, lambda _: 0.98, rng)[1] for _ in range(runs)), Counter[int]())
    assert asked.total() / runs == pytest.approx(sum(expected.values()), rel=0.15)


THRESHOLD = AbsoluteThreshold(threshold=0.8, confidence=0.95)


def planned(*, trials: int, texts: int = 0) -> LengthResult:
    samples = build(niah(lengths=[300], depths=[0.0, 0.5, 1.0], trials=trials))
    shared = [f"text {sample.trial % texts}" if texts else "" for sample in samples]
    scored = [
        ScoredSample(
            sample=replace(sample, cluster=text),
            prompt_sha256="",
            score=1.0,
            failure=None,
            prediction="",
            generation=None,
        )
        for sample, text in zip(samples, shared, strict=True)
    ]
    (result,) = summarise(group(scored, designed_lengths=True, bins=1), 0.95)
    return result


@pytest.mark.parametrize("rate", [0.98, 0.95, 0.9, 0.5])
@pytest.mark.parametrize("trials", [1, 5, 14])
def test_it_is_the_chance_of_every_count_whose_bound_is_not_below_the_threshold(trials: int, rate: float) -> None:
    n = 3 * trials
    enough = [right for right in range(n + 1) if clopper_pearson_low(right, n, 0.95) >= 0.8]
    exact = sum(stats.binom.pmf(right, n, rate) for right in enough)
    assert chance_to_clear(planned(trials=trials), THRESHOLD, rate) == pytest.approx(exact)


def test_it_is_not_known_for_samples_that_share_texts_or_a_baseline() -> None:
    alone = planned(trials=5)
    relative = RelativeThreshold(share=0.8, confidence=0.95, baseline=alone, members=(alone,))
    assert chance_to_clear(alone, relative, 0.9) is None
    assert chance_to_clear(planned(trials=5, texts=3), THRESHOLD, 0.9) is None
