"""Does the method keep what it promises? Simulated models with a known answer, from fixed seeds.

Error rates are bounded by what the confidence allows plus what Monte Carlo can add to it: the count
that a binomial variable at the allowed rate exceeds once in a thousand.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from contextcliff.records.analysis import SafeCap
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.intervals import mean_lower_bound, shown_interval, wilson
from contextcliff.statistics.melding import p_at_most_share
from tests.make import analysed, fractional, right_of
from tests.statistics.simulated_walks import allowed

pytestmark = pytest.mark.slow

LENGTHS = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
PLANTED = 4_000
"""The longest length at which the planted model is good."""
RUNS = 2_000
CONFIDENCE = 0.95

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


def simulated_caps(rates: Sequence[float], n: int, *, seed: int) -> list[SafeCap]:
    """The safe caps of many runs of a model which is right at these rates."""
    drawn = np.random.default_rng(seed).binomial(n, rates, size=(RUNS, len(LENGTHS)))

    @cache
    def at(length: int, right: int) -> list[ScoredSample]:
        return right_of(length, right, n)

    @cache
    def cap_of(*right: int) -> SafeCap:
        samples = chain.from_iterable(at(length, k) for length, k in zip(LENGTHS, right, strict=True))
        return analysed(tuple(samples), finders=()).safe_cap

    return [cap_of(*right) for right in drawn.tolist()]


@pytest.mark.parametrize("n", [10, 20, 50, 100])
def test_wilson_covers_on_average_as_promised_and_never_far_below(n: int) -> None:
    """Exact, by enumeration over rates from 0.02 to 0.98; no interval for counts covers evenly."""
    rates = np.linspace(0.02, 0.98, 97)
    intervals = [wilson(k, n, CONFIDENCE) for k in range(n + 1)]
    covered = np.array([[low <= p <= high for low, high in intervals] for p in rates])
    coverage = (stats.binom.pmf(np.arange(n + 1)[None, :], n, rates[:, None]) * covered).sum(axis=1)
    assert coverage.mean() == pytest.approx(CONFIDENCE, abs=0.015)
    assert coverage.min() > 0.83


def test_a_cliff_is_found_within_its_crossing_interval() -> None:
    """The planted crossing lies above 4,000 and at most at 8,000; each end has its own 5%."""
    rates = [0.97 if length <= PLANTED else 0.3 for length in LENGTHS]
    caps = simulated_caps(rates, 40, seed=3)
    outside = sum((cap.ci_low or 0) > PLANTED or (cap.ci_high or 10**9) < 8_000 for cap in caps)
    assert outside <= allowed(2 * (1 - CONFIDENCE), RUNS)
    assert sum(cap.verdict == "cliff" for cap in caps) > 0.7 * RUNS


def test_a_flat_model_is_never_given_a_fall() -> None:
    """Right nine times in ten at seven lengths: no fall to find.

    A fall takes a length whose interval lies below 0.8: 72 or fewer right of 100 at a rate of 0.9.
    """
    caps = simulated_caps([0.9] * len(LENGTHS), 100, seed=4)
    verdicts: Counter[str] = Counter(cap.verdict for cap in caps)
    falls = verdicts["cliff"] + verdicts["slope"]
    fewest = min(k for k in range(101) if wilson(k, 100, CONFIDENCE)[1] >= 0.8)
    chance = 1 - stats.binom.sf(fewest - 1, 100, 0.9) ** len(LENGTHS)
    assert chance < 1e-4
    assert falls <= allowed(chance, RUNS)


def test_how_far_a_good_model_gets_on_forty_samples_a_length() -> None:
    """As often as seven exact tests in a row succeed: 37 of 40 or more, at a rate of 0.97."""
    caps = simulated_caps([0.97] * len(LENGTHS), 40, seed=5)
    longest = sum(cap.tokens == LENGTHS[-1] for cap in caps)
    power = stats.binom.sf(36, 40, 0.97) ** len(LENGTHS)
    assert abs(longest - RUNS * power) <= 4 * (RUNS * power * (1 - power)) ** 0.5
    assert all(cap.censored == (cap.tokens == LENGTHS[-1]) for cap in caps)


def two_points(low: float, high: float, share_high: float) -> Draw:
    return lambda rng, n: np.where(rng.random(n) < share_high, high, low)


SHAPES: dict[str, tuple[Draw, float]] = {
    "nearly always 1": (two_points(0.0, 1.0, 0.95), 0.95),
    "a rare zero among 0.9": (two_points(0.0, 0.9, 0.95), 0.855),
    "half marks and full marks": (two_points(0.5, 1.0, 0.3), 0.65),
    "zero, half and one": (lambda rng, n: rng.choice([0.0, 0.5, 1.0], n, p=[0.1, 0.2, 0.7]), 0.8),
    "uniform": (lambda rng, n: rng.random(n), 0.5),
    "skewed up": (lambda rng, n: rng.beta(8.0, 1.0, n), 8 / 9),
    "skewed down": (lambda rng, n: rng.beta(0.3, 3.0, n), 1 / 11),
    "u-shaped": (lambda rng, n: rng.beta(0.2, 0.2, n), 0.5),
}


@pytest.mark.parametrize("n", [3, 10, 40])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_tested_bound_of_fractional_scores_holds(shape: str, n: int) -> None:
    draw, mean = SHAPES[shape]
    rng = np.random.default_rng(600 + n)
    runs = 1_000
    too_high = sum(
        mean_lower_bound(tuple(np.sort(draw(rng, n)).tolist()), CONFIDENCE) > mean + 1e-9 for _ in range(runs)
    )
    assert too_high <= allowed(1 - CONFIDENCE, runs)


@pytest.mark.parametrize("n", [10, 40])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_joint_test_of_fractional_scores_holds(shape: str, n: int) -> None:
    """Scores at 0.8 of the baseline exactly: the baseline's shape, scaled down."""
    draw, _ = SHAPES[shape]
    rng = np.random.default_rng(700 + n)
    runs = 200
    shown = 0
    for _ in range(runs):
        baseline = tuple(np.sort(draw(rng, n)).tolist())
        scores = tuple(np.sort(0.8 * draw(rng, n)).tolist())
        shown += p_at_most_share(scores, baseline, 0.8, binary=False) <= 1 - CONFIDENCE
    assert shown <= allowed(1 - CONFIDENCE, runs)


def test_the_shown_interval_of_fractional_scores_covers_nearly_as_promised() -> None:
    """A bootstrap of forty scores is a little short; two points of coverage is what is tolerated."""
    draw, mean = SHAPES["uniform"]
    rng = np.random.default_rng(8)
    runs = 500
    intervals = [shown_interval(tuple(np.sort(draw(rng, 40)).tolist()), CONFIDENCE, binary=False) for _ in range(runs)]
    missed = sum(not low <= mean <= high for low, high in intervals)
    assert missed <= allowed(1 - CONFIDENCE + 0.02, runs)


def test_a_cap_of_fractional_scores_is_above_the_planted_one_no_more_often_than_allowed() -> None:
    """Beta-distributed scores of mean 0.9, and of mean 0.8 exactly (the threshold) from 1,000 on."""
    rng = np.random.default_rng(9)
    runs = 200
    too_high = 0
    for _ in range(runs):
        scores = {500: rng.beta(9.0, 1.0, 40).tolist(), 1_000: rng.beta(4.0, 1.0, 40).tolist()}
        too_high += analysed(fractional(scores), finders=()).safe_cap.tokens == 1_000
    assert too_high <= allowed(1 - CONFIDENCE, runs)
