"""Does the sequential test keep what it promises? Laws at the border of the null hypothesis, in 20,000 runs each.

0/1 scores against a threshold need no simulation: `test_sequential_power.py` has their exact figures for every profile.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from contextcliff.statistics.confidence_sequence import confidence_sequence
from contextcliff.statistics.power import profile_power
from contextcliff.statistics.sequential import ABOVE, BELOW, SHARE_ABOVE, SHARE_BELOW, decide
from tests.statistics.simulated_walks import Array, log_e_values, most_errors, passes

ALPHA = 0.05
SHARE = 0.8
THRESHOLD = 0.8
BLOCK, MOST = 10, 160
RUNS = [pytest.param(2_000, id="quick"), pytest.param(20_000, id="record", marks=pytest.mark.slow)]
Law = Callable[[np.random.Generator, int], Array]


def beta(mean: float, weight: float) -> Law:
    return lambda rng, runs: rng.beta(mean * weight, (1.0 - mean) * weight, (runs, MOST))


def rates(*profile: float) -> Law:
    """0/1 scores with a true score for each place of a block, in a new order in each block."""

    def law(rng: np.random.Generator, runs: int) -> Array:
        blocks = np.tile(np.asarray(profile), (runs, MOST // BLOCK, 1))
        return np.asarray((rng.random((runs, MOST)) < rng.permuted(blocks, axis=2).reshape(runs, MOST)).astype(float))

    return law


def rare_and_worst(rng: np.random.Generator, runs: int) -> Array:
    """Scores just above the threshold, and now and then a 0: what a bound by the variance would take for settled."""
    return np.asarray(np.where(rng.random((runs, MOST)) < 0.01, 0.0, THRESHOLD / 0.99))


AT_THE_THRESHOLD: dict[str, Law] = {
    "constant": rates(*[0.8] * 10),
    "half at 1.0, half at .6": rates(*[1.0] * 5, *[0.6] * 5),
    "eight at 1.0, two at 0": rates(*[1.0] * 8, 0.0, 0.0),
    "graded, wide": beta(0.8, 2.0),
    "graded, nearly 0/1": beta(0.8, 0.1),
    "graded, narrow": beta(0.8, 20.0),
    "rarely 0, else .808": rare_and_worst,
}


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("law", AT_THE_THRESHOLD)
def test_a_mean_at_the_threshold_is_shown_on_either_side_in_at_most_alpha_of_runs(law: str, runs: int) -> None:
    scores = AT_THE_THRESHOLD[law](np.random.default_rng(1), runs)
    above = passes(ABOVE, (scores - THRESHOLD) / THRESHOLD, BLOCK, ALPHA)
    below = passes(BELOW, (THRESHOLD - scores) / (1.0 - THRESHOLD), BLOCK, ALPHA)
    assert above.sum() <= most_errors(runs, ALPHA)
    assert below.sum() <= most_errors(runs, ALPHA)


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("rate", [1.0, 0.98, 0.95, 0.9, 0.3])
def test_the_exact_power_is_that_of_simulated_runs(rate: float, runs: int) -> None:
    scores = rates(*[rate] * 10)(np.random.default_rng(2), runs)
    above = log_e_values(ABOVE, (scores - THRESHOLD) / THRESHOLD, BLOCK) >= np.log(20.0)
    below = log_e_values(BELOW, (THRESHOLD - scores) / (1.0 - THRESHOLD), BLOCK) >= np.log(20.0)
    ends = above | below
    samples = BLOCK * np.where(ends.any(axis=1), ends.argmax(axis=1) + 1, MOST // BLOCK)
    passed = int((above & (np.cumsum(ends, axis=1) == 1) & ends).any(axis=1).sum())
    exact = profile_power((rate,) * BLOCK, threshold=THRESHOLD, alpha=ALPHA, most=MOST)
    assert runs - most_errors(runs, 1.0 - exact.above) <= passed <= most_errors(runs, exact.above)
    assert abs(samples.mean() - exact.expected_samples) <= 4.0 * samples.std() / np.sqrt(runs) + 1e-9


def share_gains(rng: np.random.Generator, runs: int, here: float, base: float, weight: float | None) -> Array:
    """x − share · x₀ for 0/1 scores, or for beta scores of this weight."""
    if weight is None:
        x, x0 = ((rng.random((runs, MOST)) < rate).astype(float) for rate in (here, base))
    else:
        x, x0 = (rng.beta(rate * weight, (1.0 - rate) * weight, (runs, MOST)) for rate in (here, base))
    return np.asarray(x - SHARE * x0)


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("weight", [None, 2.0])
@pytest.mark.parametrize("base", [0.99, 0.9, 0.5])
def test_a_mean_at_its_share_of_the_baseline_is_shown_on_either_side_in_at_most_alpha_of_runs(
    base: float, weight: float | None, runs: int
) -> None:
    y = share_gains(np.random.default_rng(3), runs, SHARE * base, base, weight)
    above, below = passes(SHARE_ABOVE, y / SHARE, BLOCK, ALPHA), passes(SHARE_BELOW, -y, BLOCK, ALPHA)
    assert above.sum() <= most_errors(runs, ALPHA)
    assert below.sum() <= most_errors(runs, ALPHA)


def of_texts(rng: np.random.Generator, runs: int, correlation: float, size: int) -> Array:
    """Right answers among the `size` samples of each of 160 texts, at a mean of the threshold: shape (runs, texts)."""
    weight = (1.0 - correlation) / correlation
    rate = rng.beta(THRESHOLD * weight, (1.0 - THRESHOLD) * weight, (runs, MOST))
    return np.asarray(rng.binomial(size, rate).astype(float))


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("correlation", [0.05, 0.15, 0.3])
def test_a_bet_on_texts_holds_where_one_on_their_samples_does_not(correlation: float, runs: int) -> None:
    """Ten samples a text, in blocks of one text for the bets on samples and of ten texts for those on texts."""
    right = of_texts(np.random.default_rng(6), runs, correlation, 10)
    by_text = passes(ABOVE, (right / 10.0 - THRESHOLD) / THRESHOLD, BLOCK, ALPHA)
    samples = (np.arange(10) < right[:, : MOST // 10, None]).astype(float).reshape(runs, MOST)
    by_sample = passes(ABOVE, (samples - THRESHOLD) / THRESHOLD, BLOCK, ALPHA)
    assert by_text.sum() <= most_errors(runs, ALPHA)
    assert by_sample.sum() > most_errors(runs, ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.98, 0.95, 0.9, 0.85, 0.8, 0.7, 0.5, 0.3])
@pytest.mark.parametrize("graded", [False, True])
def test_the_coverage_of_a_confidence_sequence_where_decisions_stop_the_samples(rate: float, graded: bool) -> None:
    runs, rng, missed = 2_000, np.random.default_rng(8), 0
    law = beta(rate, 3.0) if graded else rates(*[rate] * 10)
    for blocks in law(rng, runs).reshape(runs, MOST // BLOCK, BLOCK):
        used = decide(blocks.tolist(), threshold=THRESHOLD, alpha=ALPHA).blocks_used
        low, high = confidence_sequence(blocks[:used].ravel().tolist(), 0.95)
        missed += not low <= rate <= high
    assert missed <= most_errors(runs, 0.05)
