"""What is left of a run when its files are written: its figures, its page, and its upload.

None of them changes what is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from contextcliff.records.generation import ScoredSample
from contextcliff.reporting.page.excerpts import Excerpt
from contextcliff.reporting.phases import phase
from contextcliff.tracking.tracker import Begun, Tracked, Tracker, TrackingError


@dataclass(frozen=True, kw_only=True, slots=True)
class EndOfRun:
    """Can be carried out in another process: everything that it needs is in it or in the run's folder."""

    tracker: Tracker
    tracked: Tracked
    begun: Begun | None
    """What the tracker has of the run already."""
    scored: Sequence[ScoredSample]
    dpi: int | None
    """Dots an inch of the figures; None: none is drawn."""
    html: bool
    """Whether there is a `report.html`."""
    excerpts: Mapping[str, tuple[Excerpt, ...]]
    """Where the evidence of each sample stands, as far as it is known."""
    upload_later: str
    """The command that uploads the run where the tracker fails."""
    named: bool = False
    """Whether stderr names each part while it goes on."""

    def carry_out(self) -> str:
        """Draw and upload. Returns a warning where the tracker failed, else an empty text: the run is complete then."""
        from contextcliff.reporting.figures.report_figures import draw_figures
        from contextcliff.reporting.files import FIGURES
        from contextcliff.reporting.page.report_page import remove_pages, write_pages
        from contextcliff.reporting.section import FinishedRun

        folder = self.tracked.folder
        if self.dpi is not None:
            with phase("drawing the figures", shown=self.named):
                draw_figures(self.tracked.report, scored=self.scored, folder=folder / FIGURES, dpi=self.dpi)
        if self.html:
            run = FinishedRun(report=self.tracked.report, scored=self.scored, parameters=self.tracked.parameters)
            with phase("writing the report's page", shown=self.named):
                write_pages(run, excerpts=self.excerpts, prompts=self.tracked.prompts, folder=folder)
        else:
            remove_pages(self.tracked.report, folder=folder)
        try:
            with phase("uploading the run", shown=self.named and self.tracker.ui_command() is not None):
                self.tracker.log(self.tracked, begun=self.begun)
        except TrackingError as error:
            later = f"upload them later with: {self.upload_later}"
            return f"warning: {error}; the results in {folder} are complete; {later}\n"
        return ""


def load_for_ends(tracker: Tracker, *, figures: bool, html: bool) -> None:
    """Import what ends of runs take: of a sweep's processes for them, the first end would wait for seconds."""
    for name in (*(_DRAWING if figures else ()), *(_PAGE if html else ())):
        import_module(name)
    tracker.load()


_DRAWING = ("matplotlib.backends.backend_agg", "PIL.Image", "contextcliff.reporting.figures.report_figures")
_PAGE = ("contextcliff.reporting.page.report_page",)
