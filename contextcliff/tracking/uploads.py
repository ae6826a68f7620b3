"""One MLflow run for each result: what is there already, and a new upload that takes an earlier one's place."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from contextcliff.findings.finding import Measurement
from contextcliff.tracking.run_upload import log_metrics
from contextcliff.tracking.tracker import TrackedComparison

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

DIGEST = "contextcliff.digest"
"""The tag that has a digest of the results."""
LAYOUT = "contextcliff.layout"
"""The tag that says how they were uploaded: the version of the keys, and what was left out."""
_COMPARISON = "contextcliff.comparison"
_SUPERSEDED = "contextcliff.superseded_by"
_ENDED = ("FINISHED", "KILLED")


def uploads(client: MlflowClient, experiment_id: str, *, tag: str, value: str) -> list[Run]:
    """The runs of an experiment with this tag that no later upload has replaced, the latest first."""
    quote = '"' if "'" in value else "'"
    found = client.search_runs([experiment_id], f"tags.`{tag}` = {quote}{value}{quote}")
    return [run for run in found if _SUPERSEDED not in run.data.tags]


def same_upload(earlier: Sequence[Run], labels: Mapping[str, str]) -> str | None:
    """The id of the run that holds the results with these tags, uploaded in the same way; None where there is none."""
    for run in earlier:
        there = run.data.tags
        alike = there.get(DIGEST) == labels[DIGEST] and there.get(LAYOUT) == labels.get(LAYOUT)
        if alike and run.info.status in _ENDED:
            return str(run.info.run_id)
    return None


def uploaded(
    client: MlflowClient,
    new: str,
    *,
    earlier: Sequence[Run],
    fill: Callable[[], None],
    status: str = "FINISHED",
    ended_ms: int | None = None,
    remove: Callable[[str], None] | None = None,
) -> str:
    """Fill the run `new`, end it with `status`, and remove those of `earlier`, whose place it takes; returns its id.

    A run whose upload breaks off is left as FAILED. What is removed can be restored in MLflow.
    """
    try:
        fill()
        client.set_terminated(new, status, ended_ms)
    except BaseException:
        # Also on Ctrl-C: a run that stays RUNNING would look like one in progress.
        with suppress(*mlflow_errors()):
            client.set_terminated(new, "FAILED")
        raise
    for run in earlier:
        old = str(run.info.run_id)
        if old == new:
            continue
        client.set_tag(old, _SUPERSEDED, new)
        client.delete_run(old)
        if remove is not None:
            remove(old)
    return new


def log_comparison(client: MlflowClient, experiment_id: str, tracked: TrackedComparison) -> str:
    """The id of the MLflow run that holds this comparison, uploaded where there is none.

    The tag `compares.0` has the run id of the baseline and `compares.0.mlflow` its MLflow run, where this experiment
    has one; the candidates are 1, 2 and so on.
    """
    labels = {_COMPARISON: tracked.name, "kind": "comparison", DIGEST: tracked.digest, **tracked.tags}
    for place, run_id in enumerate(tracked.run_ids):
        labels[f"compares.{place}"] = run_id
        compared = uploads(client, experiment_id, tag="contextcliff.run_id", value=run_id)
        if compared:
            labels[f"compares.{place}.mlflow"] = str(compared[0].info.run_id)

    def fill(new: str) -> None:
        log_metrics(client, new, [Measurement(key=key, value=value) for key, value in tracked.metrics.items()])
        client.log_artifacts(new, str(tracked.folder))

    earlier = uploads(client, experiment_id, tag=_COMPARISON, value=tracked.name)
    there = same_upload(earlier, labels)
    if there is not None:
        return there
    new = str(client.create_run(experiment_id, tags=labels, run_name=tracked.name).info.run_id)
    return uploaded(client, new, earlier=earlier, fill=lambda: fill(new))


def mlflow_errors() -> tuple[type[Exception], ...]:
    """The errors that a broken, full, locked or absent database or server raises, here and in MLflow."""
    from alembic.util import CommandError
    from mlflow.exceptions import MlflowException
    from requests import RequestException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, CommandError, sqlite3.Error, RequestException, OSError
