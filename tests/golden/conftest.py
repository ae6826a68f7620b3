"""Golden data beside the tests that read it."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.golden.golden import Numbers, Text


@pytest.fixture
def numbers(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Golden numbers: a commit that changes one lists it."""
    return snapshot.use_extension(Numbers)


@pytest.fixture
def text(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Golden texts: they change only in commits that change texts and nothing else."""
    return snapshot.use_extension(Text)
