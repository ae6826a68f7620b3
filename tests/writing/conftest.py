"""Texts that prose is measured on."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from contextcliff.records.report import Report
from tests.simulated_reports import CLIFF, simulated

_NOVEL = Path(__file__).parents[3] / "shared" / "data" / "little_women.txt"


@pytest.fixture(scope="session")
def novel() -> str:
    """A novel of a million characters."""
    if not _NOVEL.is_file():
        pytest.skip("../shared/data/little_women.txt is not there")
    return _NOVEL.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def story() -> str:
    """The story that comes with the package, 86,000 characters."""
    return (files("contextcliff.datasets") / "texts" / "the_tide_clerk.txt").read_text(encoding="utf-8")


@pytest.fixture
def cliff() -> Report:
    """The report of a run without writing."""
    return simulated(CLIFF)
