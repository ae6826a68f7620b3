"""Bins: which samples a bin holds, and what is said of them."""

import dataclasses
import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.analysis.bins import group
from tests.make import analysed, scored_sample

lengths = st.lists(st.integers(min_value=1, max_value=60), min_size=1, max_size=80)


def test_a_designed_length_is_a_bin_whatever_the_server_counted() -> None:
    samples = [scored_sample(1_000, 1.0, measured=n) for n in (980, 1_010, 990)]
    (result,) = analysed(samples).bins
    assert result.asked_tokens == 1_000
    assert (result.min_tokens, result.median_tokens, result.max_tokens) == (980, 990, 1_010)


def test_an_unscored_sample_counts_with_its_built_length() -> None:
    samples = [scored_sample(1_000, 1.0, measured=900), scored_sample(1_000, None)]
    (result,) = analysed(samples).bins
    assert (result.n_samples, result.n_unscored, result.max_tokens) == (1, 1, 1_000)


def test_figures_worked_by_hand() -> None:
    scores = [(1.0, None), (0.5, "incomplete"), (0.0, "refusal"), (0.0, "refusal"), (None, "timeout")]
    samples = [
        scored_sample(500, score, failure=tag, ttft_ms=t, latency_ms=2 * t)
        for t, (score, tag) in enumerate(scores, start=1)
    ]
    (result,) = analysed(samples).bins
    assert result.mean == 0.375
    assert result.std == pytest.approx(math.sqrt(0.6875 / 3))
    assert result.failure_rate == 0.75
    assert result.failures == {"refusal": 2, "incomplete": 1, "timeout": 1}
    assert (result.ttft_ms_median, result.latency_ms_median) == (2.5, 5.0)


def test_a_graded_answer_fails_where_it_has_a_tag_and_not_where_it_scores_below_1() -> None:
    rounds = [(0.9, None), (0.7, None), (0.4, "repetition"), (0.0, "empty"), (1.0, "copied"), (None, "timeout")]
    samples = [dataclasses.replace(scored_sample(500, score), failure=tag, graded=True) for score, tag in rounds]
    (result,) = analysed(samples).bins
    assert result.failure_rate == 3 / 5
    assert result.failures == {"copied": 1, "empty": 1, "repetition": 1, "timeout": 1}


def test_nothing_is_claimed_where_nothing_was_scored() -> None:
    (result,) = analysed([scored_sample(500, None), scored_sample(500, None, failure="oom")]).bins
    assert result.n_unscored == 2
    assert (result.mean, result.ci_low, result.ci_high, result.tested_low, result.std) == (None,) * 5
    assert (result.failure_rate, result.ttft_ms_median, result.latency_ms_median) == (None,) * 3
    assert result.failures == {"oom": 1, "timeout": 1}


def test_quantile_bins_hold_equally_many() -> None:
    result = group([scored_sample(n, 1.0) for n in range(1, 101)], designed_lengths=False, bins=10)
    assert [len(g.samples) for g in result] == [10] * 10


@given(lengths, st.integers(min_value=1, max_value=12))
def test_quantile_bins_are_in_order_and_never_part_equal_lengths(result: list[int], bins: int) -> None:
    groups = group([scored_sample(n, 1.0) for n in result], designed_lengths=False, bins=bins)
    assert 1 <= len(groups) <= min(bins, len(set(result)))
    assert sum(len(g.samples) for g in groups) == len(result)
    for shorter, longer in itertools.pairwise(groups):
        assert max(s.measured_tokens for s in shorter.samples) < min(s.measured_tokens for s in longer.samples)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from([100, 200, 300]), st.sampled_from([0.0, 0.5, 1.0, None])), max_size=40),
    st.booleans(),
)
def test_every_planned_sample_is_in_one_bin(result: list[tuple[int, float | None]], designed: bool) -> None:
    bins = analysed([scored_sample(*item) for item in result], designed=designed).bins
    assert sum(b.n_samples + b.n_unscored for b in bins) == len(result)
    assert sum(b.n_unscored for b in bins) == sum(score is None for _, score in result)
