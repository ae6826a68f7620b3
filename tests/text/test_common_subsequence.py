"""The longest common subsequence, against the table that defines it."""

from hypothesis import given
from hypothesis import strategies as st

from contextcliff.text.words import common_subsequence_length

WORDS = st.lists(st.sampled_from("abc"), max_size=12)


def by_table(first: list[str], second: list[str]) -> int:
    row = [0] * (len(second) + 1)
    for word in first:
        before = row
        row = [0]
        for column, other in enumerate(second):
            row.append(before[column] + 1 if word == other else max(before[column + 1], row[-1]))
    return row[-1]


@given(WORDS, WORDS)
def test_it_is_the_figure_of_the_table(first: list[str], second: list[str]) -> None:
    assert common_subsequence_length(first, second) == by_table(first, second)
