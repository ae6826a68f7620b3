"""Attention entropy by length: its mean, its threshold, and where it rises above it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.entropy import AttentionEntropy, EntropyFinding
from contextcliff.records.generation import ScoredSample
from tests.make import known, scored_sample


def of(tokens: int, *layers: float) -> ScoredSample:
    made = scored_sample(tokens, 1.0)
    return replace(made, generation=replace(known(made.generation), attention_entropy=layers))


def found(*samples: ScoredSample, threshold: float | None = None) -> AttentionEntropy | None:
    facts = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False)
    return EntropyFinding().find(study_of(samples, AnalysisSettings(entropy_threshold=threshold), facts))


def rising() -> list[ScoredSample]:
    return [of(tokens, mean - 0.1 + shift, mean + 0.1 + shift)
            for tokens, mean in ((500, 0.3), (1_000, 0.31), (2_000, 0.5), (4_000, 0.6))
            for shift in (-0.01, 0.0, 0.01)]  # fmt: skip


def test_the_mean_is_over_layers_and_prompts() -> None:
    made = known(found(*rising()))
    assert [each.mean for each in made.lengths] == pytest.approx([0.3, 0.31, 0.5, 0.6])
    assert made.lengths[0].by_layer == pytest.approx((0.2, 0.4))
    assert made.lengths[0].ci_low == pytest.approx(0.3 - 4.3027 * 0.01 / 3**0.5, abs=1e-4)


def test_it_crosses_where_all_longer_lengths_are_above_the_threshold() -> None:
    """Two deviations of the shortest length, or what is set."""
    for threshold, used, crosses in ((None, 0.32, 2_000), (0.55, 0.55, 4_000), (0.9, 0.9, None)):
        made = known(found(*rising(), threshold=threshold))
        assert made.threshold == pytest.approx(used)
        assert made.crosses_tokens == crosses


def test_a_single_prompt_sets_no_threshold_and_where_nothing_was_measured_there_is_no_finding() -> None:
    made = known(found(of(500, 0.3), of(1_000, 0.9)))
    assert (made.threshold, made.crosses_tokens, made.lengths[0].ci_low) == (None, None, None)
    assert found(scored_sample(500, 1.0)) is None
