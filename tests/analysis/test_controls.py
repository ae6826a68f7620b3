"""Controls: with the evidence alone, and without it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.analysis.controls import ControlLevel, ControlResults
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.intervals import clopper_pearson_low, wilson
from tests.make import analysed, control, controlled, curve, finding, right_of, scored_sample


def analysed_with(
    samples: list[ScoredSample],
    controls: list[ScoredSample],
    *,
    relative: bool = False,
    threshold: float = 0.8,
    designed: bool = True,
) -> Analysis:
    return analysed(samples, controls=controls, threshold=threshold, relative=relative, bins=2, designed=designed)


def levels(analysis: Analysis) -> tuple[ControlLevel, ...]:
    return finding(analysis, ControlResults).controls


def asked(
    length: int, *, ceiling: tuple[int, int] | None = None, floor: tuple[int, int] | None = None, depth: float = 0.5
) -> tuple[list[ScoredSample], list[ScoredSample]]:
    """Twenty right samples with `(right, n)` controls, one a sample and then over again."""
    controls = [
        control(f"{kind}-{length}-{depth}-{i}", kind, float(i < counts[0]))
        for kind, counts in (("ceiling", ceiling), ("floor", floor))
        if counts is not None
        for i in range(counts[1])
    ]
    names = [c.sample.sample_id for c in controls]
    samples = [scored_sample(length, 1.0, depth=depth) for _ in range(20)]
    return [s for sample in samples for s in controlled([sample], *names)], controls


def test_the_controls_of_a_length_are_those_that_its_samples_name_each_once() -> None:
    controls = [control("a", "ceiling", 1.0), control("b", "ceiling", 0.0), control("f", "floor", 0.0)]
    samples = [
        *controlled(right_of(500, 10, 10), "a", "f"),
        *controlled(right_of(500, 5, 5), "a", "b"),
        *controlled(right_of(1_000, 5, 5), "b", "nowhere"),
    ]
    first, second = levels(analysed_with(samples, controls))
    assert (first.asked_tokens, first.ceiling_n, first.ceiling, first.floor_n, first.floor) == (500, 2, 0.5, 1, 0.0)
    assert (first.ceiling_ci_low, first.ceiling_ci_high) == wilson(1, 2, 0.95)
    assert (first.floor_ci_low, first.floor_ci_high) == wilson(0, 1, 0.95)
    assert (second.ceiling_n, second.ceiling, second.floor_n, second.floor) == (1, 0.0, 0, None)
    assert (second.floor_ci_low, second.floor_ci_high) == (None, None)


@pytest.mark.parametrize(("right", "informative"), [(11, False), (12, True)])
def test_a_ceiling_is_low_where_its_upper_bound_is_below_the_threshold(right: int, informative: bool) -> None:
    """Of 20, 11 right have the upper bound 0.741 and 12 have 0.783; the threshold is 0.75."""
    assert (1 - clopper_pearson_low(20 - right, 20, 0.95) >= 0.75) is informative
    samples, controls = asked(500, ceiling=(right, 20))
    found = analysed_with(samples, controls, threshold=0.75)
    assert [level.informative for level in levels(found)] == [informative]
    assert [(c.ceiling, c.informative) for c in found.cells] == [(right / 20, informative)]


@pytest.mark.parametrize(("right", "informative"), [(12, True), (13, False)])
def test_a_floor_is_high_where_its_lower_bound_is_above_half_the_threshold(right: int, informative: bool) -> None:
    """Of 20, 12 right have the lower bound 0.394 and 13 have 0.442; half the threshold is 0.40."""
    assert (clopper_pearson_low(right, 20, 0.95) <= 0.4) is informative
    samples, controls = asked(500, ceiling=(20, 20), floor=(right, 20))
    found = analysed_with(samples, controls)
    assert [level.informative for level in levels(found)] == [informative]
    assert [(c.floor, c.informative) for c in found.cells] == [(right / 20, informative)]


def test_a_relative_threshold_is_a_share_of_the_baseline_for_controls_too() -> None:
    """Half of 20 right at the baseline: the threshold is 0.40, which a ceiling of 0.5 is not below."""
    names = [control(f"c{i}", "ceiling", float(i < 10)) for i in range(20)]
    samples = controlled(right_of(500, 10, 20), *(c.sample.sample_id for c in names))
    assert levels(analysed_with(samples, names, relative=True))[0].informative
    assert not levels(analysed_with(samples, names))[0].informative


def test_without_a_baseline_there_is_no_threshold_to_hold_controls_against() -> None:
    samples = controlled(right_of(500, 0, 0, 3), "a")
    assert levels(analysed_with(samples, [control("a", "ceiling", 0.0)], relative=True))[0].informative


def test_a_cell_is_not_informative_by_its_own_controls_or_by_those_of_its_length() -> None:
    good, good_controls = asked(500, ceiling=(40, 40), depth=0.0)
    bad, bad_controls = asked(500, ceiling=(4, 20), depth=1.0)
    other, other_controls = asked(1_000, ceiling=(2, 20), depth=0.0)
    lone = [scored_sample(1_000, 1.0, depth=1.0)]
    found = analysed_with([*good, *bad, *other, *lone], [*good_controls, *bad_controls, *other_controls])
    assert [level.informative for level in levels(found)] == [True, False]
    assert [(c.asked_tokens, c.depth, c.ceiling, c.informative) for c in found.cells] == [
        (500, 0.0, 1.0, True),
        (500, 1.0, 0.2, False),
        (1_000, 0.0, 0.1, False),
        (1_000, 1.0, None, False),
    ]
    assert str(found.notes[0]) == (
        "by the controls no cliff can show at 1,000 tokens (0.10 with the evidence alone): a score there says nothing "
        "about the length"
    )


def test_controls_count_in_no_score() -> None:
    samples, controls = asked(500, ceiling=(0, 20), floor=(20, 20))
    found, plain = analysed_with(samples, controls), analysed(samples)
    assert (found.bins, found.safe_cap, found.mean, found.successes) == (
        plain.bins,
        plain.safe_cap,
        plain.mean,
        plain.successes,
    )


@given(
    st.lists(st.tuples(st.sampled_from(["ceiling", "floor"]), st.sampled_from([0.0, 0.5, 1.0, None])), max_size=20),
    st.lists(st.lists(st.integers(0, 19), max_size=4), min_size=1, max_size=12),
    st.booleans(),
    st.integers(),
)
def test_the_order_of_controls_never_matters_and_intervals_hold_the_means(
    kinds: list[tuple[str, float | None]], named: list[list[int]], relative: bool, seed: int
) -> None:
    controls = [control(f"c{i}", kind, score) for i, (kind, score) in enumerate(kinds)]
    samples = [
        s
        for i, (base, names) in enumerate(zip(curve({500: (6, 6), 1_000: (3, 6)}), named * 12, strict=False))
        for s in controlled([base], *(f"c{name}" for name in names))
        if i < 12
    ]
    shuffled = random.Random(seed).sample(controls, len(controls))
    first, second = (analysed_with(samples, found, relative=relative) for found in (controls, shuffled))
    assert first == second
    for level in levels(first):
        for n, mean, low, high in (
            (level.ceiling_n, level.ceiling, level.ceiling_ci_low, level.ceiling_ci_high),
            (level.floor_n, level.floor, level.floor_ci_low, level.floor_ci_high),
        ):
            assert (n == 0) == (mean is None) == (low is None) == (high is None)
            if mean is not None and low is not None and high is not None:
                assert low - 1e-9 <= mean <= high + 1e-9
