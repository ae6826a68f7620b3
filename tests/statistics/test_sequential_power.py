"""The power of a sequential test, exact, and when it is given up."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.power import (
    RUNS,
    fewest_perfect,
    fewest_perfect_share,
    profile_power,
    sequential_power,
    share_power,
)
from contextcliff.statistics.sequential import (
    ABOVE,
    BELOW,
    SHARE_ABOVE,
    SHARE_BELOW,
    GivingUp,
    Score,
    SequentialDecision,
    block_of,
    decide,
    decision_of_all,
    paired_block,
)
from tests.make import known
from tests.statistics.simulated_walks import decide_share, most_errors

ALPHA = 0.05


@pytest.mark.parametrize("profile", [(0.7, 0.7), (1.0, 0.5), (0.3, 0.9)])
def test_it_is_what_every_possible_run_gives(profile: tuple[float, ...]) -> None:
    """All 2 ** 10 runs of five blocks of two, each decided by `decide` and weighted by its chance."""
    chances = dict.fromkeys(("above", "below", "open"), 0.0)
    expected = 0.0
    for scores in itertools.product((1.0, 0.0), repeat=10):
        rates = profile * 5
        chance = math.prod(rate if x else 1.0 - rate for x, rate in zip(scores, rates, strict=True))
        result = decide([scores[i : i + 2] for i in range(0, 10, 2)], threshold=0.5, alpha=0.2, below_at=5.0)
        chances[result.kind] += chance
        expected += chance * result.samples
    power = profile_power(profile, threshold=0.5, alpha=0.2, most=10, below_at=5.0)
    assert (power.above, power.below, power.open) == pytest.approx(tuple(chances.values()))
    assert power.expected_samples == pytest.approx(expected)


@given(
    st.lists(st.floats(min_value=0.0, max_value=1.0), min_size=1, max_size=10).map(tuple),
    st.floats(min_value=0.05, max_value=0.95),
    st.floats(min_value=0.01, max_value=0.2),
)
def test_no_profile_errs_more_often_than_alpha(profile: tuple[float, ...], threshold: float, alpha: float) -> None:
    """Exact. Whether the mean of the profile is at most the threshold or at least."""
    power = profile_power(profile, threshold=threshold, alpha=alpha, most=160)
    assert power.above + power.below + power.open == pytest.approx(1.0)
    mean = math.fsum(profile) / len(profile)
    if mean <= threshold:
        assert power.above <= alpha
    if mean >= threshold:
        assert power.below <= 0.05


@pytest.mark.parametrize(
    ("profile", "error"),
    [
        ((0.8,) * 10, 0.0286),
        ((1.0,) * 5 + (0.6,) * 5, 0.0137),
        ((1.0,) * 8 + (0.0,) * 2, 0.0),
        ((1.0,) * 4 + (2.0 / 3.0,) * 6, 0.0181),
    ],
)
def test_the_error_at_the_threshold_by_profile(profile: tuple[float, ...], error: float) -> None:
    """The more the depths differ, the less the sum of a block varies, and the seldomer it errs."""
    assert profile_power(profile, threshold=0.8, alpha=ALPHA, most=160).above == pytest.approx(error, abs=5e-4)


@pytest.mark.parametrize(
    ("rate", "above", "expected"),
    [(1.0, 1.0, 20.0), (0.98, 1.0, 25.0), (0.95, 1.0, 38.8), (0.9, 0.817, 91.4), (0.85, 0.212, 142.0)],
)
def test_power_and_samples_at_the_scores_of_the_plan(rate: float, above: float, expected: float) -> None:
    power = sequential_power(rate, threshold=0.8, alpha=ALPHA, block=10, most=160)
    assert power.above == pytest.approx(above, abs=1e-3)
    assert power.expected_samples == pytest.approx(expected, abs=0.1)


@given(
    st.floats(min_value=0.05, max_value=0.97),
    st.floats(min_value=0.005, max_value=0.2),
    st.integers(min_value=1, max_value=20),
)
def test_the_fewest_perfect_samples_pass_and_one_block_less_does_not(
    threshold: float, alpha: float, block: int
) -> None:
    n = known(fewest_perfect(threshold, alpha=alpha, block=block))
    assert decide([[1.0] * block] * (n // block), threshold=threshold, alpha=alpha).kind == "above"
    assert decide([[1.0] * block] * (n // block - 1), threshold=threshold, alpha=alpha).kind == "open"


def test_the_fewest_perfect_samples_against_a_share_of_a_perfect_baseline() -> None:
    n = fewest_perfect_share(0.8, alpha=ALPHA, block=1)
    assert n == 19
    assert decide_share([[(1.0, 1.0)]] * n, share=0.8, alpha=ALPHA).kind == "above"
    assert decide_share([[(1.0, 1.0)]] * (n - 1), share=0.8, alpha=ALPHA).kind == "open"


def test_no_number_of_samples_shows_a_score_above_one() -> None:
    assert fewest_perfect(1.0, alpha=ALPHA, block=10) is None
    assert fewest_perfect_share(1.0, alpha=ALPHA, block=10) is None
    assert fewest_perfect(0.9999, alpha=ALPHA, block=10) is None


@pytest.mark.parametrize(("rate", "baseline"), [(0.9, 0.9), (0.85, 0.9), (0.3, 0.8)])
def test_decisions_on_simulated_pairs_agree(rate: float, baseline: float) -> None:
    runs, rng = 300, np.random.default_rng(30)
    power = share_power(rate, baseline, share=0.8, alpha=0.05, block=10, most=80)
    pairs = (rng.random((runs, 8, 10, 2)) < (rate, baseline)).astype(float)
    results = [decide_share(run.tolist(), share=0.8, alpha=0.05) for run in pairs]
    for kind, chance in (("above", power.above), ("below", power.below)):
        seen = sum(result.kind == kind for result in results)
        # Both sides are simulated, so the chance is known to four of its standard errors only.
        slack = 4.0 * np.sqrt(0.25 / RUNS)
        assert seen <= most_errors(runs, min(1.0, chance + slack))
        assert runs - seen <= most_errors(runs, min(1.0, 1.0 - chance + slack))
    samples = [result.samples for result in results]
    assert abs(np.mean(samples) - power.expected_samples) <= 4.0 * np.std(samples) * np.sqrt(1 / runs + 1 / RUNS)


def test_perfect_scores_pass_a_perfect_baseline_with_the_fewest_samples() -> None:
    power = share_power(1.0, 1.0, share=0.8, alpha=0.05, block=10, most=160)
    assert (power.above, power.below, power.open) == (1.0, 0.0, 0.0)
    assert power.expected_samples == pytest.approx(20.0)


@pytest.mark.parametrize("baseline", [0.3, 0.6, 0.95, 1.0])
def test_a_score_at_its_share_of_the_baseline_passes_in_at_most_alpha_of_runs(baseline: float) -> None:
    power = share_power(0.8 * baseline, baseline, share=0.8, alpha=0.05, block=10, most=160)
    assert power.above * RUNS <= most_errors(RUNS, 0.05)
    assert power.below * RUNS <= most_errors(RUNS, 0.05)


LEVEL = 0.0125
THRESHOLD = 0.8
BLOCKS = st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=11, max_size=11), min_size=1, max_size=14)


def decided(blocks: list[list[float]], *, rows: int | None) -> SequentialDecision:
    giving_up = None if rows is None else GivingUp(rows=rows, best_gain=1.0 / THRESHOLD - 1.0)
    return decision_of_all(
        [(block_of(block, THRESHOLD),) for block in blocks], above=ABOVE, below=BELOW, alpha=LEVEL, giving_up=giving_up
    )


@given(BLOCKS)
def test_giving_up_changes_no_decision_but_to_none(blocks: list[list[float]]) -> None:
    patient, impatient = decided(blocks, rows=None), decided(blocks, rows=14)
    assert impatient.looks == patient.looks[: len(impatient.looks)]
    assert impatient.kind == (patient.kind if len(impatient.looks) == len(patient.looks) else "open")


@given(BLOCKS, st.integers(min_value=14, max_value=60))
def test_where_more_may_be_asked_a_test_is_given_up_no_earlier(blocks: list[list[float]], most: int) -> None:
    """A later run with a larger `task.max_trials` goes on from the blocks of this one."""
    assert len(decided(blocks, rows=most).looks) >= len(decided(blocks, rows=14).looks)


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 1.0, None]), min_size=11, max_size=11), min_size=14, max_size=14))
def test_what_samples_without_a_score_end_early_would_not_have_been_shown_above(blocks: list[list[Score]]) -> None:
    rows = [(block_of(block, THRESHOLD),) for block in blocks]
    whole = decision_of_all(rows, above=ABOVE, below=BELOW, alpha=LEVEL)
    early = decision_of_all(
        rows, above=ABOVE, below=BELOW, alpha=LEVEL, giving_up=GivingUp(rows=14, most_gain=1.0 / THRESHOLD - 1.0)
    )
    assert early.looks == whole.looks[: len(early.looks)]
    if early.kind != whole.kind:
        assert (early.kind, whole.kind) in (("unscorable", "open"), ("unscorable", "below"))


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, None])] * 2), min_size=40, max_size=40))
def test_nor_against_a_share_of_the_baseline(pairs: list[tuple[Score, Score]]) -> None:
    rows = [(paired_block(pairs[i : i + 10], 0.5),) for i in range(0, 40, 10)]
    whole = decision_of_all(rows, above=SHARE_ABOVE, below=SHARE_BELOW, alpha=0.2)
    early = decision_of_all(
        rows, above=SHARE_ABOVE, below=SHARE_BELOW, alpha=0.2, giving_up=GivingUp(rows=4, most_gain=2.0)
    )
    assert early.kind == whole.kind or early.kind == "unscorable"
    assert (early.kind == "above") is (whole.kind == "above")


def test_right_and_wrong_answers_alone_make_nothing_unscorable() -> None:
    hopeless = [(block_of([0.0] * 3 + [1.0] * 7, THRESHOLD),)] * 2
    giving_up = GivingUp(rows=2, most_gain=1.0 / THRESHOLD - 1.0)
    assert decision_of_all(hopeless, above=ABOVE, below=BELOW, alpha=LEVEL, giving_up=giving_up).kind == "open"


def test_one_of_several_means_that_is_hopeless_is_enough() -> None:
    good, doubtful = block_of([1.0] * 10, THRESHOLD), block_of([1.0] * 7 + [0.0] * 3, THRESHOLD)
    giving_up = GivingUp(rows=14, best_gain=0.25)
    given_up = decision_of_all([(good, doubtful)] * 14, above=ABOVE, below=BELOW, alpha=LEVEL, giving_up=giving_up)
    assert (given_up.kind, given_up.blocks_used) == ("open", 1)


@pytest.mark.parametrize("profile", [(0.9, 0.9, 0.9, 0.9), (1.0, 0.8, 0.6, 0.6)])
def test_the_power_is_that_of_every_possible_run(profile: tuple[float, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """All 5 ** 4 counts of right answers in four blocks of four, each weighted by its chance."""
    for module in ("betting", "power"):
        monkeypatch.setattr(f"contextcliff.statistics.{module}.HOPED", 2)
    profile_power.cache_clear()
    of_count = [0.0] * 5
    for scores in itertools.product((1, 0), repeat=4):
        chance = math.prod(rate if x else 1.0 - rate for x, rate in zip(scores, profile, strict=True))
        of_count[sum(scores)] += chance
    chances, expected = dict.fromkeys(("above", "below", "open"), 0.0), 0.0
    for counts in itertools.product(range(5), repeat=4):
        rows = [(block_of([1.0] * right + [0.0] * (4 - right), 0.5),) for right in counts]
        result = decision_of_all(
            rows, above=ABOVE, below=BELOW, alpha=0.2, below_at=5.0, giving_up=GivingUp(rows=4, best_gain=1.0)
        )
        chance = math.prod(of_count[right] for right in counts)
        chances[result.kind] += chance
        expected += chance * result.samples
    power = profile_power(profile, threshold=0.5, alpha=0.2, most=16, below_at=5.0, gives_up=True)
    profile_power.cache_clear()
    assert (power.above, power.below, power.open) == pytest.approx(tuple(chances.values()))
    assert power.expected_samples == pytest.approx(expected)


@pytest.mark.parametrize(("rate", "baseline"), [(0.95, 0.95), (0.85, 1.0), (0.5, 0.9)])
def test_the_power_against_a_share_is_that_of_runs(rate: float, baseline: float) -> None:
    rng, giving_up = np.random.default_rng(0), GivingUp(rows=14, best_gain=0.25)
    ends, samples, runs = dict.fromkeys(("above", "below", "open"), 0), 0, 400
    for _ in range(runs):
        pairs = np.stack([rng.random((14, 11)) < rate, rng.random((14, 11)) < baseline], axis=-1).astype(float)
        rows = [(paired_block([(float(x), float(y)) for x, y in block], 0.8),) for block in pairs]
        result = decision_of_all(rows, above=SHARE_ABOVE, below=SHARE_BELOW, alpha=0.05, giving_up=giving_up)
        ends[result.kind] += 1
        samples += result.samples
    power = share_power(rate, baseline, share=0.8, alpha=0.05, block=11, most=154, gives_up=True)
    for chance, end in ((power.above, "above"), (power.below, "below"), (power.open, "open")):
        assert chance == pytest.approx(ends[end] / runs, abs=4 * math.sqrt(0.25 / runs))
    assert power.expected_samples == pytest.approx(samples / runs, rel=0.15)


def test_it_saves_most_of_the_samples_near_the_threshold_and_costs_little_power_where_a_length_is_good() -> None:
    """Exact, at the level of the first length that refining tests, in blocks of 11 and at most 154 samples."""

    def power(rate: float, *, gives_up: bool) -> tuple[float, float]:
        result = sequential_power(rate, threshold=THRESHOLD, alpha=LEVEL, block=11, most=154, gives_up=gives_up)
        return result.above, result.expected_samples

    lost_and_saved = {1.0: (0.0, 0.0), 0.98: (0.01, 0.0), 0.95: (0.07, 0.05), 0.85: (0.03, 0.7), 0.8: (0.01, 0.8)}
    for rate, (lost, saved) in lost_and_saved.items():
        (patient, patient_samples), (given_up, samples) = power(rate, gives_up=False), power(rate, gives_up=True)
        assert patient - lost <= given_up <= patient
        assert samples <= (1.0 - saved) * patient_samples
