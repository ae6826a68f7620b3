"""Sample sizes for fractional scores, checked with the test that they are planned for and with simulated runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.statistics import sample_size
from contextcliff.statistics import sample_size as observed_sample_size
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.melding import p_at_most_share
from contextcliff.statistics.sample_size import scores_to_settle

HERE = (0.55, 0.58, 0.61, 0.62, 0.64, 0.66, 0.69, 0.72)
BASELINE = (0.58, 0.60, 0.62, 0.65, 0.66, 0.68, 0.70, 0.74)
scores = st.lists(st.integers(min_value=0, max_value=20).map(lambda k: k / 20), min_size=2, max_size=12)


def settling_rounds(here: Sequence[float], baseline: Sequence[float]) -> int | None:
    """Of one length, in ordinary circumstances, up to 200."""
    return scores_to_settle(tuple(sorted(here)), tuple(sorted(baseline)), 0.8, 0.95, most=200)


def pass_rate(here: tuple[float, ...], baseline: tuple[float, ...], n: int, *, runs: int, seed: int) -> float:
    """The share of runs, n scores a length drawn from these, in which the test passes."""
    rng = np.random.default_rng(seed)
    passed = 0
    for _ in range(runs):
        there, base = (tuple(sorted(rng.choice(observed, n).tolist())) for observed in (here, baseline))
        passed += p_at_most_share(there, base, 0.8, binary=False) <= 0.05
    return passed / runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("here", "baseline"),
    [
        (HERE, BASELINE),
        ((0.40, 0.50, 0.55, 0.70, 0.75, 0.90), (0.5, 0.6, 0.65, 0.7, 0.75, 0.8)),
        ((0.0, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7), (0.6, 0.65, 0.65, 0.7)),
    ],
)
def test_simulated_runs_of_that_size_mostly_pass(here: tuple[float, ...], baseline: tuple[float, ...]) -> None:
    n = settling_rounds(here, baseline)
    assert n is not None
    # Planned for 80%; in 300 runs each it is 97%, 87% and 86%, of a spread a little smaller than is planned with.
    assert pass_rate(here, baseline, n, runs=120, seed=n) >= 0.75
    assert pass_rate(here, baseline, max(2, n // 3), runs=120, seed=n) < 0.7


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(scores, scores)
def test_a_mean_that_is_not_above_the_share_is_never_settled(here: list[float], baseline: list[float]) -> None:
    n = settling_rounds(here, baseline)
    if sum(here) / len(here) <= 0.8 * sum(baseline) / len(baseline):
        assert n is None
    assert n is None or 2 <= n <= 200


def test_scores_that_spread_more_take_more_rounds() -> None:
    wide = tuple(0.63 + 3.0 * (score - 0.63375) for score in HERE)
    narrow, wider = (settling_rounds(observed, BASELINE) for observed in (HERE, wide))
    assert narrow is not None
    assert wider is not None
    assert narrow < wider


def planned_as_observed(here: Sequence[float], baseline: Sequence[float], *, has_spread: bool = True) -> int | None:
    limit, mean = 0.8 * math.fsum(baseline) / max(1, len(baseline)), math.fsum(here) / len(here)
    return observed_sample_size.to_settle_against_share(
        Evidence(scores=tuple(sorted(here)), binary=not has_spread),
        Evidence(scores=tuple(sorted(baseline)), binary=not has_spread),
        mean if has_spread and len(here) > 1 else sample_size.cautious_mean(mean, len(here), limit),
        0.8,
        0.95,
        has_spread=has_spread,
        least=5,
    )


def planned_by_mean(here: Sequence[float], baseline: Sequence[float]) -> int | None:
    mean = math.fsum(baseline) / len(baseline)
    cautious = sample_size.cautious_mean(math.fsum(here) / len(here), len(here), 0.8 * mean)
    return sample_size.to_show_above_share(cautious, mean, 0.8, 0.95)


@pytest.mark.slow
def test_fractional_scores_are_planned_with_their_own_spread() -> None:
    planned = planned_as_observed(HERE, BASELINE)
    assert planned == scores_to_settle(HERE, BASELINE, 0.8, 0.95, most=sample_size.MOST, least=5)
    assert planned is not None
    as_right_or_wrong = planned_by_mean(HERE, BASELINE)
    assert as_right_or_wrong is not None
    assert planned * 3 < as_right_or_wrong
    assert pass_rate(HERE, BASELINE, planned, runs=120, seed=1) >= 0.7


def test_right_and_wrong_answers_are_planned_by_their_mean() -> None:
    here, baseline = (0.0,) * 2 + (1.0,) * 18, (0.0,) + (1.0,) * 19
    assert planned_as_observed(here, baseline, has_spread=False) == planned_by_mean(here, baseline)


def test_scores_that_collapsed_are_planned_with_their_own_spread_too() -> None:
    """Right and wrong answers of this mean take some forty; scores that spread so little a handful."""
    collapsed = (0.44, 0.46, 0.47)
    evidence, baseline = (Evidence(scores=scores, binary=False) for scores in (collapsed, (0.93, 0.95, 0.96)))
    share, against = 0.7, observed_sample_size.to_settle_against_share
    planned = against(evidence, baseline, 0.457, share, 0.95, has_spread=True, least=2)
    by_mean = against(evidence, baseline, 0.457, share, 0.95, has_spread=False, least=2)
    assert planned is not None
    assert by_mean is not None
    assert planned <= 15
    assert by_mean >= 2 * planned


@pytest.mark.parametrize(("score", "below"), [(0.9, False), (0.5, True)])
def test_a_planned_size_is_that_of_the_side_of_the_threshold(score: float, below: bool) -> None:
    of = sample_size.to_show_below if below else sample_size.to_show_above
    evidence = Evidence(scores=(0.0,) * 5 + (1.0,) * 15, binary=True)
    assert observed_sample_size.to_settle_against(evidence, score, 0.8, 0.95, has_spread=False) == of(score, 0.8, 0.95)
