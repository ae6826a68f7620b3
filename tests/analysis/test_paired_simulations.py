"""Simulated pairs: false alarms, power and coverage of the decision on two runs. `docs/comparison.md` has the table."""

from __future__ import annotations

import pytest

from tests.analysis.paired_laws import LAWS, LENGTHS, PairedLaw, simulated
from tests.statistics.simulated_walks import fewest_hits, most_errors, simulated_runs

RUNS = simulated_runs(100)
POWER = {
    "half an octave": 0.7,
    "five points everywhere": 0.7,
    "five points everywhere, four looks": 0.6,
    "twenty points at 8,192": 0.25,
    "half an octave, graded": 0.95,
    "half an octave, 8 texts, ICC .15": 0.6,
    "half an octave, three candidates": 0.85,
    "search replayed: five points": 0.4,
    "search replayed: five points, cliff": 0.1,
    "search replayed: half an octave": 0.2,
    "search replayed: an octave": 0.8,
}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_two_runs_are_decided_as_seldom_wrongly_as_stated(law: PairedLaw) -> None:
    found = simulated(law, RUNS)
    errors = most_errors(RUNS, 0.05 * (2.0 - 0.5 ** (law.looks - 1))) / RUNS  # at all looks together
    assert found.better <= errors
    if law.name.startswith("five points everywhere"):  # exactly the margin
        assert found.not_worse <= errors
    if any(law.lost):  # what is missing is wrong: sizes are of the others
        assert found.worse <= most_errors(RUNS, 0.05) / RUNS
        assert law.is_equal or found.not_worse <= most_errors(RUNS, 0.05) / RUNS
        return
    assert found.not_worse == 0.0 or law.baseline(LENGTHS[0]) > 0.0
    assert found.covers_overall >= fewest_hits(RUNS, 0.88) / RUNS
    assert found.covers_lengths >= 0.86
    assert found.covers_area >= fewest_hits(RUNS, 0.88) / RUNS
    if law.is_equal:
        assert found.worse <= errors
    else:
        assert found.worse >= fewest_hits(RUNS, POWER[law.name]) / RUNS
