"""A sweep as a whole, in the process that runs it: its run in the tracker, one progress, and the table at its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import DictConfig

from contextcliff.actions.tracked_sweep import track_sweep
from contextcliff.addresses import shown_text
from contextcliff.command_line.end_of_sweep import posted_rows
from contextcliff.command_line.hydra_errors import path_errors_by_key
from contextcliff.command_line.sweep_grid import SweepGrid
from contextcliff.config import part_of
from contextcliff.errors import tell
from contextcliff.records.published import PublishedCurve
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.leaderboard import cap_words, draw_runs, name_of, render_sweep, ways_out, write_leaderboard
from contextcliff.reporting.reporting_settings import ReportingSettings
from contextcliff.reporting.stored_sweeps import (
    LEADERBOARD,
    StoredSweep,
    read_rows,
    sweep_folder,
    write_row,
    write_sweep,
)
from contextcliff.tracking.tracker import TrackingError

if TYPE_CHECKING:
    from contextcliff.tracking.mlflow import MLflowTracker

_LOOK_EVERY_S = 1.0
_DRAW_EVERY_S = 60.0
"""Tables are written when jobs have ended; figures take a second."""
_MOST_SHARE = 0.03
"""Of the time that bringing the leaderboard up to date may take: where jobs end every second, it is done for some at
once."""
_ELSEWHERE_EVERY_S = 15.0


@dataclass(kw_only=True, slots=True)
class SweepWatch:
    """Looks at the rows that jobs leave, and brings the leaderboard up to date as they end."""

    sweep: StoredSweep
    folder: Path
    tracker: MLflowTracker | None
    reporting: ReportingSettings
    published: tuple[PublishedCurve, ...] = ()
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _shown: dict[int, str] = field(default_factory=dict)
    _drawn_at: float = 0.0
    _next_write: float = 0.0
    _warned: bool = False
    _remembered: bool = False
    _elsewhere: tuple[SweepRow, ...] = ()
    _asked_at: float = 0.0

    def begin(self) -> None:
        """Watch. What ended before is settled; nothing is written until a job begins."""
        for row in read_rows(self.folder):
            self._shown[row.job] = row.state
        self._thread = threading.Thread(target=self._watch, name="sweep", daemon=True)
        self._thread.start()

    def end(self) -> tuple[SweepRow, ...]:
        """Stop watching, write everything once more where a job has begun, and return the rows."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        rows = tuple(self._settled(row) for row in self._rows(ask=True))
        self._tell(rows)
        if self._has_begun():
            for row in posted_rows():
                write_row(self.folder, row)
            self._write(rows, figures=True)
            if self.reporting.figures:
                draw_runs(rows, experiment=self.folder.parents[1], dpi=self.reporting.dpi)
            self._track(rows, over=True)
        return rows

    def _has_begun(self) -> bool:
        """Whether a job has sent something, or was about to; the sweep is remembered from then on."""
        if not read_rows(self.folder) and not self._elsewhere:
            return False
        if not self._remembered:
            self._remembered = True
            write_sweep(self.folder, self.sweep)
        return True

    def _watch(self) -> None:
        outdated = False
        while not self._over.wait(_LOOK_EVERY_S):
            rows = self._rows()
            outdated = self._tell(rows) or outdated
            began = time.monotonic()
            if not outdated or began < self._next_write:
                continue
            try:
                if self._has_begun():
                    self._write(rows, figures=began - self._drawn_at > _DRAW_EVERY_S)
                    self._track(rows, over=False)
                    outdated = False
            except OSError as error:  # as on a full disk; at the end of the sweep it is an error
                self._warn(f"{error.filename or self.folder}: {error.strerror}; the leaderboard is not up to date")
            ended = time.monotonic()
            self._next_write = ended + (ended - began) / _MOST_SHARE

    def _rows(self, *, ask: bool = False) -> tuple[SweepRow, ...]:
        """Those of this machine, and of jobs elsewhere what the tracker has."""
        here = {row.job: row for row in read_rows(self.folder)}
        posted = {row.job: row for row in posted_rows()}
        lacking = self.sweep.n_jobs == 0 or len({*here, *posted}) < self.sweep.n_jobs
        # Only a tracker that machines share has rows that are not here while jobs go on. A local one is asked at the
        # end, and never for a sweep of which nothing has begun: that would make its store.
        if self.tracker is not None and self.tracker.is_shared:
            asks = ask or time.monotonic() - self._asked_at > _ELSEWHERE_EVERY_S
        else:
            asks = ask and bool(here)
        if self.tracker is not None and lacking and asks:
            self._asked_at = time.monotonic()
            try:
                self._elsewhere = tuple(self.tracker.sweep_rows(self.sweep.sweep_id))
            except TrackingError as error:
                self._warn(f"{error}; the leaderboard is in {self.folder / LEADERBOARD}")
        together = {**{row.job: row for row in self._elsewhere}, **here, **posted}
        return tuple(together[job] for job in sorted(together))

    def _settled(self, row: SweepRow) -> SweepRow:
        """A job that is still under way when all have ended was ended from outside."""
        if row.state != "running":
            return row
        ended = replace(row, state="failed", error="its process ended without a word")
        write_row(self.folder, ended)
        return ended

    def _tell(self, rows: Sequence[SweepRow]) -> bool:
        """Say on stderr which jobs have ended since the last look; returns whether any has."""
        new = [row for row in rows if row.state != "running" and self._shown.get(row.job) != row.state]
        ended = sum(row.state != "running" for row in rows)
        of = f" of {self.sweep.n_jobs:,}" if self.sweep.n_jobs else ""
        for row in new:
            self._shown[row.job] = row.state
            if self.reporting.progress:
                what = "failed" if row.state == "failed" else f"safe cap {cap_words(row)}"
                tell(f"sweep: {ended:,}{of} jobs ended; {row.task} · {name_of(row, rows)}: {what}")
        return bool(new)

    def _write(self, rows: Sequence[SweepRow], *, figures: bool) -> None:
        dpi = self.reporting.dpi if figures and self.reporting.figures else None
        if dpi is not None:
            self._drawn_at = time.monotonic()
        write_leaderboard(rows, self.sweep, folder=self.folder / LEADERBOARD, dpi=dpi, published=self.published)

    def _track(self, rows: Sequence[SweepRow], *, over: bool) -> None:
        try:
            track_sweep(self.tracker, self.sweep, rows, folder=self.folder, over=over)
        except TrackingError as error:
            self._warn(f"{error}; the leaderboard is in {self.folder / LEADERBOARD}")

    def _warn(self, line: str) -> None:
        if not self._warned:
            self._warned = True
            tell(f"warning: {line}")


_watching: list[SweepWatch] = []


def begin(grid: SweepGrid, config: DictConfig) -> StoredSweep:
    """Watch the sweep of this process; returns what it is. Raises `ConfigError`."""
    parts = part_of(config)
    experiment = parts.output_dir / parts.tracking.experiment
    sweep = StoredSweep(
        sweep_id=grid.sweep_id,
        name=grid.name,
        command=shown_text(" ".join(["python", "-m", "contextcliff", *grid.typed])),
        overrides=grid.typed,
        n_jobs=len(grid.jobs),
        began_at=datetime.now(UTC).isoformat(timespec="microseconds"),
    )
    watch = SweepWatch(
        sweep=sweep,
        folder=sweep_folder(experiment, grid.sweep_id),
        tracker=parts.tracking.mlflow,
        reporting=parts.reporting,
        published=parts.published,
    )
    _watching.append(watch)
    watch.begin()
    return sweep


def end_sweep() -> None:
    """End the sweep of this process, where there is one, with its table on stdout.

    Raises `RunError` where its files can't be written, as on a full disk.
    """
    while _watching:
        watch = _watching.pop()
        with path_errors_by_key({}):
            rows = watch.end()
        if rows and watch.reporting.prints:
            # Asking for the page makes a local store, which a sweep of which nothing began leaves unmade.
            folder = watch.folder / LEADERBOARD
            written = folder if folder.is_dir() else None
            page = None if written is None else _page(watch.tracker)
            render_sweep(rows, name=watch.sweep.name, n_jobs=watch.sweep.n_jobs, folder=written, page=page)
        if way_out := ways_out(rows):
            tell(way_out)


def _page(tracker: MLflowTracker | None) -> str | None:
    try:
        return None if tracker is None else tracker.leaderboard()
    except TrackingError:
        return None
