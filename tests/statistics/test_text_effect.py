"""The share of the variance between texts."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from contextcliff.statistics.text_effect import pooled_text_effect, text_effect

Recorder = Callable[[str, object], None]
scores = st.one_of(st.none(), st.sampled_from([0.0, 1.0]), st.floats(min_value=0.0, max_value=1.0))
groups = st.lists(st.lists(scores, max_size=6), max_size=8)


def test_unequal_sizes_worked_by_hand() -> None:
    """Means 1, .5 and .25 of 2, 2 and 4 scores, .5 over all: MSB = (.5 + 0 + .25) / 2, MSW = (0 + .5 + .75) / 5."""
    result = text_effect([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0, 0.0, 0.0]], 0.95)
    assert result is not None
    size = (8 - (4 + 4 + 16) / 8) / 2
    assert result.correlation == pytest.approx((0.375 - 0.25) / (0.375 + (size - 1) * 0.25))
    assert (result.texts, result.samples) == (3, 8)


def test_the_interval_is_that_of_the_f_test_of_scipy() -> None:
    """The lower end is 0 exactly where the one-way analysis of variance is not significant."""
    rng = np.random.default_rng(2)
    significant = 0
    for _ in range(200):
        texts = np.clip(rng.random((6, 4)) + rng.normal(0.0, 0.2, 6)[:, None], 0.0, 1.0)
        result = text_effect(texts.tolist(), 0.9)
        p = stats.f_oneway(*texts).pvalue
        assert result is not None
        assert (result.low > 0.0) == (p < 0.05)
        significant += int(p < 0.05)
    assert 0 < significant < 200


@given(groups)
def test_the_interval_lies_in_the_unit_interval_and_holds_the_estimate(texts: list[list[float | None]]) -> None:
    result = text_effect(texts, 0.95)
    if result is not None:
        assert 0.0 <= result.low <= result.correlation <= result.high <= 1.0


@given(groups)
def test_the_order_of_texts_and_samples_without_a_score_change_nothing(texts: list[list[float | None]]) -> None:
    result, other = text_effect(texts, 0.95), text_effect([[*text, None] for text in reversed(texts)], 0.95)
    assert (result is None) == (other is None)
    if result is not None and other is not None:
        assert other.correlation == pytest.approx(result.correlation, abs=1e-6)


@pytest.mark.parametrize(
    "texts",
    [[], [[1.0, 0.0, 1.0]], [[1.0], [0.0], [1.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, None], [None, 0.0]]],
    ids=["no text", "one text", "one sample each", "no difference", "one score each"],
)
def test_without_texts_replicates_or_a_difference_there_is_no_estimate(texts: list[list[float | None]]) -> None:
    assert text_effect(texts, 0.95) is None


def test_where_each_text_is_all_right_or_all_wrong_nothing_bounds_the_correlation() -> None:
    result = text_effect([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]], 0.95)
    assert result is not None
    assert (result.correlation, result.low, result.high) == (1.0, 0.0, 1.0)


def test_several_lengths_are_pooled_without_what_they_differ_by() -> None:
    length = {"a": [1.0, 1.0], "b": [1.0, 0.0], "c": [1.0, 0.0, 0.0, 0.0]}
    alone, pooled = text_effect(length.values(), 0.95), pooled_text_effect([length], 0.95)
    assert pooled == alone
    lower = {name: [0.1 * score for score in scores] for name, scores in length.items()}
    both, all_right = pooled_text_effect([length, lower], 0.95), {"a": [1.0, 1.0], "b": [1.0, 1.0]}
    assert both is not None
    assert alone is not None
    assert both.correlation == pytest.approx(alone.correlation)
    assert pooled_text_effect([length, all_right], 0.95) == alone
    assert pooled_text_effect([all_right], 0.95) is None


def test_texts_that_recur_are_counted_once() -> None:
    length = {"a": [1.0, 1.0], "b": [1.0, 0.0], "c": [0.0, 0.0]}
    other = {f"{name}2": scores for name, scores in length.items()}
    once, apart = pooled_text_effect([length, length], 0.95), pooled_text_effect([length, other], 0.95)
    assert once is not None
    assert apart is not None
    assert (once.texts, apart.texts) == (3, 6)
    assert once.correlation == apart.correlation
    assert once.high >= apart.high


@pytest.mark.slow
@pytest.mark.parametrize("recurring", [False, True], ids=["other texts at each length", "the same texts"])
@pytest.mark.parametrize("falls", [False, True], ids=["flat", "falling"])
@pytest.mark.parametrize(("correlation", "least"), [(0.0, 0.93), (0.05, 0.91), (0.15, 0.91), (0.3, 0.89)])
def test_the_coverage_of_the_interval_over_several_lengths(
    correlation: float, least: float, falls: bool, recurring: bool, record_property: Recorder
) -> None:
    """Eight texts of five samples at three lengths. A text that recurs stands at the same quantile of each length."""
    rng, covered, estimates = np.random.default_rng(7), 0, []
    rates = (0.9, 0.7, 0.4) if falls else (0.7, 0.7, 0.7)
    for _ in range(2_000):
        places = rng.random(8)
        lengths = []
        for number, rate in enumerate(rates):
            own = places if recurring else rng.random(8)
            chances = np.full(8, rate)
            if correlation:
                weight = (1.0 - correlation) / correlation
                chances = stats.beta.ppf(own, rate * weight, (1.0 - rate) * weight)
            lengths.append(
                {
                    f"text-{text if recurring else (number, text)}": (rng.random(5) < chance).astype(float).tolist()
                    for text, chance in enumerate(chances)
                }
            )
        result = pooled_text_effect(lengths, 0.95)
        if result is not None:
            estimates.append(result.correlation)
            covered += result.low <= correlation <= result.high
    record_property("coverage", float(covered / len(estimates)))
    record_property("mean_estimate", float(np.mean(estimates)))
    assert covered / len(estimates) >= least
