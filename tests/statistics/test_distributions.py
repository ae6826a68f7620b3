"""Each function gives what `scipy.stats` gives, at the edges too."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from contextcliff.statistics import intervals as distributions
from contextcliff.statistics.descriptive import bimodality
from contextcliff.statistics.intervals import Floats, wilson

inside = st.floats(min_value=1e-6, max_value=1.0 - 1e-6)
anywhere = st.floats(min_value=-0.5, max_value=1.5)
freedom = st.one_of(st.floats(min_value=0.5, max_value=500.0), st.just(math.inf))
shape = st.floats(min_value=0.05, max_value=300.0)


def near(value: float | Floats) -> object:
    return pytest.approx(value, rel=1e-9, abs=1e-300)


@given(inside, st.floats(min_value=-30.0, max_value=30.0))
def test_normal(p: float, z: float) -> None:
    assert distributions.normal_quantile(p) == near(stats.norm.ppf(p))
    assert distributions.normal_below(z) == near(stats.norm.cdf(z))
    assert distributions.normal_above(z) == near(stats.norm.sf(z))


@given(inside, st.floats(min_value=-30.0, max_value=30.0), freedom)
def test_student(p: float, t: float, df: float) -> None:
    assert distributions.t_quantile(p, df) == near(stats.t.ppf(p, df))
    assert distributions.t_above(t, df) == near(stats.t.sf(t, df))


@given(st.integers(min_value=1, max_value=400), st.integers(min_value=-1, max_value=401), inside)
def test_binomial(n: int, k: int, p: float) -> None:
    assert distributions.binomial_at_most(k, n, p) == near(stats.binom.cdf(k, n, p))
    assert distributions.binomial_above(k, n, p) == near(stats.binom.sf(k, n, p))


@given(st.integers(min_value=1, max_value=400), inside)
def test_the_chances_of_a_binomial(n: int, p: float) -> None:
    assert distributions.binomial_chances(n, p) == pytest.approx(stats.binom.pmf(np.arange(n + 1), n, p), rel=1e-8)


@given(st.integers(min_value=1, max_value=3_000), st.floats(min_value=1e-4, max_value=1.0 - 1e-4), st.data())
def test_what_a_binomial_hardly_exceeds(first: int, p: float, data: st.DataObject) -> None:
    q = data.draw(st.sampled_from([0.001, 0.05, 0.1, 0.5, 0.9]))
    n = np.arange(first, first + 40)
    found = distributions.binomials_exceeded(q, n, p)
    theirs = np.asarray(stats.binom.isf(q, n, p))
    # Where a number is exceeded with a chance of q itself, as 17 of 35 are with p = q = 0.5, rounding decides.
    at_q = np.abs(stats.binom.sf(np.minimum(found, theirs), n, p) - q) <= 1e-12
    assert ((found == theirs) | (at_q & (np.abs(found - theirs) == 1))).all()
    assert distributions.binomials_above(found, n, p) == near(stats.binom.sf(found, n, p))
    assert (distributions.binomials_above(found, n, p) <= q + 1e-12).all()
    assert ((found == 0) | (distributions.binomials_above(found - 1, n, p) > q)).all()


def test_a_chance_that_is_exactly_the_given_one_does_not_exceed_it() -> None:
    assert distributions.binomials_exceeded(0.05, np.array([1]), 0.05).tolist() == [0.0]


@given(inside, anywhere, shape, shape)
def test_beta(p: float, x: float, a: float, b: float) -> None:
    assert distributions.beta_quantile(p, a, b) == near(stats.beta.ppf(p, a, b))
    assert distributions.beta_below(x, a, b) == near(stats.beta.cdf(x, a, b))
    points = np.array([x, p])
    assert distributions.beta_below(points, a, b) == near(stats.beta.cdf(points, a, b))
    assert distributions.beta_above(points, a, b) == near(stats.beta.sf(points, a, b))
    assert distributions.beta_quantile(np.array([p, 0.5]), a, b) == near(stats.beta.ppf([p, 0.5], a, b))


@given(st.integers(min_value=1, max_value=500), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilsons_interval_is_scipys(n: int, data: st.DataObject, confidence: float) -> None:
    successes = data.draw(st.integers(min_value=0, max_value=n))
    theirs = stats.binomtest(successes, n).proportion_ci(confidence_level=confidence, method="wilson")
    assert wilson(successes, n, confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@given(st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), min_size=4, max_size=60))
def test_bimodality_is_by_scipys_skewness_and_kurtosis(scores: list[float]) -> None:
    if min(scores) == max(scores):
        assert bimodality(scores) is None
        return
    n = len(scores)
    skewness, excess = stats.skew(scores, bias=False), stats.kurtosis(scores, bias=False)
    expected = (skewness**2 + 1.0) / (excess + 3.0 * (n - 1) ** 2 / ((n - 2) * (n - 3)))
    assert bimodality(scores) == pytest.approx(expected, rel=1e-9)
