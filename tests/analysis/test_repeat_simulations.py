"""Does the method keep what it promises where questions are put three times? Simulated, from fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest

from contextcliff.analysis.bins import group, summarise
from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.walk import AbsoluteThreshold
from tests.make import drawn_items, repeated
from tests.statistics.simulated_walks import allowed

pytestmark = pytest.mark.slow

RUNS = 400
BAR = AbsoluteThreshold(threshold=0.8, confidence=0.95)


def simulated(rate: float, n: int, within: float, a_document: int) -> list[LengthResult]:
    """Levels of `n` questions; where some share a document, those correlate too."""
    rng = np.random.default_rng([n, a_document, round(10 * within)])
    between = 0.0 if a_document == 1 else 0.15
    found: list[LengthResult] = []
    for _ in range(RUNS):
        items = drawn_items(rng, rate, n=n, within=within, between=between, a_document=a_document)
        samples = repeated(500, items, a_document=a_document)
        found += summarise(group(samples, designed_lengths=True, bins=1), 0.95)
    return found


@pytest.mark.parametrize("a_document", [1, 5])
@pytest.mark.parametrize("within", [0.0, 0.5, 1.0])
def test_a_constant_score_at_the_threshold_is_given_a_cap_no_more_often_than_the_confidence_allows(
    within: float, a_document: int
) -> None:
    assert sum(BAR.is_shown_above(result) for result in simulated(0.8, 20, within, a_document)) <= allowed(0.05, RUNS)


@pytest.mark.parametrize("a_document", [1, 2, 5])
@pytest.mark.parametrize("within", [0.0, 0.5, 1.0])
def test_a_planted_090_is_hardly_ever_called_below_080_and_its_interval_covers(within: float, a_document: int) -> None:
    results = simulated(0.9, 20, within, a_document)
    assert sum(BAR.is_shown_below(result) for result in results) <= allowed(0.05, RUNS)
    bins = [result.bin for result in results]
    assert all(b.ci_low is not None and b.ci_high is not None and b.mean is not None for b in bins)
    assert all(b.ci_low <= b.mean <= b.ci_high for b in bins)  # type: ignore[operator]
    missed = sum(not b.ci_low <= 0.9 <= b.ci_high for b in bins)  # type: ignore[operator]
    assert missed <= allowed(0.08, RUNS)  # the worst of Wilson's at 20 samples and this rate is 6%
