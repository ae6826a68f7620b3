"""Why the cap is where it is, with the figures."""

from collections.abc import Mapping
from typing import Any

import pytest

from contextcliff.analysis.analysis_settings import AnalysisSettings
from tests.make import analysed, analysed_search, curve, fractional, plan_of, searched, texts

Results = Mapping[int, tuple[int, ...]]
LIKELY, IF_SO = " scored samples at that length is likely to settle it", ", as all lengths together suggest"
EASIER = "; test shorter lengths or an easier task"


def reason(results: Results, **kwargs: Any) -> str:
    return str(analysed(curve(results), **kwargs).safe_cap.reason)


def test_a_slope_stops_at_a_length_that_is_neither_and_falls_at_a_longer_one() -> None:
    assert reason({500: (40, 40), 1_000: (35, 40), 2_000: (2, 40)}) == (
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 the score is 0.88 (95% CI "
        "0.74–0.95), shown neither to clear it nor to be below it (about 176 scored samples there are likely to show "
        f"which, if the true score there is 0.87{IF_SO}); at 2,000 it is below, 0.05 (95% CI 0.01–0.17)"
    )


@pytest.mark.parametrize(
    ("results", "end"),
    [
        ({500: (20, 20), 1_000: (20, 20)}, "95% confidence; that is the longest one, and no fall was found"),
        (
            {500: (10, 10)},
            ", but 10 samples cannot show 0.80 even if all are right; at least 14 samples a length are needed",
        ),
        (
            {500: (40, 40), 1_000: (36, 40)},
            f", above the threshold, but 40 samples are too few to show it; a new run with about 106{LIKELY}, if the "
            f"true score there is 0.89{IF_SO}",
        ),
        (
            {500: (40, 40), 1_000: (30, 40)},
            f", below the threshold, but 40 samples do not show that it is degraded; a new run with about 345{LIKELY}, "
            f"if the true score there is 0.74{IF_SO}",
        ),
        ({500: (2_005, 2_500)}, "; so near it, not even 20,000 scored samples at that length are likely to settle it"),
        (
            {500: (40, 40), 1_000: (40, 40, 10)},
            ", but 10 of 50 samples are unscored, and were those wrong it would not clear 0.80",
        ),
        (
            {500: (40, 40), 1_000: (0, 0, 20)},
            "; at 1,000 none of 20 samples was scored; at least 14 scored samples are needed there",
        ),
        (
            {1_000: (40, 40), 2_000: (0, 10, 90)},
            ", below the threshold, but 90 of 100 samples are unscored, and were those right it would not be below",
        ),
        ({500: (0, 0, 7)}, "none of the 7 samples was scored: nothing can be said of any length"),
        ({}, "there are no samples to analyse"),
        (
            {500: (5, 40), 1_000: (4, 40)},
            "below 0.80 at every length tested (0.12 (95% CI 0.05–0.26) at the shortest, 500 tokens): no length is "
            f"safe here{EASIER}",
        ),
        (
            {500: (20, 40), 1_000: (40, 40)},
            ", though it clears it at 1,000, so that the shortest length is not the easiest one here; no length is "
            "shown to be safe from the start",
        ),
        (
            {500: (20, 40), 1_000: (33, 40), 2_000: (10, 40)},
            "below 0.80 already at the shortest length, 500 tokens (0.50 (95% CI 0.35–0.65)), though it is not shown "
            "to be below at every longer one; no length is shown to be safe from the start",
        ),
    ],
)
def test_what_stops_the_test_has_what_would_settle_it(results: Results, end: str) -> None:
    assert reason(results).endswith(end)


def test_what_would_settle_it_is_planned_for_the_score_of_all_lengths() -> None:
    """18 of 20 after lengths without a mistake: a true score of 0.9 there would take 129 samples."""
    assert reason({500: (20, 20), 1_000: (19, 20), 2_000: (20, 20), 4_000: (18, 20)}).endswith(
        f"; a new run with about 30{LIKELY}, if the true score there is 0.95{IF_SO}"
    )
    assert analysed(curve({500: (40, 40), 1_000: (36, 40)})).safe_cap.settling_samples == 106


def test_fewer_texts_than_could_show_it_if_all_were_right_lack_texts_and_no_scores() -> None:
    found = str(analysed(texts(500, *[(n, n) for n in (1, 1, 2, 2, 3, 3, 4, 4)])).safe_cap.reason)
    assert found.endswith(
        ", but 20 samples in 8 texts cannot show 0.80 even if all are right; at least 35 samples a length in 14 texts "
        "are needed"
    )


def test_fractional_scores_are_not_said_to_be_right() -> None:
    found = str(analysed(fractional({500: [0.9] * 3})).safe_cap.reason)
    assert "cannot show 0.80 even if all are as good as can be; at least 14" in found


@pytest.mark.parametrize(
    ("results", "baseline_tokens", "end"),
    [
        (
            {500: (100, 100), 1_000: (40, 100)},
            None,
            "no length beyond the baseline is shown to clear 0.80 of the baseline (1.00 at 500 tokens) at 95% "
            "confidence; at 1,000 the score is 0.40 (95% CI 0.31–0.50)",
        ),
        (
            {500: (0, 20), 1_000: (1, 20)},
            None,
            f"the score at the shortest length, 500 tokens, is 0.00: there is no baseline to compare with{EASIER}",
        ),
        (
            {500: (15, 100), 1_000: (60, 100)},
            None,
            "the baseline is a score of 0.15 at 500 tokens, under 0.20: this model hardly does the task even with "
            "short prompts, and keeping a share of that makes no length safe; take an easier task or a larger model",
        ),
        ({500: (20, 20)}, None, "only one length was tested, 500 tokens, and nothing to compare it with"),
        (
            {500: (3, 3), 1_000: (3, 3)},
            None,
            "at the shortest length, 500 tokens, there are only 3 samples: a baseline needs at least 5",
        ),
        (
            {500: (2, 2, 2), 700: (2, 2), 1_000: (9, 9)},
            700,
            "at the 2 shortest lengths together only 4 of 6 samples are scored: a baseline needs at least 5",
        ),
        (
            {500: (0, 0, 6), 1_000: (5, 5)},
            None,
            "500 tokens, none of 6 samples was scored: there is no baseline to compare with",
        ),
        (
            {500: (30, 40, 10), 1_000: (38, 48, 2)},
            None,
            ", but 2 of 50 samples are unscored, and 10 of 50 samples are unscored at the baseline: were the former "
            "wrong and the latter right it would not clear 0.80 of the baseline (0.75 at 500 tokens)",
        ),
    ],
)
def test_a_relative_threshold_is_said_with_its_baseline(
    results: Results, baseline_tokens: int | None, end: str
) -> None:
    assert reason(results, relative=True, baseline_tokens=baseline_tokens).endswith(end)


def test_a_length_between_two_others_that_is_not_shown_says_why_and_what_had_been_asked() -> None:
    plan = plan_of(500, 1_000, refine=True)

    def score_at(length: int, depth: float) -> float:  # from 700 on the first seven depths of eleven are right
        return float(length < 700 or (length < 1_000 and depth <= 0.6))

    assert str(analysed_search(plan, searched(plan, score_at, AnalysisSettings())).safe_cap.reason) == (
        "every tested length up to 686 tokens clears 0.80 at 95% confidence; at 748 the score is 0.50 (95% CI "
        "0.00–1.00), shown neither to clear it nor to be below it by 2 samples; more were not worth their tokens; at "
        "1,000 it is below, 0.00 (95% CI 0.00–0.74)"
    )
