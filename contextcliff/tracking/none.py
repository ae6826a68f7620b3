"""No tracking: `tracking=none`."""

from __future__ import annotations

from pathlib import Path

from contextcliff.records.sweep import SweepRow
from contextcliff.settings import FolderName, settings
from contextcliff.tracking.tracker import (
    Begun,
    LengthPoint,
    Started,
    Tracked,
    TrackedComparison,
    TrackedSweep,
    TrackingError,
)


class Untracked:
    """A run that nobody keeps."""

    def point(self, point: LengthPoint) -> None:
        """Do nothing."""

    def hand_over(self) -> None:
        """None: nothing is kept."""

    def fail(self, why: str, *, interrupted: bool = False) -> None:
        """Do nothing."""


@settings
class NoTracker:
    """Keeps nothing beside the run's local files."""

    experiment: FolderName = "contextcliff"
    """Name of the folder below `output_dir` that holds the run's folder."""

    @property
    def is_shared(self) -> bool:
        return False

    def check(self) -> None:
        """There is nothing to check."""

    def begin(self, started: Started) -> Untracked:  # noqa: ARG002
        return Untracked()

    def log(self, tracked: Tracked, *, begun: Begun | None = None) -> None:
        """Do nothing."""

    def has(self, tracked: Tracked) -> bool:  # noqa: ARG002
        return True

    def log_comparison(self, tracked: TrackedComparison) -> None:
        """Do nothing."""

    def log_sweep(self, sweep: TrackedSweep) -> str:  # noqa: ARG002
        return ""

    def sweep_rows(self, sweep_id: str) -> tuple[SweepRow, ...]:  # noqa: ARG002
        return ()

    def fetch(self, tracked_id: str, *, experiment: Path) -> Path:  # noqa: ARG002
        raise TrackingError(f"tracking=none keeps no run {tracked_id}; give tracking=mlflow and its tracking.uri")

    def leaderboard(self) -> None:
        """None: there is no page."""

    def ui_command(self) -> None:
        """None: there is nothing to show."""
