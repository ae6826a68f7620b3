"""A judge that decides: what it is worth on answers whose exact score is known, and what a cap then has to clear."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from contextcliff.analysis.analyse import sequence_of, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.bins import group
from contextcliff.analysis.controls import decided_by_judge, exact_score
from contextcliff.analysis.study import Study, StudyFacts
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.intervals import upper_bound
from tests.make import scored_sample
from tests.statistics.simulated_walks import most_errors, simulated_runs

RIGHT, WRONG, OTHER = (
    {"contains_reference": 1.0, "f1": 0.3},
    {"contains_reference": 0.0, "f1": 0.0},
    {"contains_reference": 0.0, "f1": 0.4},
)


def answer(length: int, details: Mapping[str, float], *, called_right: bool, text: str = "") -> ScoredSample:
    made = scored_sample(length, float(called_right))
    assert made.generation is not None
    said = replace(made.generation, text=text or f"said {made.sample.sample_id}")
    return replace(made, details=dict(details), judge_rating=9 if called_right else 2, generation=said)


def judged(length: int, n: int, details: Mapping[str, float], *, called_right: int) -> list[ScoredSample]:
    return [answer(length, details, called_right=i < called_right) for i in range(n)]


def study(scored: list[ScoredSample], *, relative: bool = False) -> Study:
    facts = StudyFacts(
        max_context_tokens=8_192, designed_lengths=True, relative_by_default=relative, judge="j", judge_right_from=7,
        judge_decides=True, metrics=("judge",),
    )  # fmt: skip
    return study_of(scored, AnalysisSettings(), facts)


def known(n: int, *, called_right: int = 0) -> list[ScoredSample]:
    """`n` known answers, half of them right; others at two lengths are said in other words, and called right."""
    return [
        *judged(500, n // 2, RIGHT, called_right=n // 2), *judged(500, 60 - n // 2, OTHER, called_right=60),
        *judged(1_000, 60, OTHER, called_right=60), *judged(2_000, n - n // 2, WRONG, called_right=called_right),
    ]  # fmt: skip


def test_only_plain_cases_have_an_exact_score() -> None:
    assert [exact_score(answer(500, one, called_right=True)) for one in (RIGHT, WRONG, OTHER)] == [1.0, 0.0, None]
    assert exact_score(answer(500, WRONG, called_right=True, text=" \n")) is None
    assert exact_score(scored_sample(500, None)) is None


@pytest.mark.parametrize(("n", "lacking"), [(10, "30 more are needed"), (38, "2 more are needed")])
def test_under_forty_known_answers_nothing_is_decided(n: int, lacking: str) -> None:
    found = study(known(n))
    cap = found.safe_cap
    assert (cap.tokens, cap.ci_high, cap.verdict, cap.evidence) == (None, None, "insufficient_evidence", "unsettled")
    assert lacking in str(cap.reason)
    assert found.threshold is not None
    assert not any(map(found.threshold.is_shown_below, found.results))


def test_forty_known_answers_that_are_all_right_decide_nothing_either() -> None:
    cap = study(judged(500, 60, RIGHT, called_right=60)).safe_cap
    assert cap.tokens is None
    assert "60 are known to be right and 0 to be wrong, so that 1 more is needed" in str(cap.reason)


def test_equal_answers_to_a_question_are_known_once() -> None:
    again = [answer(500, RIGHT, called_right=True, text="the same") for _ in range(60)]
    assert "1 are known to be right" in str(study([*again, *judged(2_000, 30, WRONG, called_right=0)]).safe_cap.reason)


@pytest.mark.parametrize(("n", "cap"), [(40, 1_000), (100, 1_000)])
def test_a_judge_that_agrees_decides_from_forty_known_answers_on(n: int, cap: int) -> None:
    found = study(known(n)).safe_cap
    assert (found.tokens, found.ci_high) == (cap, 2_000)
    most = upper_bound((0.0,) * (n // 2), 0.975)
    assert found.threshold_score == pytest.approx(0.8 + 0.2 * most)
    assert f"the judge calls 0 of {n // 2} answers right that are known to be wrong" in str(found.reason)
    assert "and the cap is 1,000 tokens" in str(found.reason)


def test_a_judge_that_calls_everything_right_makes_no_length_safe() -> None:
    """Its agreement is 83% here: most of the known answers are right."""
    scored = [*judged(500, 100, RIGHT, called_right=100), *judged(2_000, 20, WRONG, called_right=20)]
    cap = study(scored).safe_cap
    assert (cap.tokens, cap.threshold_score) == (None, 1.0)
    assert study([replace(item, judge_rating=None) for item in scored], relative=True).safe_cap.tokens is None


def test_the_cap_at_the_judges_best_rates_is_told_beside_the_one_at_its_worst() -> None:
    scored = [*known(60, called_right=6), *judged(1_500, 60, OTHER, called_right=56)]
    cap = study(scored).safe_cap
    assert cap.tokens == 1_000
    assert "and the cap is 1,500 tokens" in str(cap.reason)


def test_of_a_baseline_the_share_grows_by_what_the_judge_calls_right_wrongly() -> None:
    cap = study(known(80, called_right=4), relative=True).safe_cap
    assert cap.threshold_score is not None
    assert cap.threshold_score > 0.8 + 0.2 * upper_bound((0.0,) * 36 + (1.0,) * 4, 0.975)
    assert cap.tokens == 1_000


def test_an_unjudged_answer_counts_against_a_length() -> None:
    scored = known(60)
    unjudged = [replace(item, score=None, failure="unjudged") for item in scored[90:110]]
    cap = study([*scored[:90], *unjudged, *scored[110:]]).safe_cap
    assert cap.tokens == 500


RUNS = simulated_runs(100)


def bold_caps(false_positives: float, *, relative: bool) -> int:
    """Runs whose cap is above the true one: 80 answers a length, half of them plain, .79 of them right at 1,000."""
    rng, bold = random.Random(13), 0
    for _ in range(RUNS):
        scored = []
        for length, score in ((500, 1.0), (1_000, 0.79), (2_000, 0.3)):
            for _ in range(80):
                right, plain = rng.random() < score, rng.random() < 0.5
                called = right or rng.random() < false_positives
                scored.append(answer(length, (RIGHT if right else WRONG) if plain else OTHER, called_right=called))
        groups = group(scored, designed_lengths=True, bins=1)
        sequence, threshold = sequence_of(groups, AnalysisSettings(), relative=relative)
        sequence = decided_by_judge(sequence, threshold, scored, 0.95)[0]
        bold += (sequence.cap_tokens or 0) >= 1_000
    return bold


@pytest.mark.slow
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("false_positives", [0.0, 0.1, 0.25, 0.5])
def test_a_cap_by_a_judge_is_seldom_above_the_true_one(
    false_positives: float, relative: bool, record_property: Callable[[str, object], None]
) -> None:
    """By the bare threshold two of ten runs err at .25, and seven of ten at .5."""
    bold = bold_caps(false_positives, relative=relative)
    record_property("too high", bold / RUNS)
    assert bold <= most_errors(RUNS, 0.05)
