"""The shift of the fitted length between two runs."""

from __future__ import annotations

import pytest

from contextcliff.analysis.fitted_length import FitBasis, FittedLength, StaysAbove
from contextcliff.analysis.fitted_shift import fitted_shift


def fitted(tokens: int | None, low: int | None = None, high: int | None = None) -> FittedLength:
    basis = FitBasis(confidence=0.95, lengths=3, samples=60)
    reason = StaysAbove(score=0.8, longest=9_000, at_least=low, basis=basis)
    return FittedLength(tokens=tokens, ci_low=low, ci_high=high, censored=tokens is None, score=0.8, reason=reason)


def test_half_the_length_is_an_octave_down() -> None:
    found = fitted_shift(fitted(8_000, 4_000, 16_000), fitted(4_000, 4_000, 4_000))
    assert found is not None
    assert (found.octaves, found.ci_low, found.ci_high) == (-1.0, -2.0, 0.0)


def test_the_other_run_as_candidate_mirrors_it() -> None:
    one, other = fitted(6_000, 5_000, 9_000), fitted(3_000, 2_000, 3_500)
    there, back = fitted_shift(one, other), fitted_shift(other, one)
    assert there is not None
    assert back is not None
    assert there.octaves == pytest.approx(-back.octaves)
    assert there.ci_low == pytest.approx(-(back.ci_high or 0.0))


def test_an_end_beyond_the_tested_lengths_is_not_known() -> None:
    found = fitted_shift(fitted(8_000, 4_000, None), fitted(4_000, 3_000, 5_000))
    assert found is not None
    assert found.ci_low is None
    assert found.ci_high == pytest.approx(-1.0 + (1.0**2 + 0.3219**2) ** 0.5, abs=1e-3)


def test_a_run_that_does_not_fall_has_no_shift() -> None:
    assert fitted_shift(fitted(None), fitted(4_000, 3_000, 5_000)) is None
