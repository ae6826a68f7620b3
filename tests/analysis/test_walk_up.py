"""The safe cap by walk_up: where the walk stops, what the verdict is, and what can't move it."""

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.records.analysis import SafeCap
from tests.make import analysed, curve, fractional, right_of, scored_sample

LENGTHS = (500, 1_000, 2_000, 4_000)
counts = st.tuples(st.integers(min_value=0, max_value=30), st.integers(min_value=1, max_value=30)).map(
    lambda pair: (min(pair), pair[1])
)
curves = st.lists(counts, min_size=1, max_size=4).map(lambda found: dict(zip(LENGTHS, found, strict=False)))
relative = st.booleans()

Results = Mapping[int, tuple[int, ...]]


def cap(results: Results, **kwargs: Any) -> SafeCap:
    return analysed(curve(results), **kwargs).safe_cap


def test_a_cliff_stays_one_behind_a_length_that_settles_nothing() -> None:
    found = cap({500: (40, 40), 1_000: (35, 40), 2_000: (2, 40), 4_000: (2, 40)})
    assert (found.verdict, found.tokens, found.ci_high) == ("cliff", 500, 2_000)


def test_fourteen_of_fourteen_is_the_least_that_shows_80_percent() -> None:
    assert [cap({500: (n, n)}).tokens for n in (13, 14)] == [None, 500]


def test_cap_ceiling_zones_and_every_rule_name_a_length_by_its_median_prompt() -> None:
    samples = [
        scored_sample(length, score, measured=length - 10 + i)
        for length, score in ((1_000, 1.0), (2_000, 1.0), (4_000, 0.0))
        for i in range(21)
    ]
    found = analysed(samples)
    assert (found.safe_cap.tokens, found.safe_cap.ci_high) == (2_000, 4_000)
    assert {rule: found.caps[rule] for rule in ("walk_up", "absolute", "relative", "blueprint")} == {
        "walk_up": 2_000,
        "absolute": 2_000,
        "relative": 2_000,
        "blueprint": 4_000,
    }
    assert [(zone.min_tokens, zone.max_tokens) for zone in found.zones] == [(0, 2_000), (2_001, 3_999), (4_000, 4_000)]


def test_unscored_samples_count_as_wrong_and_a_length_without_a_score_stops_the_walk() -> None:
    assert [cap({500: (40, 40), 1_000: (40, 40, n)}).tokens for n in (0, 2, 6)] == [1_000, 1_000, 500]
    assert cap({500: (20, 20), 1_000: (0, 0, 20), 2_000: (20, 20)}).tokens == 500


def test_a_relative_threshold_compares_with_the_shortest_length() -> None:
    results = {500: (60, 100), 1_000: (60, 100), 2_000: (10, 100)}
    assert cap(results).tokens is None
    found = cap(results, relative=True, threshold=0.7)
    assert (found.tokens, found.verdict, found.relative_to_baseline) == (1_000, "cliff", True)


def test_a_relative_threshold_is_what_the_task_is_made_for_unless_settings_say() -> None:
    results = {500: (60, 100), 1_000: (60, 100)}
    assert cap(results, relative_by_default=True).relative_to_baseline
    assert not cap(results, relative_by_default=True, relative=False).relative_to_baseline


@pytest.mark.parametrize("first", [(4, 4), (0, 20)])
def test_without_a_baseline_nothing_is_claimed(first: tuple[int, int]) -> None:
    found = cap({500: first, 1_000: (20, 20)}, relative=True)
    assert (found.tokens, found.verdict) == (None, "insufficient_evidence")


def test_fractional_scores_that_spread_little_need_fewer_samples() -> None:
    steady = fractional({500: [0.85, 0.9] * 10})
    assert analysed(steady, threshold=0.7).safe_cap.tokens == 500
    assert analysed(curve({500: (17, 20)}), threshold=0.7).safe_cap.tokens is None


@pytest.mark.slow
@given(curves, relative, st.integers(min_value=1, max_value=10), st.data())
def test_more_unscored_samples_never_raise_the_cap(
    results: Results, is_relative: bool, more: int, data: st.DataObject
) -> None:
    where = data.draw(st.sampled_from(sorted(results)))
    before = cap(results, relative=is_relative).tokens or 0
    after = cap({**results, where: (*results[where], more)}, relative=is_relative).tokens or 0
    assert after <= before


@given(curves, relative, st.data())
def test_losing_a_score_never_raises_the_cap(results: Results, is_relative: bool, data: st.DataObject) -> None:
    samples = curve(results)
    lost = data.draw(st.integers(min_value=0, max_value=len(samples) - 1))
    gone = scored_sample(samples[lost].sample.context_tokens, None)
    after = [*samples[:lost], gone, *samples[lost + 1 :]]
    caps = [analysed(found, relative=is_relative).safe_cap.tokens or 0 for found in (samples, after)]
    assert caps[1] <= caps[0]


@pytest.mark.slow
@given(curves, relative)
def test_the_crossing_is_above_the_cap(results: Results, is_relative: bool) -> None:
    found = cap(results, relative=is_relative)
    if found.tokens is not None and found.ci_high is not None:
        assert found.ci_low == found.tokens < found.ci_high


@pytest.mark.slow
@given(curves, st.floats(min_value=0.05, max_value=0.95))
def test_every_length_up_to_the_cap_clears_by_the_bound_that_is_drawn(results: Results, threshold: float) -> None:
    found = analysed(curve(results), threshold=threshold)
    passed = [b for b in found.bins if found.safe_cap.tokens and b.max_tokens <= found.safe_cap.tokens]
    assert all(b.tested_low is not None and b.tested_low >= threshold for b in passed)
    rest = found.bins[len(passed) :]
    assert all(b.tested_low is not None and b.tested_low < threshold for b in rest[:1])


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from(LENGTHS), st.sampled_from([0.0, 0.3, 0.7, 1.0, None])), min_size=1, max_size=40),
    relative,
    st.booleans(),
    st.integers(),
)
def test_the_order_of_the_samples_never_matters(
    items: list[tuple[int, float | None]], is_relative: bool, designed: bool, seed: int
) -> None:
    samples = [scored_sample(*item) for item in items]
    shuffled = random.Random(seed).sample(samples, len(samples))
    first, second = (analysed(found, relative=is_relative, designed=designed) for found in (samples, shuffled))
    assert first == second


@pytest.mark.parametrize("relative", [False, True])
def test_a_later_look_is_tested_at_half_of_the_error_and_shown_as_it_was_asked_for(relative: bool) -> None:
    for right in range(15, 26):
        samples = [*right_of(500, 25, 25), *right_of(1_000, right, 25)]
        first, later, strict = (
            analysed(samples, relative=relative, finders=(), **how) for how in ({}, {"looks": 1}, {"confidence": 0.975})
        )
        assert later.safe_cap.tokens == strict.safe_cap.tokens
        assert [each.ci_low for each in later.bins] == [each.ci_low for each in first.bins]
        assert later.safe_cap.holds_at == pytest.approx(0.925)
    assert later.notes[0].template.startswith("{n:earlier looks}")
