"""A run's files out of MLflow, where its folder is not on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.tracking.tracker import TrackingError

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

NEEDED = ("report.json", "samples.jsonl", "manifest.json")
_LARGEST_FILE = 4 << 30


def fetch_run(client: MlflowClient, mlflow_id: str, *, experiment: Path) -> Path:
    """The folder of the run with this MLflow id: its own in `experiment`, or one with the files that MLflow has.

    Files are fetched once, into `experiment/fetched/ID`. Raises `TrackingError` for a run without them.
    """
    run = client.get_run(mlflow_id)
    own = experiment / str(run.data.tags.get("contextcliff.folder", run.info.run_name))
    if own.parent == experiment and (own / NEEDED[0]).is_file():
        return own
    folder = experiment / "fetched" / mlflow_id
    if all((folder / name).is_file() for name in NEEDED):
        return folder
    sizes = {file.path: file.file_size or 0 for file in client.list_artifacts(mlflow_id)}
    lacking = [name for name in NEEDED if name not in sizes]
    if lacking:
        raise TrackingError(f"run {mlflow_id} has no {', '.join(lacking)}: it is none of ContextCliff, or incomplete")
    large = [name for name in NEEDED if sizes[name] > _LARGEST_FILE]
    if large:
        raise TrackingError(f"run {mlflow_id}: {large[0]} is larger than {_LARGEST_FILE >> 30} GiB")
    folder.mkdir(parents=True, exist_ok=True)
    for name in reversed(NEEDED):  # the report last: a folder that has one is complete
        client.download_artifacts(mlflow_id, name, str(folder))
    return folder
