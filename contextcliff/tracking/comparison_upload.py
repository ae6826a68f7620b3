"""A comparison in MLflow: a run of its own, with a tag for each run that it compares."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from contextcliff.tracking.metrics import valid_key
from contextcliff.tracking.tracker import TrackedComparison
from contextcliff.tracking.uploads import DIGEST, same_upload, uploaded, uploads

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

_NAME = "contextcliff.comparison"


def log_comparison(client: MlflowClient, experiment_id: str, tracked: TrackedComparison) -> str:
    """The id of the MLflow run that holds this comparison, uploaded where there is none.

    The tag `compares.0` has the run id of the baseline and `compares.0.mlflow` its MLflow run, where this experiment
    has one; the candidates are 1, 2 and so on.
    """
    labels = {_NAME: tracked.name, "kind": "comparison", DIGEST: tracked.digest, **tracked.tags}
    for place, run_id in enumerate(tracked.run_ids):
        labels[f"compares.{place}"] = run_id
        compared = uploads(client, experiment_id, tag="contextcliff.run_id", value=run_id)
        if compared:
            labels[f"compares.{place}.mlflow"] = str(compared[0].info.run_id)

    def fill(new: str) -> None:
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        metrics = [Metric(valid_key(key), value, now, 0) for key, value in tracked.metrics.items()]
        client.log_batch(new, metrics=metrics, synchronous=True)
        client.log_artifacts(new, str(tracked.folder))

    earlier = uploads(client, experiment_id, tag=_NAME, value=tracked.name)
    there = same_upload(earlier, labels)
    if there is not None:
        return there
    new = str(client.create_run(experiment_id, tags=labels, run_name=tracked.name).info.run_id)
    return uploaded(client, new, earlier=earlier, fill=lambda: fill(new))
