"""The mean score of each depth over all lengths."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.analysis.bins import group
from contextcliff.findings.position import DepthPoint, PositionProfile, depth_profile
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.intervals import shown_interval, wilson
from tests.make import analysed, finding, right_of, scored_sample


def profile(samples: list[ScoredSample], *, binary: bool = True) -> tuple[DepthPoint, ...]:
    return depth_profile(group(samples, designed_lengths=True, bins=10), 0.95, binary=binary)


def test_a_point_is_the_mean_of_a_depth_over_all_lengths() -> None:
    samples = [
        scored_sample(500, 1.0, depth=0.5),
        scored_sample(1_000, 1.0, depth=0.5),
        scored_sample(2_000, 0.0, depth=0.5),
        scored_sample(500, 0.0, depth=0.0),
    ]
    first, middle = profile(samples)
    assert (first.depth, first.n_samples, first.mean) == (0.0, 1, 0.0)
    assert (middle.depth, middle.n_samples) == (0.5, 3)
    assert middle.mean == pytest.approx(2 / 3)
    assert (middle.ci_low, middle.ci_high) == wilson(2, 3, 0.95)


def test_a_depth_that_happens_to_be_all_right_is_judged_by_the_scores_of_the_whole_run() -> None:
    samples = [scored_sample(500, 1.0, depth=0.0), scored_sample(500, 0.5, depth=1.0)]
    first = finding(analysed(samples), PositionProfile).profile[0]
    assert (first.ci_low, first.ci_high) == shown_interval((1.0,), 0.95, binary=False)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([0.0, 1.0, None])), max_size=30))
def test_every_scored_sample_with_a_depth_is_in_one_point(items: list[tuple[float, float | None]]) -> None:
    points = profile([scored_sample(500, score, depth=depth) for depth, score in items])
    assert sum(point.n_samples for point in points) == sum(score is not None for _, score in items)
    assert [point.depth for point in points] == sorted({point.depth for point in points})
    assert all(0.0 <= point.ci_low <= point.ci_high <= 1.0 for point in points)


def test_a_cell_is_the_mean_of_the_scored_samples_of_a_length_and_depth() -> None:
    samples = [
        scored_sample(1_000, 1.0, depth=0.5),
        scored_sample(1_000, 0.5, depth=0.5),
        scored_sample(1_000, None, depth=0.5),
        scored_sample(1_000, None, depth=1.0),
        scored_sample(500, 0.0, depth=1.0),
    ]
    cells = [(c.asked_tokens, c.depth, c.n_samples, c.mean) for c in analysed(samples).cells]
    assert cells == [(500, 1.0, 1, 0.0), (1_000, 0.5, 2, 0.75), (1_000, 1.0, 0, None)]


def test_samples_without_a_depth_have_no_cell() -> None:
    assert analysed(right_of(500, 3, 4)).cells == ()


def test_cells_of_natural_lengths_follow_the_bins() -> None:
    samples = [scored_sample(n, 1.0, depth=0.5) for n in range(1, 21)]
    found = analysed(samples, designed=False, bins=2)
    assert [c.asked_tokens for c in found.cells] == [b.asked_tokens for b in found.bins]
