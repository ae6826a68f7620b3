"""The sentence that goes with the cap, to the letter."""

from collections.abc import Mapping
from typing import Any

from tests.analysis.analysis_samples import analysed, curve

Results = Mapping[int, tuple[int, ...]]


def reason(results: Results, **kwargs: Any) -> str:
    return analysed(curve(results), **kwargs).safe_cap.reason


def test_cliff() -> None:
    assert reason({500: (40, 40), 1_024: (40, 40), 2_048: (22, 40)}) == (
        "every tested length up to 1,024 tokens clears 0.80 at 95% confidence; "
        "at 2,048 the score is 0.55 (95% CI 0.40–0.69)"
    )


def test_flat() -> None:
    assert reason({500: (20, 20), 1_000: (20, 20)}) == (
        "every tested length up to 1,000 tokens clears 0.80 at 95% confidence; "
        "that is the longest one, and no fall was found"
    )


def test_slope() -> None:
    assert reason({500: (40, 40), 1_000: (35, 40), 2_000: (2, 40)}) == (
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 the score is 0.88 "
        "(95% CI 0.74–0.95), shown neither to clear it nor to be below it; at 2,000 it is below, 0.05 "
        "(95% CI 0.01–0.17)"
    )


def test_too_few_samples_even_if_all_were_right() -> None:
    assert reason({500: (10, 10)}) == (
        "no tested length is shown to clear 0.80 at 95% confidence; at 500 the score is 1.00 "
        "(95% CI 0.72–1.00), but 10 samples cannot show 0.80 even if all are right; at least 14 samples a "
        "length are needed"
    )


def test_too_few_samples_above_the_threshold() -> None:
    assert reason({500: (40, 40), 1_000: (36, 40)}) == (
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 the score is 0.90 "
        "(95% CI 0.77–0.96), above the threshold, but 40 samples are too few to show it; a new run with "
        "about 129 scored samples at that length is likely to settle it"
    )


def test_too_few_samples_below_the_threshold() -> None:
    assert reason({500: (40, 40), 1_000: (30, 40)}).endswith(
        "at 1,000 the score is 0.75 (95% CI 0.60–0.86), below the threshold, but 40 samples do not show that "
        "it is degraded; a new run with about 342 scored samples at that length is likely to settle it"
    )


def test_a_score_on_the_threshold_is_not_called_below() -> None:
    assert ", at the threshold, but 40 samples" in reason({500: (32, 40)})


def test_unscored_samples_that_decide() -> None:
    assert reason({500: (40, 40), 1_000: (40, 40, 10)}).endswith(
        "but 10 of 50 samples are unscored, and were those wrong it would not clear 0.80"
    )


def test_a_length_without_a_score() -> None:
    assert reason({500: (40, 40), 1_000: (0, 0, 20)}).endswith(
        "at 1,000 none of 20 samples was scored; at least 14 scored samples are needed there"
    )


def test_nothing_scored() -> None:
    assert reason({500: (0, 0, 7)}) == "none of the 7 samples was scored: nothing can be said of any length"


def test_no_samples() -> None:
    assert reason({}) == "there are no samples to analyse"


def test_bad_at_every_length() -> None:
    assert reason({500: (5, 40), 1_000: (4, 40)}) == (
        "below 0.80 at every length tested (0.12 (95% CI 0.05–0.26) at the shortest, 500 tokens): no length "
        "is safe here; test shorter lengths or an easier task"
    )


def test_bad_at_first_and_good_later_is_said_as_it_is() -> None:
    assert reason({500: (20, 40), 1_000: (40, 40)}) == (
        "below 0.80 already at the shortest length, 500 tokens (0.50 (95% CI 0.35–0.65)), though it clears "
        "it at 1,000, so that the shortest length is not the easiest one here; no length is shown to be safe "
        "from the start"
    )


def test_a_relative_threshold_names_its_baseline() -> None:
    assert reason({500: (100, 100), 1_000: (40, 100)}, relative=True) == (
        "every tested length up to 500 tokens clears 0.80 of the baseline (1.00 at 500 tokens) at 95% "
        "confidence; at 1,000 the score is 0.40 (95% CI 0.31–0.50)"
    )


def test_a_baseline_of_zero_is_none() -> None:
    assert reason({500: (0, 20), 1_000: (1, 20)}, relative=True) == (
        "the score at the shortest length, 500 tokens, is 0.00: there is no baseline to compare with; test "
        "shorter lengths or an easier task"
    )


def test_a_threshold_that_nothing_can_show() -> None:
    assert reason({500: (40, 40)}, threshold=1.0).endswith("and no number of samples can show a score of 1.00")


def test_a_confidence_with_a_decimal_is_not_rounded() -> None:
    assert "at 97.5% confidence" in reason({500: (40, 40)}, confidence=0.975)
