"""One MLflow run for each result: what is there already, and a new upload that takes an earlier one's place."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

DIGEST = "contextcliff.digest"
"""The tag that has a digest of the results."""
_SUPERSEDED = "contextcliff.superseded_by"


def uploads(client: MlflowClient, experiment_id: str, *, tag: str, value: str) -> list[Run]:
    """The runs of an experiment with this tag that no later upload has replaced, the latest first."""
    quote = '"' if "'" in value else "'"
    found = client.search_runs([experiment_id], f"tags.`{tag}` = {quote}{value}{quote}")
    return [run for run in found if _SUPERSEDED not in run.data.tags]


def uploaded(
    client: MlflowClient,
    experiment_id: str,
    *,
    earlier: Sequence[Run],
    labels: Mapping[str, str],
    name: str,
    fill: Callable[[str], None],
) -> str:
    """The id of the run that holds the results with these tags; `fill` uploads them where none of `earlier` does.

    Those that do not are tagged with the id of the new one. A run whose upload breaks off is left as FAILED.
    """
    for run in earlier:
        if run.data.tags.get(DIGEST) == labels[DIGEST] and run.info.status == "FINISHED":
            return str(run.info.run_id)
    new = str(client.create_run(experiment_id, tags=dict(labels), run_name=name).info.run_id)
    try:
        fill(new)
        client.set_terminated(new, "FINISHED")
    except BaseException:
        # Also on Ctrl-C: a run that stays RUNNING would look like one in progress.
        with suppress(*mlflow_errors()):
            client.set_terminated(new, "FAILED")
        raise
    for run in earlier:
        client.set_tag(run.info.run_id, _SUPERSEDED, new)
    return new


def mlflow_errors() -> tuple[type[Exception], ...]:
    """The errors that a broken, full, locked or absent database or server raises, here and in MLflow."""
    from alembic.util import CommandError
    from mlflow.exceptions import MlflowException
    from requests import RequestException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, CommandError, sqlite3.Error, RequestException, OSError
