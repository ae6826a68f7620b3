"""The operating guide: what each length is rated, and the advice by facts."""

import re
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.walk import AbsoluteThreshold, FixedSequenceTest, fixed_sequence_test
from contextcliff.findings.finding import sections_with
from contextcliff.findings.guide import Guide, operating_guide
from contextcliff.findings.half_life import HalfLife, HalfLifeFits
from contextcliff.records.note import as_it_is
from tests.analysis.analysis_samples import analysed, curve, finding, scored_sample
from tests.analysis.made_levels import counted, scoring
from tests.analysis.searched_samples import analysed_search, plan_of, searched

NO_HALF_LIFE = HalfLife(tokens=None, ci_low=None, ci_high=None, censored=False, reason=as_it_is("none"))


def guide(
    results: Mapping[int, tuple[int, int]], half_life: HalfLife = NO_HALF_LIFE, *, threshold: float = 0.8
) -> Guide:
    return operating_guide(sequence(counted(results), threshold=threshold), half_life)


def sequence(results: Sequence[LengthResult], *, threshold: float = 0.8) -> FixedSequenceTest:
    return fixed_sequence_test(results, AbsoluteThreshold(threshold=threshold, confidence=0.95))


def halving(tokens: int, *, censored: bool = False) -> HalfLife:
    return HalfLife(tokens=tokens, ci_low=None, ci_high=None, censored=censored, reason=as_it_is("fitted"), initial=1.0)


@pytest.mark.parametrize(
    ("right", "rated"),
    [(100, "caution"), (91, "caution"), (50, "caution"), (49, "danger"), (0, "danger")],
)
def test_nothing_beyond_the_cap_is_safe_and_under_050_is_danger(right: int, rated: str) -> None:
    *_, row = guide({500: (80, 100), 1_000: (right, 100)}).rows
    assert row.level == rated


def test_a_length_up_to_the_cap_is_safe_whatever_its_mean() -> None:
    (row,) = guide({500: (65, 100)}, threshold=0.5).rows
    assert (row.level, row.sure) == ("safe", True)


def test_a_length_shown_to_be_below_the_threshold_is_not_safe_however_high_its_mean() -> None:
    *_, row = guide({500: (1_000, 1_000), 1_000: (920, 1_000)}, threshold=0.95).rows
    assert (row.level, row.sure) == ("caution", True)


@pytest.mark.parametrize(
    ("right", "sure"),
    [(100, True), (88, True), (83, False), (75, False), (70, True), (45, True), (0, True)],
)
def test_a_rating_is_sure_where_the_tests_of_the_cap_show_it(right: int, sure: bool) -> None:
    (row,) = guide({500: (right, 100)}).rows
    assert row.sure is sure


def test_behind_a_length_that_does_not_clear_nothing_is_surely_safe() -> None:
    found = guide({500: (83, 100), 1_000: (100, 100), 2_000: (5, 100)})
    assert [(row.level, row.sure) for row in found.rows] == [("caution", False), ("caution", False), ("danger", True)]


def test_a_search_is_as_sure_as_it_was_when_it_stopped() -> None:
    """Twenty right of twenty end the test of a length, though their interval reaches down to 0.84."""
    plan = plan_of(512, 1_024, 2_048, 4_096)
    samples = searched(plan, lambda length, _: float(length < 4_096), AnalysisSettings())
    analysis = analysed_search(plan, samples, finders=sections_with())
    rows = finding(analysis, Guide).rows
    assert [(row.level, row.sure) for row in rows] == [("safe", True)] * 3 + [("danger", True)]
    assert rows[2].max_tokens == analysis.safe_cap.tokens == 2_048


def test_a_row_has_the_figures_of_its_length() -> None:
    (row,) = guide({500: (19, 20)}).rows
    assert (row.asked_tokens, row.n_samples, row.mean) == (500, 20, 0.95)
    assert (row.ci_low, row.ci_high) == pytest.approx((0.7639, 0.9911), abs=1e-4)


def test_neighbouring_lengths_of_one_rating_are_one_piece_of_advice() -> None:
    found = guide({500: (100, 100), 1_000: (99, 100), 2_000: (95, 100), 4_000: (70, 100), 8_000: (10, 100)})
    assert list(map(str, found.advice)) == [
        "safe from 500 to 2,000 tokens (mean score 0.95–1.00, n = 300): use the text as it is",
        "caution at 4,000 tokens (mean score 0.70, n = 100): repeat or compress the key facts",
        "danger at 8,000 tokens (mean score 0.10, n = 100): use retrieval, a summary or chunking instead of the whole"
        " text",
    ]


def test_a_rating_that_comes_back_has_advice_of_its_own() -> None:
    found = guide({500: (98, 100), 1_000: (70, 100), 2_000: (10, 100), 4_000: (98, 100)})
    assert [str(advice).split(" (")[0] for advice in found.advice] == [
        "safe at 500 tokens",
        "caution at 1,000 tokens",
        "danger at 2,000 tokens",
        "caution at 4,000 tokens",
    ]


def test_several_doubtful_lengths_are_listed() -> None:
    (advice,) = guide({500: (12, 13), 1_000: (12, 13), 2_000: (12, 13)}).advice
    assert str(advice).endswith("; at 500, 1,000 and 2,000 the tests of the safe cap do not show it")


def test_advice_is_in_the_tokens_that_were_measured() -> None:
    found = finding(analysed([scored_sample(500, 1.0, measured=523) for _ in range(20)]), Guide)
    assert found.rows[0].asked_tokens == 500
    assert str(found.advice[0]).startswith("safe at 523 tokens (")


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


def test_a_length_without_scores_is_neither_rated_nor_advised_on() -> None:
    assert operating_guide(sequence(scoring({500: []})), NO_HALF_LIFE) == Guide(rows=(), advice=())
    assert finding(analysed([]), Guide) == Guide(rows=(), advice=())


def test_the_analysis_carries_the_guide() -> None:
    found = analysed(curve({500: (20, 50), 1_000: (10, 50), 1_500: (5, 50)}))
    assert [row.level for row in finding(found, Guide).rows] == ["danger"] * 3
    assert finding(found, HalfLifeFits).half_life.tokens == 500
    assert len(finding(found, Guide).advice) == 3


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)).map(lambda p: (min(p), max(p))), max_size=8))
def test_every_length_with_scores_is_advised_on_once(results: list[tuple[int, int]]) -> None:
    found = guide({500 * 2**i: counts for i, counts in enumerate(results)})
    assert len(found.rows) == len(results)
    said = "".join(map(str, found.advice)).replace(",", "")
    assert sum(map(int, re.findall(r"n = (\d+)", said))) == sum(n for _, n in results)
