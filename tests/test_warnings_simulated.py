"""The cells of `benchmarks/warnings_simulated.py`, a hundred runs each, within bounds that the code before exceeded."""

from __future__ import annotations

import pytest
from warnings_simulated import ALARMS, LADDER, LATENCY, SHAPES, THREE, alarms, latency, searched_shapes, shapes

from contextcliff.statistics import intervals
from tests.statistics.simulated_walks import most_errors

pytestmark = pytest.mark.slow

RUNS = 100


@pytest.fixture(autouse=True)
def _without_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "_bootstrap", lambda scores, _: (scores[0], scores[-1]))


@pytest.mark.parametrize("law", SHAPES)
def test_few_lengths_have_no_shape_and_no_other_fall_is_a_cliff(law: str) -> None:
    assert shapes(law, THREE, 20, RUNS) == {"none": 1.0}
    for found in (shapes(law, LADDER, 20, RUNS), searched_shapes(law, RUNS)):
        assert RUNS * found.get("“cliff”", 0.0) <= most_errors(RUNS, 0.05)


def test_a_report_of_an_unremarkable_model_raises_an_alarm_in_fewer_runs_than_one_test_would() -> None:
    assert sum(alarms(cell, RUNS).get("any", 0.0) for cell in ALARMS) <= 0.025 * len(ALARMS)


@pytest.mark.parametrize("cell", LATENCY)
def test_others_on_a_server_are_no_warning_and_a_slower_server_is_one(cell: str) -> None:
    share = latency(cell, 20, RUNS).get("any", 0.0)
    assert share >= 0.6 if "to be found" in cell else RUNS * share <= most_errors(RUNS, 0.05)
