"""The operating guide: what each length is rated, and the advice by facts."""

from collections.abc import Mapping, Sequence

import pytest

from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.walk import AbsoluteThreshold, FixedSequenceTest, fixed_sequence_test
from contextcliff.findings.guide import Guide, operating_guide
from contextcliff.findings.half_life import HalfLife
from contextcliff.records.note import as_it_is
from tests.make import counted

NO_HALF_LIFE = HalfLife(tokens=None, ci_low=None, ci_high=None, censored=False, reason=as_it_is("none"))


def guide(
    results: Mapping[int, tuple[int, int]],
    half_life: HalfLife = NO_HALF_LIFE,
    *,
    threshold: float = 0.8,
    cap: int | None = 1 << 20,
) -> Guide:
    return operating_guide(sequence(counted(results), threshold=threshold), half_life, cap=cap)


def sequence(results: Sequence[LengthResult], *, threshold: float = 0.8) -> FixedSequenceTest:
    return fixed_sequence_test(results, AbsoluteThreshold(threshold=threshold, confidence=0.95))


def halving(tokens: int, *, censored: bool = False) -> HalfLife:
    return HalfLife(tokens=tokens, ci_low=None, ci_high=None, censored=censored, reason=as_it_is("fitted"), initial=1.0)


@pytest.mark.parametrize(
    ("right", "rated"), [(100, "caution"), (91, "caution"), (50, "caution"), (49, "danger"), (0, "danger")]
)
def test_nothing_beyond_the_cap_is_safe_and_under_050_is_danger(right: int, rated: str) -> None:
    *_, row = guide({500: (80, 100), 1_000: (right, 100)}).rows
    assert row.level == rated


def test_a_length_shown_to_be_below_the_threshold_is_not_safe_however_high_its_mean() -> None:
    *_, row = guide({500: (1_000, 1_000), 1_000: (920, 1_000)}, threshold=0.95).rows
    assert (row.level, row.sure) == ("caution", True)


def test_right_answers_beyond_a_limit_by_memory_or_time_are_too_long() -> None:
    found = guide({500: (100, 100), 1_000: (100, 100), 2_000: (0, 100)}, cap=500)
    assert [row.level for row in found.rows] == ["safe", "limited", "danger"]
    said = "too long at 1,000 tokens (mean score 1.00, n = 100): shorten the text: memory or time is not shown to allow"
    assert str(found.advice[1]).startswith(said)


@pytest.mark.parametrize(
    ("right", "sure"), [(100, True), (88, True), (83, False), (75, False), (70, True), (45, True), (0, True)]
)
def test_a_rating_is_sure_where_the_tests_of_the_cap_show_it(right: int, sure: bool) -> None:
    (row,) = guide({500: (right, 100)}).rows
    assert row.sure is sure


@pytest.mark.parametrize(
    ("half_life", "advice"),
    [
        (halving(4_000), []),
        (halving(3_999), ["the fitted half-life is 3,999 tokens, under 4,000"]),
        (halving(3_000, censored=True), ["the fitted half-life is 3,000 tokens, beyond the longest test, under 4,000"]),
        (halving(1_999), [f"the fitted half-life is 1,999 tokens, under {below}" for below in ("4,000", "2,000")]),
    ],
)
def test_a_short_half_life_calls_for_retrieval_and_a_shorter_one_for_rotation_too(
    half_life: HalfLife, advice: list[str]
) -> None:
    further = map(str, guide({500: (98, 100)}, half_life).advice[1:])
    does = ("retrieval or chunking is advised", "rotate the context")
    for found, short, what in zip(further, advice, does[: len(advice)], strict=True):
        assert found.startswith(f"{short}: {what}")
