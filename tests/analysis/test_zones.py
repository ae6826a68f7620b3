"""Zones tile the tested range."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.findings.answer import ZonesFinding
from contextcliff.findings.finding import Lines
from contextcliff.records.generation import ScoredSample
from tests.make import analysed, curve, fractional, scored_sample
from tests.simulated_reports import simulated

counts = st.tuples(
    st.integers(min_value=0, max_value=30), st.integers(min_value=0, max_value=30), st.integers(0, 3)
).map(lambda found: (min(found[:2]), found[1], found[2]))


def zones(samples: list[ScoredSample], **kwargs: Any) -> list[tuple[str, int, int]]:
    return [(z.name, z.min_tokens, z.max_tokens) for z in analysed(samples, **kwargs).zones]


def test_a_relative_threshold_moves_the_degraded_zone() -> None:
    samples = curve({500: (50, 100), 1_000: (48, 100), 2_000: (5, 100)})
    assert zones(samples, relative=True, threshold=0.7)[-1] == ("degraded", 2_000, 2_000)


def test_a_zone_has_the_mean_of_its_samples_and_its_fall_against_the_first() -> None:
    found = analysed(curve({500: (40, 40), 1_000: (40, 40), 2_000: (8, 40), 4_000: (0, 40)})).zones
    assert [(zone.mean, zone.fall) for zone in found] == [(1.0, None), (None, None), (0.1, 0.9)]


def test_under_a_relative_threshold_a_zone_falls_against_the_baseline() -> None:
    found = analysed(curve({500: (80, 100), 1_000: (88, 100), 2_000: (8, 100)}), relative=True).zones
    assert [zone.mean for zone in found] == [pytest.approx(0.84), None, pytest.approx(0.08)]
    assert [zone.fall for zone in found] == [pytest.approx(-0.05), None, pytest.approx(0.9)]


def test_a_length_that_recovers_is_behind_no_degraded_zone() -> None:
    assert zones(curve({500: (40, 40), 1_000: (5, 40), 2_000: (40, 40)})) == [
        ("stable", 0, 500),
        ("transition", 501, 2_000),
    ]


@pytest.mark.slow
@given(st.lists(st.tuples(counts, st.integers(min_value=-300, max_value=300)), min_size=1, max_size=5), st.booleans())
def test_zones_are_contiguous_and_end_with_the_longest_length(
    found: list[tuple[tuple[int, int, int], int]], relative: bool
) -> None:
    """Even where the server's counts make the bins overlap."""
    samples = [
        scored_sample(400 * i, score, measured=400 * i + shift)
        for i, ((right, n, unscored), shift) in enumerate(found, start=1)
        for score in [1.0] * right + [0.0] * (n - right) + [None] * unscored
    ]
    analysis = analysed(samples, relative=relative)
    if not samples:
        return
    tiles = analysis.zones
    cap = analysis.safe_cap.tokens
    offset = analysis.safe_cap.server_offset_tokens or 0
    shortest = min(length.clears_up_to for length in analysis.bins) - offset
    assert tiles[0].min_tokens == (0 if cap is not None else shortest)
    assert tiles[-1].max_tokens == max(length.below_from for length in analysis.bins) - offset
    for tile in tiles:
        assert tile.min_tokens <= tile.max_tokens
    for left, right_tile in itertools.pairwise(tiles):
        assert right_tile.min_tokens == left.max_tokens + 1
    order = ["stable", "transition", "degraded"]
    names = [tile.name for tile in tiles]
    assert names == sorted(set(names), key=order.index)
    assert ("stable" in names) == (cap is not None)


def test_a_zone_in_which_scores_begin_to_vary_more_says_so() -> None:
    wide = {500: [0.9, 0.92] * 15, 1_000: [0.9, 0.92] * 15, 2_000: [0.45, 1.0] * 15, 4_000: [0.0, 0.1] * 15}
    report = replace(simulated(), analysis=analysed(fractional(wide)))
    lines, _ = ZonesFinding().show(report)
    assert isinstance(lines, Lines)
    assert [str(line.text) for line in lines.lines] == [
        "[OK] stable     0 - 1,000 tokens, mean 0.91",
        "[!!] transition 1,001 - 3,999 tokens, mean 0.72 (20% lower), high variance",
        "[XX] degraded   4,000 - 4,000 tokens, mean 0.05 (95% lower)",
    ]
