"""Does the analysis of prose keep what it promises? Simulated runs with a known answer, from fixed seeds.

The measures of a simulated round hang together (two hidden traits), and are skewed, discrete with many ties, mostly 0
or bounded, as those of prose are. An error rate is bounded by what the confidence allows plus what Monte Carlo can add
to it: the count that a binomial variable at the allowed rate exceeds once in a thousand.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

from contextcliff.analysis.lengths import Item
from contextcliff.writing.levels import DrawnTier
from contextcliff.writing.measures.measure import MEASURES, ORIGINAL_Z, Z
from contextcliff.writing.tests import against_author, against_shortest
from tests.statistics.simulated_walks import allowed

RUNS = 1_000
CONFIDENCE = 0.95
LENGTHS = (1_024, 2_048, 4_096, 8_192)
TESTED = [measure.name for measure in MEASURES if measure.worse]


def prose(rng: np.random.Generator, rounds: int) -> dict[str, NDArray[np.float64]]:
    """The measures of rounds of one distribution."""
    return shaped(hidden(rng, rounds))


def hidden(rng: np.random.Generator, rounds: int) -> NDArray[np.float64]:
    """Normal values of variance 1, a row a round and a column a measure, that hang together by two traits."""
    traits = rng.normal(size=(rounds, 2))
    own = rng.normal(size=(rounds, len(TESTED)))
    found: NDArray[np.float64] = (traits[:, np.arange(len(TESTED)) % 2] + own) / np.sqrt(2.0)
    return found


def shaped(values: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The measures that such values give."""
    found: dict[str, NDArray[np.float64]] = {}
    for place, name in enumerate(TESTED):
        plain = values[:, place]
        shapes = (
            plain,
            np.exp(plain),
            np.round(np.exp(plain)),
            np.maximum(0.0, np.round(plain - 1.0, 1)),
            ndtr(plain) ** 3,
        )
        found[name] = np.asarray(shapes[place % len(shapes)], dtype=np.float64)
    return found


def tier(
    length: int,
    measures: Mapping[str, NDArray[np.float64]],
    *,
    z: bool = False,
    original: Mapping[str, NDArray[np.float64]] | None = None,
) -> DrawnTier:
    columns = {key: column.tolist() for key, column in measures.items()}
    if z:
        columns |= {Z + name: list(column) for name, column in columns.items()}
    if original is not None:
        columns |= {ORIGINAL_Z + name: [float(original[name][0])] * len(columns[name]) for name in measures}
    rounds = zip(*columns.values(), strict=True)
    draws = tuple(Item(score=0.7, repeats=(0.7,), details=dict(zip(columns, values, strict=True))) for values in rounds)
    return DrawnTier(context_tokens=length, draws=draws)


@pytest.mark.slow
def test_where_nothing_changes_a_degradation_is_called_in_at_most_one_run_of_twenty() -> None:
    rng = np.random.default_rng(20_261)
    alarms, single = 0, []
    for _ in range(RUNS):
        tiers = [tier(length, prose(rng, 10)) for length in LENGTHS]
        tests = against_shortest(tiers, confidence=CONFIDENCE)
        alarms += any(test.degraded for test in tests)
        single += [test.p_value <= 0.05 for test in tests]
    assert alarms <= allowed(1.0 - CONFIDENCE, RUNS)
    # Uncorrected, each test rejects at about its level: they do not pass because they never reject.
    assert 0.02 < np.mean(single) < 0.055


def imitated(rng: np.random.Generator, between: float) -> tuple[list[DrawnTier], dict[str, list[float]]]:
    """A perfect imitator goes on from one place, and the windows; `between` passages is that share of the variance."""
    passages, rounds = np.sqrt(between), np.sqrt(1.0 - between)
    windows = shaped(passages * hidden(rng, 24) + rounds * hidden(rng, 24))
    here = passages * hidden(rng, 1)
    next_words = shaped(here + rounds * hidden(rng, 1))
    drawn = [(length, shaped(here + rounds * hidden(rng, 10))) for length in LENGTHS]
    return (
        [tier(length, columns, z=True, original=next_words) for length, columns in drawn],
        {name: column.tolist() for name, column in windows.items()},
    )


@pytest.mark.slow
@pytest.mark.parametrize("between", [0.0, 0.25, 0.5])
def test_an_imitator_at_any_place_is_called_in_at_most_one_run_of_twenty(between: float) -> None:
    rng, runs = np.random.default_rng(20_262), 300
    alarms = 0
    for _ in range(runs):
        tiers, windows = imitated(rng, between)
        alarms += any(test.degraded for test in against_author(tiers, windows, confidence=CONFIDENCE))
    assert alarms <= allowed(1.0 - CONFIDENCE, runs)
