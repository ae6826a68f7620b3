"""Means, spreads and counts: figures that do not depend on the order of the scores."""

from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.descriptive import counted, mean_of, median_of, standard_deviation

scores = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20)


@given(scores)
def test_no_figure_depends_on_the_order_of_the_scores(values: list[float]) -> None:
    turned = values[::-1]
    assert (mean_of(values), median_of(values)) == (mean_of(turned), median_of(turned))
    assert standard_deviation(values) == standard_deviation(turned)


def test_equal_scores_have_no_deviation_and_one_score_has_none_to_give() -> None:
    assert standard_deviation([0.1] * 3) == 0.0
    assert standard_deviation([0.1]) is None
    assert standard_deviation([0.0, 1.0]) == 0.5**0.5


def test_words_are_counted_most_frequent_first() -> None:
    assert list(counted(["b", "a", "c", "c"]).items()) == [("c", 2), ("a", 1), ("b", 1)]
