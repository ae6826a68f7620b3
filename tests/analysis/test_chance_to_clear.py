"""The chance that a length with a fixed number of samples clears is that of its own exact test."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy import stats

from contextcliff.analysis.bins import group, summarise
from contextcliff.analysis.forecast import chance_to_clear
from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.walk import AbsoluteThreshold, RelativeThreshold
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.intervals import clopper_pearson_low
from tests.tasks.needles import build, niah

THRESHOLD = AbsoluteThreshold(threshold=0.8, confidence=0.95)


def planned(*, trials: int, texts: int = 0) -> LengthResult:
    samples = build(niah(lengths=[300], depths=[0.0, 0.5, 1.0], trials=trials))
    shared = [f"text {sample.trial % texts}" if texts else "" for sample in samples]
    scored = [
        ScoredSample(
            sample=replace(sample, cluster=text),
            prompt_sha256="",
            score=1.0,
            failure=None,
            prediction="",
            generation=None,
        )
        for sample, text in zip(samples, shared, strict=True)
    ]
    (result,) = summarise(group(scored, designed_lengths=True, bins=1), 0.95)
    return result


@pytest.mark.parametrize("rate", [0.98, 0.95, 0.9, 0.5])
@pytest.mark.parametrize("trials", [1, 5, 14])
def test_it_is_the_chance_of_every_count_whose_bound_is_not_below_the_threshold(trials: int, rate: float) -> None:
    n = 3 * trials
    enough = [right for right in range(n + 1) if clopper_pearson_low(right, n, 0.95) >= 0.8]
    exact = sum(stats.binom.pmf(right, n, rate) for right in enough)
    assert chance_to_clear(planned(trials=trials), THRESHOLD, rate) == pytest.approx(exact)


def test_it_is_not_known_for_samples_that_share_texts_or_a_baseline() -> None:
    alone = planned(trials=5)
    relative = RelativeThreshold(share=0.8, confidence=0.95, baseline=alone, members=(alone,))
    assert chance_to_clear(alone, relative, 0.9) is None
    assert chance_to_clear(planned(trials=5, texts=3), THRESHOLD, 0.9) is None
