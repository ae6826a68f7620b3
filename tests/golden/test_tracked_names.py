"""G6: what MLflow gets of a sweep of two runs with controls and a judge, and of their comparison: every name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.commands import DRAWN, SIMULATED, contextcliff
from tests.golden.test_planted_runs import JUDGED, SMALL

SWEEP = (
    *(*SIMULATED, *DRAWN, *SMALL, "kv_policy=none,q8_0", "task.like=first", "task.controls=true"),
    *("reporting.compare=true", "tracking=mlflow", "tracking.uri=sqlite:///mlruns/mlflow.db"),
    "tracking.system_metrics=false",
)


@pytest.mark.slow  # `tests/tracking` has quicker ones of each upload
def test_names(tmp_path: Path, numbers: SnapshotAssertion) -> None:
    from mlflow.tracking import MlflowClient

    done = contextcliff(*SWEEP, *JUDGED, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    client = MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/mlruns/mlflow.db")
    (experiment,) = client.search_experiments(filter_string="name = 'contextcliff'")
    runs = client.search_runs([experiment.experiment_id], order_by=["attributes.start_time ASC"])
    assert [_names(client, run, tmp_path) for run in runs] == numbers


def _names(client: Any, run: Any, folder: Path) -> dict[str, Any]:
    artifacts = folder / "mlruns" / run.info.run_id / "artifacts"
    metrics = {name: len(client.get_metric_history(run.info.run_id, name)) for name in sorted(run.data.metrics)}
    return {
        "name": run.info.run_name,
        "status": run.info.status,
        "metrics, with their points": metrics,
        "params": sorted(run.data.params),
        "tags": sorted(name for name in run.data.tags if name != "git_commit" and not name.startswith("mlflow.source")),
        "files": sorted(str(file.relative_to(artifacts)) for file in artifacts.rglob("*") if file.is_file()),
        "datasets": [each.dataset.name for each in run.inputs.dataset_inputs],
    }
