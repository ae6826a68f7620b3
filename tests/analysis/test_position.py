"""The position pattern and the mean of each depth: what a law is called, and what may not matter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from contextcliff.analysis.bins import group
from contextcliff.findings.position import (
    DepthPoint,
    PositionPattern,
    PositionProfile,
    depth_profile,
    position_pattern,
)
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.intervals import wilson
from tests.make import analysed, finding, known, right_of, scored_sample

DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)


def pattern(samples: Sequence[ScoredSample], confidence: float = 0.95) -> PositionPattern:
    return position_pattern(group(samples, designed_lengths=True, bins=10), confidence)


def at_depths(right: Mapping[float, int], n: int, length: int = 1_000) -> list[ScoredSample]:
    """`n` samples at each depth, and how many of them are right."""
    return [scored_sample(length, float(i < k), depth=depth) for depth, k in right.items() for i in range(n)]


def by_law(law: Callable[[float], float]) -> list[ScoredSample]:
    return [scored_sample(length, law(d), depth=d) for length in (500, 1_000) for d in DEPTHS for _ in range(4)]


def in_cluster(samples: Sequence[ScoredSample], name: str) -> list[ScoredSample]:
    return [replace(item, sample=replace(item.sample, cluster=name)) for item in samples]


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (lambda depth: 0.2 + 0.6 * depth, "recency"),
        (lambda depth: 0.8 - 0.6 * depth, "primacy"),
        (lambda depth: 0.2 + 2.4 * (depth - 0.5) ** 2, "middle_collapse"),
    ],
)
def test_each_law_has_its_name(law: Callable[[float], float], expected: str) -> None:
    found = pattern(by_law(law))
    assert (found.pattern, found.n_samples) == (expected, 40)
    assert found.p_value == 1 / 4_000


def test_the_p_value_is_that_of_all_orders() -> None:
    """One right answer in six, at the last of three depths with two samples each.

    At either end the line is √1.5 standard deviations away and the edges are √0.5; in the middle the line is 0 and
    the edges are −√2. So four of the six places are as extreme as the one observed.
    """
    found = pattern(at_depths({0.0: 0, 0.5: 0, 1.0: 1}, n=2))
    assert found.pattern == "stable"
    assert found.p_value == pytest.approx(4 / 6, abs=0.03)


def test_a_fall_between_lengths_is_no_variation_to_tell_apart() -> None:
    samples = at_depths(dict.fromkeys(DEPTHS, 4), 4, 500) + at_depths(dict.fromkeys(DEPTHS, 0), 4, 1_000)
    assert (pattern(samples).pattern, pattern(samples).p_value) == ("stable", None)


@pytest.mark.parametrize(
    ("samples", "n", "reason"),
    [
        ([], 0, "there are 0"),
        (right_of(500, 3, 4), 0, "there are 0"),
        (at_depths({0.0: 1, 1.0: 3}, 4), 8, "there are 2"),
        ([*at_depths({0.0: 1, 1.0: 3}, 4), scored_sample(1_000, None, depth=0.5)], 8, "there are 2"),
        (
            at_depths({0.0: 1}, 4, 500) + at_depths({0.5: 1}, 4, 1_000) + at_depths({1.0: 1}, 4, 2_000),
            12,
            "no two depths can be compared",
        ),
    ],
)
def test_what_can_not_be_tested_has_no_pattern(samples: list[ScoredSample], n: int, reason: str) -> None:
    found = pattern(samples)
    assert (found.pattern, found.p_value, found.n_samples) == (None, None, n)
    assert reason in str(found.reason)


def test_a_fall_over_length_is_no_pattern_where_longer_prompts_have_deeper_evidence() -> None:
    """Over all lengths the score rises from 0.1 to 0.9 with depth; at no length does it."""
    short = at_depths({0.8: 9, 0.9: 9, 1.0: 9}, 10, 500)
    long = at_depths({0.0: 1, 0.1: 1, 0.2: 1}, 10, 4_000)
    assert pattern([*short, *long]).pattern == "stable"


def test_a_text_that_is_harder_is_no_pattern() -> None:
    """Two texts at one length: the easy one was asked late, the hard one early."""
    easy = in_cluster(at_depths({0.5: 9, 0.75: 9, 1.0: 9}, 10), "easy")
    hard = in_cluster(at_depths({0.0: 1, 0.25: 1, 0.5: 1}, 10), "hard")
    assert pattern([*easy, *hard]).pattern == "stable"
    assert pattern(in_cluster([*easy, *hard], "")).pattern == "recency"


def test_where_texts_hold_two_depths_each_a_line_can_still_be_told() -> None:
    pairs = [(0.0, 0.5), (0.5, 1.0), (0.0, 1.0)] * 6
    samples = [
        item
        for i, (early, late) in enumerate(pairs)
        for item in in_cluster(
            [scored_sample(1_000, 0.0, depth=early), scored_sample(1_000, 1.0, depth=late)], f"text {i}"
        )
    ]
    assert pattern(samples).pattern == "recency"


def profile(samples: list[ScoredSample], *, binary: bool = True) -> tuple[DepthPoint, ...]:
    return depth_profile(group(samples, designed_lengths=True, bins=10), 0.95, binary=binary)


def test_a_point_is_the_mean_of_a_depth_over_all_lengths() -> None:
    samples = [
        scored_sample(500, 1.0, depth=0.5),
        scored_sample(1_000, 1.0, depth=0.5),
        scored_sample(2_000, 0.0, depth=0.5),
        scored_sample(500, 0.0, depth=0.0),
    ]
    first, middle = profile(samples)
    assert (first.depth, first.n_samples, first.mean) == (0.0, 1, 0.0)
    assert (middle.depth, middle.n_samples) == (0.5, 3)
    assert middle.mean == pytest.approx(2 / 3)
    assert (middle.ci_low, middle.ci_high) == wilson(2, 3, 0.95)


def test_only_what_holds_up_to_the_safe_cap_is_worth_a_look() -> None:
    safe, beyond = at_depths(dict.fromkeys(DEPTHS, 8), 8, 500), at_depths({0.0: 0, 0.5: 4, 1.0: 8}, 8)
    found = finding(analysed([*safe, *beyond]), PositionProfile)
    assert (found.position.pattern, known(found.position_up_to_cap).pattern) == ("recency", "stable")
    both = finding(analysed([*safe, *beyond], threshold=0.2), PositionProfile)
    assert known(both.position_up_to_cap).pattern == "recency"
    assert finding(analysed(beyond), PositionProfile).position_up_to_cap is None


def test_a_cell_is_the_mean_of_the_scored_samples_of_a_length_and_depth() -> None:
    samples = [
        scored_sample(1_000, 1.0, depth=0.5),
        scored_sample(1_000, 0.5, depth=0.5),
        scored_sample(1_000, None, depth=0.5),
        scored_sample(1_000, None, depth=1.0),
        scored_sample(500, 0.0, depth=1.0),
    ]
    cells = [(c.asked_tokens, c.depth, c.n_samples, c.mean) for c in analysed(samples).cells]
    assert cells == [(500, 1.0, 1, 0.0), (1_000, 0.5, 2, 0.75), (1_000, 1.0, 0, None)]
    # Without a depth there is no cell.
    assert analysed(right_of(500, 3, 4)).cells == ()
