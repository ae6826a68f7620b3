"""The error that a search shares among its stages."""

import math
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.power import sequential_power
from contextcliff.statistics.sequential import refine_alpha


def test_each_failure_halves_it() -> None:
    assert [refine_alpha(0.05, failures) for failures in range(4)] == [0.025, 0.0125, 0.00625, 0.003125]


@given(st.floats(min_value=1e-6, max_value=0.5), st.integers(min_value=1, max_value=200))
def test_all_stages_together_never_spend_more_than_alpha(alpha: float, stages: int) -> None:
    assert math.fsum(refine_alpha(alpha, failures) for failures in range(stages)) <= alpha


@lru_cache(maxsize=64)
def chance_to_pass(rate: float, alpha: float) -> float:
    return sequential_power(rate, threshold=0.8, alpha=alpha, block=10, most=160).above


@pytest.mark.parametrize("crossing", [0, 1, 5, 16, 31, 37, 63])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_a_refined_search_ends_above_the_true_crossing_in_at_most_alpha_of_runs(crossing: int, alpha: float) -> None:
    """Exact, on the worst law: every length beyond the crossing has a true score at the threshold, those up to it pass.

    The walk tests 8, 16, 32 and 64; after its first failure the search bisects to a resolution of 1.
    """

    def error_of_walk(at: int) -> float:
        if at > 64:
            return 0.0
        if at <= crossing:
            return error_of_walk(2 * at)
        # Passing once is the error already, whatever comes later.
        passes = chance_to_pass(0.8, refine_alpha(alpha, 0))
        return passes + (1.0 - passes) * error_of_bisection(at // 2 if at > 8 else 0, at, 1)

    def error_of_bisection(cap: int, failed: int, failures: int) -> float:
        if failed - cap <= 1:
            return 0.0
        middle = (cap + failed) // 2
        if middle <= crossing:
            return error_of_bisection(middle, failed, failures)
        passes = chance_to_pass(0.8, refine_alpha(alpha, failures))
        return passes + (1.0 - passes) * error_of_bisection(cap, middle, failures + 1)

    assert 0.0 < error_of_walk(8) <= alpha
