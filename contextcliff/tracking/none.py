"""No tracking: `tracking=none`."""

from __future__ import annotations

from contextcliff.settings import settings
from contextcliff.tracking.tracker import Tracked


@settings
class NoTracker:
    """Keeps nothing; the run's local files are all there is."""

    experiment: str = "contextcliff"
    """The folder below `output_dir` that the run's own lies in."""

    def check(self) -> None:
        """Nothing can be wrong."""

    def log(self, tracked: Tracked) -> None:
        """Keep nothing."""

    def ui_command(self) -> None:
        """There is nothing to look at."""
