"""Healthy rounds: what makes a round one, how many a length has, and the safe cap that rests on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import Study, StudyFacts
from contextcliff.records.generation import ScoredSample
from contextcliff.writing.levels import health_of
from contextcliff.writing.measures.measure import AUTHOR_LIMIT, COMPOSITE, HEALTHY
from contextcliff.writing.prose_findings import Health, Writing
from contextcliff.writing.task.continuation_scoring import fault_of
from tests.make import known
from tests.writing.made_writing import writing, written

LENGTHS = (1_024, 2_048, 4_096)
FINE, LOOP = 3.0, 50.0
"""Composites of an author's passage and of a paragraph or two in a loop."""
LIMIT = 15.0


def one(length: int, trial: int, *, composite: float = FINE, failure: str | None = None) -> ScoredSample:
    """A round as the task scores it."""
    details = {COMPOSITE: composite, AUTHOR_LIMIT: LIMIT, "mtld": 70.0 + trial - composite}
    return written(
        length,
        {**details, HEALTHY: float(fault_of(details, failure) is None)},
        trial=trial,
        score=1.0 - composite / 100.0,
        failure=failure,
    )


def rounds(length: int, n: int, *, loops: int = 0) -> list[ScoredSample]:
    """`n` rounds, `loops` of them in a loop."""
    return [
        one(length, trial, composite=LOOP, failure="repetition") if trial < loops else one(length, trial)
        for trial in range(n)
    ]


def study(scored: Sequence[ScoredSample], *, threshold: float = 0.7, relative: bool = False) -> Study:
    """The analysis of a continuation run."""
    return study_of(
        scored,
        AnalysisSettings(threshold=threshold, relative_to_baseline=relative),
        StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False, quantity="healthy"),
    )


def health(found: Study) -> Health:
    return known(health_of(known(found.sequence).results, found.safe_cap))


def judged(scored: Sequence[ScoredSample], *, threshold: float = 0.7) -> Writing:
    """What is said of the writing beside this cap."""
    found = study(scored, threshold=threshold)
    return writing(scored, health=health(found), settling_rounds=found.settled_by)


@pytest.mark.parametrize(
    ("composite", "failure", "fault"),
    [
        (LIMIT, None, None),
        (LIMIT + 0.1, None, "beyond_author"),
        (LIMIT + 0.1, "copied", "beyond_author"),
        (FINE, "repetition", "loop"),
        (LOOP, "repetition", "loop"),
        (FINE, "too_short", "too_short"),
        (100.0, "empty", "too_short"),
    ],
)
def test_a_round_is_healthy_within_the_authors_limit_long_enough_and_in_no_loop(
    composite: float, failure: str | None, fault: str | None
) -> None:
    assert fault_of({COMPOSITE: composite, AUTHOR_LIMIT: LIMIT}, failure) == fault
    # Of an author who is not known nothing can be said.
    assert fault_of({}, "unmeasured") == fault_of({COMPOSITE: FINE}, None) == "unmeasured"


def test_the_cap_rests_on_the_share_of_healthy_rounds_and_the_bins_stay_scores() -> None:
    found = study([each for length in LENGTHS for each in rounds(length, 14, loops=(length == 4_096 and 8) or 0)])
    assert found.safe_cap.tokens == 2_048
    assert found.safe_cap.quantity == "healthy"
    assert found.safe_cap.relative_to_baseline is False
    assert [level.mean for level in found.bins][:2] == [pytest.approx(1.0 - FINE / 100)] * 2
    assert [level.share for level in health(found).levels] == [1.0, 1.0, pytest.approx(6 / 14)]


def test_a_mean_that_clears_hides_no_collapse() -> None:
    """Eight rounds of twenty in a loop: the mean keeps 70% of the shortest length's, and there is no cap beyond it."""
    scored = [*rounds(1_024, 20), *rounds(2_048, 20, loops=8)]
    means = [float(np.mean([each.score or 0.0 for each in scored if each.sample.context_tokens == length]))
             for length in (1_024, 2_048)]  # fmt: skip
    assert means[1] > 0.7 * means[0]
    assert study(scored).safe_cap.tokens == 1_024
    assert study([each for length in LENGTHS for each in rounds(length, 20, loops=8)]).safe_cap.tokens is None


def test_the_levels_say_why_rounds_are_not_healthy_and_count_each_once() -> None:
    scored = [
        *rounds(1_024, 10, loops=2),
        one(1_024, 10, composite=20.0),
        one(1_024, 11, composite=60.0, failure="too_short"),
        written(1_024, {}, trial=12, score=None),
    ]
    (level,) = health(study(scored)).levels
    assert (level.n, level.n_unscored, level.healthy) == (12, 1, 8)
    assert level.faults == {"loop": 2, "beyond_author": 1, "too_short": 1}
    assert level.tested_low == pytest.approx(stats.beta.ppf(0.05, 8, 6))  # 8 of 13: the unscored one counts against


def test_too_few_rounds_say_what_would_settle_it_and_the_reason_of_the_cap_says_the_same() -> None:
    found = study([each for length in LENGTHS for each in rounds(length, 3)])
    said = judged([each for length in LENGTHS for each in rounds(length, 3)])
    assert str(found.safe_cap.reason) == (
        "no tested length is shown to clear a healthy share of 0.70 at 95% confidence; at 1,024 the healthy share is "
        "1.00 (95% CI 0.44–1.00), but 3 samples cannot show a healthy share of 0.70 even if all are healthy; at least "
        "9 samples a length are needed"
    )
    assert said.settling_rounds == 9
    assert "about 9 rounds a length are likely to" in str(said.verdict)


@pytest.mark.parametrize("n", [9, 10, 14, 20])
def test_the_walk_clears_a_length_from_the_count_on_that_the_exact_test_takes(n: int) -> None:
    fewest = next(k for k in range(n + 1) if stats.binom.sf(k - 1, n, 0.7) <= 0.05)
    for bad in range(n - fewest, min(n, n - fewest + 2) + 1):
        cap = study([*rounds(1_024, n, loops=bad)]).safe_cap.tokens
        assert (cap is not None) is (n - bad >= fewest)
