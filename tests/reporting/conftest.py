"""Reports as a run would leave them, one for each way in which a run can end."""

from __future__ import annotations

import pytest

from contextcliff.records.report import Report
from tests.simulated_reports import CLIFF, FLAT, FULL, simulated


@pytest.fixture(scope="session")
def cliff() -> Report:
    return simulated(CLIFF)


@pytest.fixture(scope="session")
def flat() -> Report:
    return simulated(FLAT)


@pytest.fixture(scope="session")
def full() -> Report:
    """A report with every finding of a needle task."""
    return simulated(FULL)
