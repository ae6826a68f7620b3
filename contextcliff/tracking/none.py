"""No tracking: `tracking=none`."""

from __future__ import annotations

from contextcliff.settings import settings
from contextcliff.tracking.tracker import Tracked, TrackedComparison


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

    def ui_command(self) -> None:
        """None: there is nothing to show."""
