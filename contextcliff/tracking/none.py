"""No tracking: `tracking=none`."""

from __future__ import annotations

from pathlib import Path

from contextcliff.settings import settings
from contextcliff.tracking.tracker import Tracked, TrackedComparison, TrackingError


@settings
class NoTracker:
    """Keeps nothing beside the run's local files."""

    experiment: str = "contextcliff"
    """Name of the folder below `output_dir` that holds the run's folder."""

    def check(self) -> None:
        """There is nothing to check."""

    def log(self, tracked: Tracked) -> None:
        """Do nothing."""

    def log_comparison(self, tracked: TrackedComparison) -> None:
        """Do nothing."""

    def fetch(self, tracked_id: str, *, experiment: Path) -> Path:  # noqa: ARG002
        """Raise `TrackingError`: nothing is kept."""
        raise TrackingError(f"tracking=none keeps no run {tracked_id}; give tracking=mlflow and its tracking.uri")

    def ui_command(self) -> None:
        """None: there is nothing to show."""
