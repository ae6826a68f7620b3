"""How often warnings on scores are false, and how often a change is found. From fixed seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.warnings import score_warnings
from contextcliff.records.generation import ScoredSample
from contextcliff.records.search_record import SearchPlan
from contextcliff.statistics import intervals
from tests.make import coin, drawn_items, plan_of, repeated, scored_sample, searched, texts
from tests.statistics.simulated_walks import fewest_hits, most_errors, simulated_runs

pytestmark = pytest.mark.slow

RUNS = simulated_runs(100)
LENGTHS = (500, 1_000, 2_000, 4_000, 8_000)

Recorder = Callable[[str, object], None]
Draw = Callable[[np.random.Generator], Sequence[ScoredSample]]


@pytest.fixture(autouse=True)
def _without_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """The intervals that are shown beside the means take most of the time, and no warning looks at them."""
    monkeypatch.setattr(intervals, "_bootstrap", lambda scores, _: (scores[0], scores[-1]))


def warned(draw: Draw, record_property: Recorder, *, search: SearchPlan | None = None) -> Counter[str]:
    """How many runs have each warning; `any` is any of them."""
    rng, counts = np.random.default_rng(13), Counter[str]()
    facts = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False, search=search)
    for _ in range(RUNS):
        names = [each.name for each in score_warnings(study_of(draw(rng), AnalysisSettings(), facts))]
        counts.update([*names, *(["any"] if names else [])])
    for name, count in counts.items():
        record_property(name, count / RUNS)
    return counts


def right_or_wrong(rates: Sequence[float], n: int) -> Draw:
    return lambda rng: [
        scored_sample(length, float(score))
        for length, rate in zip(LENGTHS, rates, strict=True)
        for score in rng.random(n) < rate
    ]


def graded(mean: float, weights: Sequence[float], n: int) -> Draw:
    """Scores of a beta law; the smaller its weight, the wider they spread."""
    return lambda rng: [
        scored_sample(length, float(score))
        for length, weight in zip(LENGTHS, weights, strict=True)
        for score in rng.beta(mean * weight, (1.0 - mean) * weight, n)
    ]


def of_texts(rate: float, correlation: float) -> Draw:
    """Eight texts of five samples a length, right at rates of a beta law; the texts of each length are others."""
    weight = (1.0 - correlation) / correlation

    def drawn(rng: np.random.Generator) -> Sequence[ScoredSample]:
        samples: list[ScoredSample] = []
        for length in LENGTHS:
            rates = rng.beta(rate * weight, (1.0 - rate) * weight, 8)
            samples += texts(length, *((int(right), 5) for right in rng.binomial(5, rates)))
        return samples

    return drawn


def asked_again(rate: float, within: Sequence[float]) -> Draw:
    """Twenty questions a length, three times each; the repeats of a question correlate so much."""
    return lambda rng: [
        item
        for length, correlation in zip(LENGTHS, within, strict=True)
        for item in repeated(length, drawn_items(rng, rate, n=20, within=correlation))
    ]


@pytest.mark.parametrize("n", [20, 40])
@pytest.mark.parametrize("rate", [0.98, 0.95, 0.9, 0.7, 0.5])
def test_a_flat_score_raises_no_alarm(rate: float, n: int, record_property: Recorder) -> None:
    assert warned(right_or_wrong([rate] * 5, n), record_property)["any"] <= most_errors(RUNS, 0.05)


@pytest.mark.parametrize("mean", [0.9, 0.7])
def test_graded_scores_of_one_law_raise_no_alarm(mean: float, record_property: Recorder) -> None:
    assert warned(graded(mean, [20.0] * 5, 20), record_property)["any"] <= most_errors(RUNS, 0.05)


@pytest.mark.parametrize(("rate", "correlation"), [(0.9, 0.15), (0.8, 0.15), (0.8, 0.3)])
def test_texts_of_one_law_raise_no_alarm(rate: float, correlation: float, record_property: Recorder) -> None:
    assert warned(of_texts(rate, correlation), record_property)["any"] <= most_errors(RUNS, 0.05)


@pytest.mark.parametrize("within", [0.9, 0.5])
def test_repeats_of_one_law_raise_no_alarm(within: float, record_property: Recorder) -> None:
    """Three kinds of warning are looked at, each at 5%."""
    counts = warned(asked_again(0.8, [within] * 5), record_property)
    assert max(counts[name] for name in ("score_spread", "instability", "failure_spike")) <= most_errors(RUNS, 0.05)


@pytest.mark.parametrize("rate", [0.95, 0.9, 0.85])
def test_a_search_over_a_flat_score_raises_no_alarm(rate: float, record_property: Recorder) -> None:
    """A search stops by the scores: the shares are compared by confidence sequences, which hold at any stop."""
    plan = plan_of(*LENGTHS)
    counts = warned(
        lambda rng: searched(plan, coin(lambda _, __: rate, int(rng.integers(2**31))), AnalysisSettings()),
        record_property,
        search=plan,
    )
    assert counts["any"] <= most_errors(RUNS, 0.05)


@pytest.mark.parametrize(
    ("rates", "least"), [((0.98, 0.98, 0.98, 0.5, 0.1), 0.95), ((0.98, 0.98, 0.95, 0.8, 0.6), 0.6)]
)
def test_rising_failures_are_found(rates: Sequence[float], least: float, record_property: Recorder) -> None:
    assert warned(right_or_wrong(rates, 20), record_property)["failure_spike"] >= fewest_hits(RUNS, least)


def test_wider_scores_are_found(record_property: Recorder) -> None:
    assert warned(graded(0.7, (20.0, 20.0, 20.0, 2.0, 2.0), 20), record_property)["score_spread"] >= fewest_hits(
        RUNS, 0.85
    )


def test_rising_instability_is_found(record_property: Recorder) -> None:
    counts = warned(asked_again(0.8, (0.99, 0.99, 0.99, 0.3, 0.3)), record_property)
    assert counts["instability"] >= fewest_hits(RUNS, 0.7)
