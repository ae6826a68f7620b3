"""The heatmap's cells."""

from tests.make import analysed, right_of, scored_sample


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
