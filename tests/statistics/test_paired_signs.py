"""The exact test of the signs of paired differences and the interval that it leaves, against scipy and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from contextcliff.statistics.pairs import Unit, Units, p_better, p_worse, shift_interval

outcomes = st.sampled_from([-1.0, 0.0, 1.0])
graded = st.integers(-4, 4).map(lambda n: n / 4)


@pytest.mark.parametrize(("worse", "better"), [(5, 0), (9, 2), (3, 3), (0, 4), (40, 25), (0, 0)])
def test_on_right_or_wrong_answers_it_is_mcnemars_exact_test(worse: int, better: int) -> None:
    units = Units.single([-1.0] * worse + [1.0] * better + [0.0] * 30)
    expected = stats.binomtest(better, worse + better, 0.5, alternative="less").pvalue if worse + better else 1.0
    assert p_worse(units) == pytest.approx(expected)
    both = mcnemar([[20, worse], [better, 10]], exact=True).pvalue
    assert min(1.0, 2.0 * min(p_worse(units), p_better(units))) == pytest.approx(both)


@pytest.mark.parametrize("differences", [[-0.25, -0.5, 0.75, -1.0, 0.25], [-1 / 3, 2 / 3, -1.0, -2 / 3, 0.0, 1 / 3]])
def test_on_graded_scores_it_is_the_permutation_test_of_all_signs(differences: list[float]) -> None:
    by_scipy = stats.permutation_test(
        (np.array(differences), np.zeros(len(differences))),
        lambda x, y, axis: np.sum(x - y, axis=axis),
        permutation_type="samples",
        alternative="less",
        vectorized=True,
        n_resamples=9_999,
    )
    assert p_worse(Units.single(differences)) == pytest.approx(by_scipy.pvalue)


@pytest.mark.parametrize("times", [1, 2], ids=["few, all looked at", "more, drawn"])
def test_differences_without_a_common_fraction_come_out_alike(times: int) -> None:
    on_a_lattice = np.tile([-0.3, -0.2, 0.4, -0.6, 0.1, -0.5, -0.7, 0.2, -0.1, -0.4], times)
    off_it = on_a_lattice + np.linspace(1e-5, 9e-5, 10 * times) * np.sqrt(2.0)
    assert p_worse(Units.single(off_it.tolist())) == pytest.approx(
        p_worse(Units.single(on_a_lattice.tolist())), abs=0.01
    )


def test_pairs_of_one_text_flip_together() -> None:
    """Four texts that are worse in all of their five pairs are four pieces of evidence, and not twenty."""
    texts = Units.of(Unit(total=-5.0, pairs=5) for _ in range(4))
    assert p_worse(texts) == pytest.approx(0.5**4)


@given(st.lists(graded, min_size=1, max_size=12))
def test_the_other_run_as_candidate_mirrors_the_test(differences: list[float]) -> None:
    units = Units.single(differences)
    assert p_worse(units.mirrored()) == pytest.approx(p_better(units))
    assert p_worse(units) + p_better(units) >= 1.0 - 1e-9


@given(st.lists(outcomes, min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_neither_the_order_of_pairs_nor_a_pair_that_does_not_differ_counts(
    differences: list[float], random: object
) -> None:
    shuffled = list(differences)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert p_worse(Units.single([*shuffled, 0.0])) == p_worse(Units.single(differences))


@given(st.lists(graded, min_size=1, max_size=12), st.integers(0, 11))
def test_a_lower_difference_never_makes_it_less_likely_that_it_is_worse(differences: list[float], place: int) -> None:
    place %= len(differences)
    if differences[place] >= 0.0:  # its size stays, and its sign flips
        lower = [*differences]
        lower[place] = -differences[place]
        assert p_worse(Units.single(lower)) <= p_worse(Units.single(differences)) + 1e-9


steps = st.lists(st.integers(-8, 8), min_size=1, max_size=10)


@given(steps, st.sampled_from([0.8, 0.9, 0.95]))
def test_zero_lies_outside_where_the_test_of_signs_rejects_and_inside_where_it_does_not(
    differences: list[int], confidence: float
) -> None:
    units = Units.single(each / 8 for each in differences)
    low, high = shift_interval(units, confidence)
    assert (low is not None and low > 0.0) == (p_better(units) <= 1.0 - confidence + 1e-9)
    assert (high is not None and high < 0.0) == (p_worse(units) <= 1.0 - confidence + 1e-9)


def test_five_units_are_the_fewest_that_rule_something_out_at_95_percent() -> None:
    assert shift_interval(Units.single([0.1, 0.2, 0.3, 0.4]), 0.95) == (None, None)
    assert shift_interval(Units.single([0.1, 0.2, 0.3, 0.4, 0.5]), 0.95) == pytest.approx((0.1, 0.5))


def test_a_unit_of_several_pairs_counts_by_its_pairs() -> None:
    single = Units.single([0.1, 0.2, 0.3, 0.4, 0.5])
    several = Units.of(Unit(total=3.0 * unit.total, pairs=3) for unit in single.units)
    assert shift_interval(several, 0.95) == pytest.approx(shift_interval(single, 0.95))


@pytest.mark.parametrize("n", [8, 14, 15, 42])
def test_swapped_runs_have_the_mirrored_interval(n: int) -> None:
    units = Units.single(np.random.default_rng(n).uniform(-0.6, 1.0, size=n))
    low, high = shift_interval(units, 0.95)
    # Drawn subsets are others where the units are sorted the other way round.
    mirrored = shift_interval(units.mirrored(), 0.95)
    assert low is not None
    assert high is not None
    assert mirrored == pytest.approx((-high, -low), abs=1e-12 if n <= 14 else 0.01)


@pytest.mark.parametrize("n", [9, 12])
def test_each_end_covers_the_shift_of_symmetric_differences(n: int) -> None:
    rng = np.random.default_rng(7)
    missed = np.zeros(2)
    for _ in range(200):
        low, high = shift_interval(Units.single(np.clip(rng.normal(0.2, 0.1, size=n), -0.6, 1.0)), 0.95)
        assert low is not None
        assert high is not None
        missed += [low > 0.2, high < 0.2]
    assert (missed / 200 <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5).all()
