"""`tracking=none`: a run leaves its local files only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.settings import FolderName, settings
from contextcliff.tracking.tracker import TrackingError

if TYPE_CHECKING:
    from contextcliff.tracking.mlflow import MLflowTracker


@settings
class NoTracker:
    """What every option of `tracking` has; nothing is kept beside the run's local files."""

    experiment: FolderName = "contextcliff"
    """Name of the folder below `output_dir` that holds the run's folder."""

    @property
    def mlflow(self) -> MLflowTracker | None:
        """What keeps runs; None with `tracking=none`."""
        return None

    def check(self) -> None:
        """Raise `ValueError`, one line that names the key, for settings that can't be; contacts nothing."""

    def fetch(self, mlflow_id: str, *, experiment: Path) -> Path:  # noqa: ARG002
        """The folder of the run with this MLflow id: its own in `experiment`, or one with the files that MLflow has.

        Files are fetched once, into `experiment/fetched/ID`. Raises `TrackingError`.
        """
        raise TrackingError(f"tracking=none keeps no run {mlflow_id}; give tracking=mlflow and its tracking.uri")
