"""Where extrapolation begins to fail: by the walk's own decisions, split at the trained positions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import Study, StudyFacts
from contextcliff.findings.extrapolation import Extrapolation, extrapolation
from contextcliff.records.generation import ScoredSample
from contextcliff.records.positions import Positions
from tests.make import coin, curve, plan_of, scored_sample, searched

TRAINED = Positions(trained_tokens=1_024, source="given")
YARN = replace(TRAINED, scaling="yarn", factor=2.0)
FACTS = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False, positions=TRAINED)
FAILS_BEYOND = {512: (40, 40), 1_024: (40, 40), 1_280: (4, 40), 2_048: (0, 40)}


def study(samples: list[ScoredSample], positions: Positions | None = TRAINED, **settings: object) -> Study:
    return study_of(samples, AnalysisSettings(**settings), replace(FACTS, positions=positions))  # type: ignore[arg-type]


def found(samples: list[ScoredSample], positions: Positions = TRAINED) -> Extrapolation:
    finding = extrapolation(study(samples, positions))
    assert finding is not None
    return finding


def test_a_failure_beyond_follows_what_still_clears_beyond() -> None:
    finding = found(curve({512: (40, 40), 2_048: (40, 40), 3_000: (33, 40), 4_096: (0, 40)}))
    assert str(finding.reason).endswith("; 2,048 tokens clear it")
    assert (finding.fails_at_tokens, finding.cleared_beyond_tokens) == (4_096, 2_048)
    assert [each.shown for each in finding.lengths] == ["cleared", "cleared", "open", "below"]


def test_where_the_trained_positions_are_not_known_nothing_is_found() -> None:
    samples = curve(FAILS_BEYOND)
    assert extrapolation(study(samples, None)) is None
    assert extrapolation(study(samples, replace(YARN, trained_tokens=None, source=None))) is None
    assert extrapolation(study([])) is None


def test_a_run_inside_the_trained_positions_has_nothing_to_say_unless_they_are_scaled() -> None:
    inside = curve({512: (40, 40), 1_024: (40, 40)})
    assert extrapolation(study(inside)) is None
    assert extrapolation(study(inside, replace(TRAINED, scaling="linear", factor=1.0))) is None
    finding = found(inside, YARN)
    assert str(finding.reason) == "no tested length lies beyond the trained positions"
    assert finding.beyond is None


def test_documents_across_the_end_of_the_trained_positions_are_in_neither_mean() -> None:
    samples = [scored_sample(900 + 10 * i, float(i < 12), document=f"d{i}") for i in range(60)]
    facts = replace(FACTS, designed_lengths=False)
    finding = extrapolation(study_of(samples, AnalysisSettings(bins=3), facts))
    assert finding is not None
    assert [each.place for each in finding.lengths] == ["across", "beyond", "beyond"]
    assert finding.within is None


def of_search(cliff: int) -> Extrapolation | None:
    plan, settings = plan_of(512, 1_024, 2_048), AnalysisSettings()
    samples = searched(plan, coin(lambda length, depth: float(length <= cliff), 1), settings)
    return extrapolation(study_of(samples, settings, replace(FACTS, search=plan)))


@pytest.mark.parametrize(("cliff", "fails_at", "cleared"), [(1_100, 2_048, None), (10_000, None, 2_048)])
def test_a_search_is_told_by_its_own_decisions(cliff: int, fails_at: int | None, cleared: int | None) -> None:
    finding = of_search(cliff)
    assert finding is not None
    assert (finding.fails_at_tokens, finding.cleared_beyond_tokens) == (fails_at, cleared)


@given(st.lists(st.integers(0, 30), min_size=2, max_size=5), st.integers(400, 9_000))
def test_it_never_says_other_than_the_safe_cap(right: list[int], trained: int) -> None:
    samples = curve({512 << place: (k, 30) for place, k in enumerate(right)})
    whole = study(samples, replace(TRAINED, trained_tokens=trained))
    finding = extrapolation(whole)
    if finding is None:
        assert max(item.sample.context_tokens for item in samples) <= trained
        return
    cap, crossing = whole.safe_cap.tokens, whole.safe_cap.ci_high
    if finding.cleared_beyond_tokens is not None:
        assert cap is not None
        assert trained < finding.cleared_beyond_tokens <= cap
    if finding.fails_at_tokens is not None:
        assert trained < finding.fails_at_tokens == crossing
