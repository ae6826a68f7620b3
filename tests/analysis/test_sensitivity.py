"""The safe cap by other settings, from the same samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.sensitivity import Sensitivity, sensitivity
from contextcliff.analysis.study import Study, StudyFacts
from contextcliff.records.generation import ScoredSample
from tests.analysis.analysis_samples import curve, scored_sample
from tests.analysis.searched_samples import coin, plan_of, searched

FACTS = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False)
CLIFF = {512: (40, 40), 1_024: (38, 40), 2_048: (34, 40), 4_096: (10, 40)}


def study(samples: list[ScoredSample], settings: AnalysisSettings | None = None, facts: StudyFacts = FACTS) -> Study:
    return study_of(samples, settings or AnalysisSettings(), facts)


def found(given_study: Study) -> Sensitivity:
    finding = sensitivity(given_study)
    assert finding is not None
    return finding


BY = {
    "threshold": lambda value: AnalysisSettings(threshold=value),
    "confidence": lambda value: AnalysisSettings(confidence=value),
    "bins": lambda value: AnalysisSettings(bins=int(value)),
}


def test_each_cap_is_the_one_that_an_analysis_with_that_setting_gives() -> None:
    samples = curve(CLIFF)
    for each in found(study(samples)).judged:
        other = study(samples, BY[each.setting](each.value)).safe_cap
        assert (each.tokens, each.censored, each.evidence) == (other.tokens, other.censored, other.evidence)


def test_the_runs_own_settings_are_among_them_and_marked() -> None:
    own = AnalysisSettings(threshold=0.77, confidence=0.97)
    marked = {each.setting: each for each in found(study(curve(CLIFF), own)).judged if each.own}
    assert {name: each.value for name, each in marked.items()} == {"threshold": 0.77, "confidence": 0.97}
    assert marked["threshold"].tokens == study(curve(CLIFF), own).safe_cap.tokens


@pytest.mark.parametrize(("own", "values"), [(0.05, [0.05, 0.1, 0.15]), (1.0, [0.9, 0.95, 1.0])])
def test_no_threshold_is_tried_that_no_analysis_takes(own: float, values: list[float]) -> None:
    judged = found(study(curve(CLIFF), AnalysisSettings(threshold=own))).judged
    assert [each.value for each in judged if each.setting == "threshold"] == values


def test_bins_are_moved_where_documents_have_lengths_of_their_own() -> None:
    natural = replace(FACTS, designed_lengths=False)
    samples = [scored_sample(500 + 10 * i, float(i < 60), document=f"d{i}") for i in range(100)]
    assert [each.value for each in found(study(samples, facts=natural)).judged if each.setting == "bins"] == [5, 10, 20]
    assert all(each.setting != "bins" for each in found(study(curve(CLIFF))).judged)


def test_there_is_nothing_to_move_with_one_length_or_without_scores() -> None:
    assert sensitivity(study(curve({512: (20, 20)}))) is None
    assert sensitivity(study([scored_sample(512, None), scored_sample(1_024, None)])) is None
    assert sensitivity(study([])) is None


@given(st.lists(st.integers(0, 30), min_size=2, max_size=5))
def test_a_higher_threshold_never_gives_a_longer_cap(right: list[int]) -> None:
    samples = curve({512 << place: (k, 30) for place, k in enumerate(right)})
    caps = [each.tokens or 0 for each in found(study(samples)).judged if each.setting == "threshold"]
    assert caps == sorted(caps, reverse=True)


def searched_study(rate: float, seed: int) -> Study:
    """A search at a threshold of 0.8 over a model that is right at one rate everywhere."""
    plan, settings = plan_of(512, 1_024), AnalysisSettings()
    samples = searched(plan, coin(lambda length, depth: rate, seed), settings)
    return study(samples, settings, replace(FACTS, search=plan))


def test_a_search_is_judged_by_what_it_asked() -> None:
    judged = found(searched_study(1.0, 1))
    assert judged.is_search
    caps = {each.value: each.tokens for each in judged.judged if each.setting == "threshold"}
    assert caps[0.7] == caps[0.8] == 1_024
    assert caps[0.9] is None, "the search stopped as soon as 0.8 was shown"


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.7, 0.75, 0.85, 0.9])
def test_by_another_threshold_a_search_gives_a_false_cap_no_more_often_than_its_confidence_allows(
    threshold: float, record_property: Callable[[str, object], None]
) -> None:
    """The model scores the other threshold itself, so that every cap by it is too high."""
    runs, wrong = 400, 0
    for seed in range(runs):
        finding = sensitivity(searched_study(threshold, seed))
        judged = () if finding is None else finding.judged
        wrong += any(
            each.setting == "threshold" and each.value == threshold and each.tokens is not None for each in judged
        )
    record_property("wrong", wrong)
    assert wrong <= stats.binom.ppf(0.999, runs, 0.05)
