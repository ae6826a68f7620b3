"""Why the cap is where it is: which fact, with which figures. The sentences are tested in `tests/words`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.records.amounts import SampleCount
from contextcliff.records.cap_reason import (
    BaselineAlone,
    BelowAtShortest,
    BelowEverywhere,
    CapReason,
    Degraded,
    EndOfRange,
    GivenUp,
    NeitherShown,
    NoBaseline,
    NoneScored,
    NothingScored,
    Part,
    Stop,
    StopCause,
    TooFewPlanned,
    TooFewToClear,
    TooFewToReject,
    UnscoredCouldBeRight,
    UnscoredDecide,
    Unshowable,
    ZeroBaseline,
)
from contextcliff.records.fact import NoSamples
from tests.analysis.analysis_samples import analysed, curve, fractional, right_of
from tests.analysis.clustered_samples import texts
from tests.analysis.searched_samples import analysed_search, plan_of, searched

Results = Mapping[int, tuple[int, ...]]


def reason(results: Results, **kwargs: Any) -> CapReason:
    return analysed(curve(results), **kwargs).safe_cap.reason


def stop(results: Results, **kwargs: Any) -> Stop:
    found = reason(results, **kwargs)
    assert isinstance(found, Stop)
    return found


def samples(n: int) -> SampleCount:
    return SampleCount(n=n, unit="samples")


def test_a_cliff_has_the_length_up_to_which_it_is_shown_and_the_score_where_it_stops() -> None:
    found = stop({500: (40, 40), 1_024: (40, 40), 2_048: (22, 40)})
    assert (found.shown_up_to, found.cause, found.fall) == (1_024, Degraded(), None)
    assert found.at is not None
    assert (found.at.tokens, found.at.mean) == (2_048, 0.55)
    assert (found.at.ci_low, found.at.ci_high) == pytest.approx((0.398, 0.693), abs=1e-3)


def test_a_run_without_a_fall_stops_nowhere() -> None:
    found = stop({500: (20, 20), 1_000: (20, 20)})
    assert (found.shown_up_to, found.at, found.cause) == (1_000, None, EndOfRange())


def test_a_slope_stops_at_a_length_that_is_neither_and_falls_at_a_longer_one() -> None:
    found = stop({500: (40, 40), 1_000: (35, 40), 2_000: (2, 40)})
    assert found.shown_up_to == 500
    assert isinstance(found.cause, NeitherShown)
    assert found.cause.needed == samples(176)
    assert found.cause.planned_score == pytest.approx(0.871, abs=1e-3)
    assert found.fall is not None
    assert (found.fall.tokens, found.fall.mean) == (2_000, 0.05)


@pytest.mark.parametrize(
    ("results", "cause"),
    [
        ({500: (10, 10)}, TooFewPlanned(planned=samples(10), binary=True, needed=samples(14), most=20_000)),
        (
            {500: (40, 40), 1_000: (36, 40)},
            TooFewToClear(scored=40, unit="samples", at_both_lengths=False, needed=samples(106), most=20_000),
        ),
        (
            {500: (40, 40), 1_000: (30, 40)},
            TooFewToReject(scored=40, unit="samples", is_at_threshold=False, needed=samples(345), most=20_000),
        ),
        (
            {500: (32, 40)},
            TooFewToReject(scored=40, unit="samples", is_at_threshold=True, needed=samples(4_979), most=20_000),
        ),
        (
            {500: (2_005, 2_500)},
            TooFewToClear(scored=2_500, unit="samples", at_both_lengths=False, needed=None, most=20_000),
        ),
        ({500: (40, 40), 1_000: (40, 40, 10)}, UnscoredDecide(here=Part(n=10, total=50), at_baseline=None)),
        ({500: (40, 40), 1_000: (0, 0, 20)}, NoneScored(planned=samples(20), needed=samples(14))),
    ],
)
def test_what_stops_the_test_for_lack_of_data_has_what_would_settle_it(results: Results, cause: StopCause) -> None:
    found = stop(results).cause
    if isinstance(found, TooFewToClear | TooFewToReject):
        found = replace(found, planned_score=None)
    assert found == cause


def test_what_would_settle_it_is_planned_for_the_score_of_all_lengths() -> None:
    """18 of 20 after lengths without a mistake: a true score of 0.9 there would take 129 samples."""
    found = stop({500: (20, 20), 1_000: (19, 20), 2_000: (20, 20), 4_000: (18, 20)}).cause
    assert isinstance(found, TooFewToClear)
    assert found.planned_score == pytest.approx(78 / 82)
    assert found.needed == samples(30)
    assert analysed(curve({500: (40, 40), 1_000: (36, 40)})).safe_cap.settling_samples == 106


def test_unscored_samples_that_hide_a_fall_are_said_to() -> None:
    found = stop({1_000: (40, 40), 2_000: (0, 10, 90)})
    assert found.cause == UnscoredCouldBeRight(here=Part(n=90, total=100))


def test_a_threshold_that_nothing_can_show() -> None:
    assert stop({500: (40, 40)}, threshold=1.0).cause == Unshowable(score=1.0)


def test_many_unscored_samples_are_what_stops_it_and_not_the_number_that_was_planned() -> None:
    found = analysed(right_of(500, 10, 10, unscored=10)).safe_cap.reason
    assert isinstance(found, Stop)
    assert found.cause == UnscoredDecide(here=Part(n=10, total=20), at_baseline=None)


def test_texts_of_uneven_samples_need_more_texts_and_lack_no_scores() -> None:
    """Even texts of as many samples would just do; these don't, and nothing is unscored."""
    found = analysed(texts(500, *[(n, n) for n in (1, 1, 2, 2, 3, 3, 4, 4)])).safe_cap.reason
    assert isinstance(found, Stop)
    assert found.cause == TooFewPlanned(
        planned=SampleCount(n=20, unit="samples", n_shared=8),
        binary=True,
        needed=SampleCount(n=22, unit="samples", n_shared=9),
        most=20_000,
    )


def test_fractional_scores_are_not_said_to_be_right() -> None:
    found = analysed(fractional({500: [0.9] * 3})).safe_cap.reason
    assert isinstance(found, Stop)
    assert isinstance(found.cause, TooFewPlanned)
    assert not found.cause.binary


def test_without_a_score_nothing_can_be_said() -> None:
    assert reason({500: (0, 0, 7)}) == NothingScored(planned=7)
    assert reason({}) == NoSamples()


def test_bad_at_every_length() -> None:
    found = reason({500: (5, 40), 1_000: (4, 40)})
    assert isinstance(found, BelowEverywhere)
    assert (found.first.tokens, found.first.mean) == (500, 0.125)


@pytest.mark.parametrize(
    ("results", "recovered"),
    [({500: (20, 40), 1_000: (40, 40)}, 1_000), ({500: (20, 40), 1_000: (33, 40), 2_000: (10, 40)}, None)],
)
def test_bad_at_first_and_not_at_all_longer_lengths(results: Results, recovered: int | None) -> None:
    found = reason(results)
    assert isinstance(found, BelowAtShortest)
    assert found.recovered_tokens == recovered


def test_a_relative_threshold_has_its_baseline() -> None:
    threshold = stop({500: (100, 100), 1_000: (40, 100)}, relative=True).threshold
    assert (threshold.value, threshold.relative) == (0.8, True)
    assert (threshold.baseline_mean, threshold.baseline_tokens) == (1.0, 500)


@pytest.mark.parametrize(
    ("results", "found"),
    [
        ({500: (0, 20), 1_000: (1, 20)}, ZeroBaseline(tokens=500)),
        ({500: (20, 20)}, BaselineAlone(tokens=500)),
        (
            {500: (3, 3), 1_000: (3, 3)},
            NoBaseline(n_lengths=1, tokens=500, scored=3, planned=3, unit="samples", fewest=5),
        ),
        (
            {500: (3, 3, 4), 1_000: (3, 3)},
            NoBaseline(n_lengths=1, tokens=500, scored=3, planned=7, unit="samples", fewest=5),
        ),
    ],
)
def test_what_is_no_baseline(results: Results, found: CapReason) -> None:
    assert reason(results, relative=True) == found


def test_unscored_samples_of_the_baseline_that_decide_are_counted_there() -> None:
    cause = stop({500: (30, 40, 10), 1_000: (38, 50)}, relative=True).cause
    assert cause == UnscoredDecide(here=None, at_baseline=Part(n=10, total=50))


def test_a_length_between_two_others_that_was_given_up_says_so_with_what_it_had_asked() -> None:
    plan = plan_of(500, 1_000, refine=True)

    def score_at(length: int, depth: float) -> float:  # from 700 on the first seven depths of eleven are right
        return float(length < 700 or (length < 1_000 and depth <= 0.6))

    cause = analysed_search(plan, searched(plan, score_at, AnalysisSettings())).safe_cap.reason
    assert isinstance(cause, Stop)
    assert (cause.shown_up_to, cause.cause) == (687, GivenUp(asked=samples(11)))
    assert (cause.at and cause.at.tokens, cause.fall and cause.fall.tokens) == (718, 1_000)
