"""A p-value of exactly 1 − confidence is significant in every test: 1 − 0.9 is 0.09999999999999998 in binary."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from contextcliff.analysis.bins import group, summarise
from contextcliff.analysis.calibration import calibrating
from contextcliff.analysis.walk import RelativeThreshold
from contextcliff.findings import position
from contextcliff.findings.position import position_pattern
from contextcliff.statistics.ranks import are_significant, is_significant
from tests.make import curve, scored_sample

PACKAGE = Path(calibrating.__file__).parents[2]


@pytest.mark.parametrize(
    ("right", "longer_right", "share"),
    [
        (5, 1, 0.1),  # 1 of 1 against a tenth of a sure baseline: p = 0.1
        (9, 0, 1.0),  # 0 of 1 against 9 of 9 is Fisher's p = 0.1
    ],
)
def test_a_length_at_the_limit_of_a_relative_threshold_is_shown(right: int, longer_right: int, share: float) -> None:
    samples = curve({500: (right, right), 1_000: (longer_right, 1)})
    shortest, longer = summarise(group(samples, designed_lengths=True, bins=1), 0.9)
    threshold = RelativeThreshold(share=share, confidence=0.9, baseline=shortest, members=(shortest,))
    assert threshold.is_shown_above(longer) if longer_right else threshold.is_shown_below(longer)


def test_a_position_pattern_at_the_limit_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position, "permutation_test", lambda strata: (1.0, 0.0, 0.1))
    samples = [scored_sample(500, float(depth > 0.5), depth=depth) for depth in (0.0, 0.5, 1.0) for _ in range(3)]
    assert position_pattern(group(samples, designed_lengths=True, bins=1), 0.9).pattern == "recency"


def test_one_function_decides_numbers_and_arrays_alike() -> None:
    p_values = np.array([0.0, 0.05, 0.1, 0.1001, 1.0])
    for confidence in (0.9, 0.95, 0.99):
        assert are_significant(p_values, confidence).tolist() == [is_significant(p, confidence) for p in p_values]


def test_no_other_module_compares_with_the_level() -> None:
    compares = re.compile(r"[<>]=?\s*\(?1(?:\.0)?\s*-\s*[\w.]*confidence")
    modules = [path for path in PACKAGE.rglob("*.py") if compares.search(path.read_text(encoding="utf-8"))]
    assert [path.name for path in modules] == ["ranks.py"]
