"""The positions that a model was trained on, where a run goes beyond them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.extrapolation import Extrapolation, ExtrapolationFinding
from contextcliff.records.positions import Positions
from tests.make import curve

TRAINED = Positions(trained_tokens=1_024, source="given")
YARN = replace(TRAINED, scaling="yarn", factor=2.0)
FACTS = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False)


@pytest.mark.parametrize(
    ("lengths", "positions", "is_found"),
    [
        ((512, 2_048), TRAINED, True),
        ((512, 2_048), None, False),
        ((512, 2_048), replace(YARN, trained_tokens=None, source=None), False),
        ((), TRAINED, False),
        ((512, 1_024), TRAINED, False),
        ((512, 1_024), replace(TRAINED, scaling="linear", factor=1.0), False),
        ((512, 1_024), YARN, True),
    ],
)
def test_they_are_told_where_a_prompt_is_longer_or_they_are_scaled(
    lengths: tuple[int, ...], positions: Positions | None, is_found: bool
) -> None:
    samples = curve(dict.fromkeys(lengths, (4, 4)))
    found = ExtrapolationFinding().find(study_of(samples, AnalysisSettings(), replace(FACTS, positions=positions)))
    assert (found is not None) == is_found
    if positions is not None and is_found:
        assert found == Extrapolation(trained_tokens=1_024, positions=positions, longest_tokens=max(lengths))
