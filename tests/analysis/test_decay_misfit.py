"""The misfit of a decay: worked by hand, none for what it was made from, much for a cliff."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextcliff.findings.half_life import HalfLife, decay_misfit, decay_score
from contextcliff.records.analysis import Bin
from contextcliff.records.note import as_it_is
from tests.simulated_reports import CLIFF, findings_in, simulated

FIT = HalfLife(tokens=1_000, ci_low=900, ci_high=1_100, censored=False, reason=as_it_is(""), initial=0.8)
"""0.4 at 1,000 tokens, 0.2 at 2,000."""


def a_bin(tokens: int, mean: float | None, *, low: float = 0.0, high: float = 1.0) -> Bin:
    known = simulated(CLIFF).analysis.bins[0]
    return replace(known, median_tokens=tokens, mean=mean, ci_low=low, ci_high=high)


def test_the_curve_halves_with_each_half_life() -> None:
    assert [decay_score(FIT, tokens) for tokens in (0, 1_000, 2_000)] == pytest.approx([0.8, 0.4, 0.2])


def test_a_misfit_worked_by_hand() -> None:
    misfit = decay_misfit(FIT, [a_bin(1_000, 0.7, low=0.5, high=0.9), a_bin(2_000, 0.1, low=0.0, high=0.3)])
    assert misfit is not None
    assert misfit.largest == pytest.approx(0.3)
    assert misfit.largest_at == 1_000
    assert misfit.rms == pytest.approx(((0.3**2 + 0.1**2) / 2) ** 0.5)
    assert (misfit.outside, misfit.lengths) == (1, 2)


def test_without_a_fit_or_a_score_there_is_none() -> None:
    assert decay_misfit(replace(FIT, tokens=None, initial=None), [a_bin(1_000, 0.4)]) is None
    assert decay_misfit(FIT, [a_bin(1_000, None)]) is None
    assert decay_misfit(FIT, []) is None


def test_a_cliff_is_no_exponential_decay() -> None:
    report = simulated(CLIFF)
    misfit = decay_misfit(findings_in(report).half_life, report.analysis.bins)
    assert misfit is not None
    assert misfit.rms > 0.1
    assert misfit.outside > 0
