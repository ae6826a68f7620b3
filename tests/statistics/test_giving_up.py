"""A sequential test is given up where its samples, going on as they are, would not show the mean above its bar."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.power import profile_power, sequential_power, share_power
from contextcliff.statistics.sequential import (
    ABOVE,
    BELOW,
    SHARE_ABOVE,
    SHARE_BELOW,
    GivingUp,
    Score,
    SequentialDecision,
    block_of,
    decision_of_all,
    paired_block,
)

ALPHA = 0.0125
THRESHOLD = 0.8
BLOCKS = st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=11, max_size=11), min_size=1, max_size=14)


def decided(blocks: list[list[float]], *, rows: int | None) -> SequentialDecision:
    giving_up = None if rows is None else GivingUp(rows=rows, best_gain=1.0 / THRESHOLD - 1.0)
    return decision_of_all(
        [(block_of(block, THRESHOLD),) for block in blocks], above=ABOVE, below=BELOW, alpha=ALPHA, giving_up=giving_up
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
    whole = decision_of_all(rows, above=ABOVE, below=BELOW, alpha=ALPHA)
    early = decision_of_all(
        rows, above=ABOVE, below=BELOW, alpha=ALPHA, giving_up=GivingUp(rows=14, most_gain=1.0 / THRESHOLD - 1.0)
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
    assert decision_of_all(hopeless, above=ABOVE, below=BELOW, alpha=ALPHA, giving_up=giving_up).kind == "open"


def test_one_of_several_means_that_is_hopeless_is_enough() -> None:
    good, doubtful = block_of([1.0] * 10, THRESHOLD), block_of([1.0] * 7 + [0.0] * 3, THRESHOLD)
    giving_up = GivingUp(rows=14, best_gain=0.25)
    given_up = decision_of_all([(good, doubtful)] * 14, above=ABOVE, below=BELOW, alpha=ALPHA, giving_up=giving_up)
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
        result = sequential_power(rate, threshold=THRESHOLD, alpha=ALPHA, block=11, most=154, gives_up=gives_up)
        return result.above, result.expected_samples

    lost_and_saved = {1.0: (0.0, 0.0), 0.98: (0.01, 0.0), 0.95: (0.07, 0.05), 0.85: (0.03, 0.7), 0.8: (0.01, 0.8)}
    for rate, (lost, saved) in lost_and_saved.items():
        (patient, patient_samples), (given_up, samples) = power(rate, gives_up=False), power(rate, gives_up=True)
        assert patient - lost <= given_up <= patient
        assert samples <= (1.0 - saved) * patient_samples
