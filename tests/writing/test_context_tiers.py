"""Context tiers: powers of two, what is put between them, and a longest one of any size."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.writing.task.continuation_contexts import context_tiers


@pytest.mark.parametrize(
    ("start", "longest", "divisions", "answer_tokens", "tiers"),
    [
        (2_048, 16_384, 0, 512, (2_048, 4_096, 8_192, 16_384)),
        (2_000, 8_192, 1, 512, (2_048, 2_896, 4_096, 5_793, 8_192)),
        (1_024, 2_048, 2, 8, (1_024, 1_290, 1_625, 2_048)),  # 1024·2^⅓ = 1290.2, 1024·2^⅔ = 1625.5
        (1, 8_192, 0, 1_025, (4_096, 8_192)),  # twice the answer is 2,050
        (2_048, 100_000, 0, 512, (2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 100_000)),
        (2_048, 5_000, 1, 512, (2_048, 2_896, 4_096, 5_000)),
        (2_048, 7_000, 1, 512, (2_048, 2_896, 4_096, 5_793, 7_000)),
        (2_048, 1_500, 4, 512, (1_500,)),
        (2_048, 1_024, 0, 512, (1_024,)),
        (1, 4, 4, 1, (2, 3, 4)),
    ],
)
def test_tiers_worked_out_by_hand(
    start: int, longest: int, divisions: int, answer_tokens: int, tiers: tuple[int, ...]
) -> None:
    found = context_tiers(start=start, longest=longest, divisions=divisions, answer_tokens=answer_tokens)
    assert found == tiers


@pytest.mark.parametrize(("divisions", "instead"), [(3, "2 or 4"), (5, "4 or 8"), (12, "8 or 16"), (-1, "0 or 1")])
def test_divisions_that_are_no_power_of_two_are_refused(divisions: int, instead: str) -> None:
    with pytest.raises(ValueError, match="task.divisions") as raised:
        context_tiers(start=2_048, longest=8_192, divisions=divisions, answer_tokens=512)
    assert str(raised.value) == f"task.divisions={divisions}: must be 0 or a power of two; take {instead}"


def test_a_context_without_room_for_twice_the_answer_is_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match="longest") as raised:
        context_tiers(start=2_048, longest=1_023, divisions=0, answer_tokens=512)
    assert str(raised.value) == (
        "the longest context has 1,023 tokens, and an answer of 512 needs 1,024; ask for a shorter answer, or give a "
        "longer context"
    )


ASKED = {
    "start": st.integers(1, 100_000),
    "longest": st.integers(2_000, 2_000_000),
    "answer_tokens": st.integers(1, 1_000),
}
DIVISIONS = st.sampled_from([0, 1, 2, 4, 8])


@given(**ASKED, divisions=DIVISIONS)
def test_tiers_ascend_from_no_less_than_the_start_to_the_longest(
    start: int, longest: int, answer_tokens: int, divisions: int
) -> None:
    tiers = context_tiers(start=start, longest=longest, divisions=divisions, answer_tokens=answer_tokens)
    assert list(tiers) == sorted(set(tiers))
    assert tiers[-1] == longest
    assert all(tier >= 2 * answer_tokens for tier in tiers)
    assert tiers == (longest,) or tiers[0] >= start
    step = 2 ** (1 / (divisions + 1))
    assert all(other <= one * step + 2 for one, other in pairwise(tiers))  # two halves from rounding, one by the step


@given(**ASKED, divisions=DIVISIONS)
def test_more_divisions_and_a_longer_context_only_add_tiers_above_the_first(
    start: int, longest: int, answer_tokens: int, divisions: int
) -> None:
    plain = context_tiers(start=start, longest=longest, divisions=0, answer_tokens=answer_tokens)
    assert set(plain) <= set(
        context_tiers(start=start, longest=longest, divisions=divisions, answer_tokens=answer_tokens)
    )
    longer = context_tiers(start=start, longest=2 * longest, divisions=0, answer_tokens=answer_tokens)
    assert set(plain) - {longest} <= set(longer)
