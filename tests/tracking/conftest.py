"""One MLflow database for each module; a test keeps apart by its experiment."""

from __future__ import annotations

import pytest

from contextcliff.tracking.mlflow import MLflowTracker


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('store') / 'deep' / 'mlflow.db'}"


@pytest.fixture
def tracker(store: str, request: pytest.FixtureRequest) -> MLflowTracker:
    return MLflowTracker(uri=store, experiment=request.node.name)
