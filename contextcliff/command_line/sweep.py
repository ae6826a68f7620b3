"""A sweep as a whole, in the process that runs it: its run in the tracker, one progress, and what is said at its end.

The end is the table of its jobs, or the sum of their plans, and with `reporting.compare` the comparison of the runs of
each task (`action=compare`), with its first job as the baseline."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from omegaconf import DictConfig, OmegaConf, read_write

from contextcliff.actions.override_keys import as_typed, group_of, overrides_by_key
from contextcliff.actions.track import track_sweep
from contextcliff.command_line.compose import recompose
from contextcliff.command_line.sweep_jobs import NOT_BEGUN, PLANNED, SWEEP, path_errors_by_key
from contextcliff.config import part_of
from contextcliff.errors import ConfigError, ContextCliffError, ExitCode, print_error, shown_text, tell
from contextcliff.execution.signals import jobs_folder
from contextcliff.records.published import PublishedCurve
from contextcliff.records.report import shown_model
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.leaderboard import cap_words, draw_runs, name_of, render_sweep, ways_out, write_leaderboard
from contextcliff.reporting.published import published_curves
from contextcliff.reporting.reporting_settings import ReportingSettings
from contextcliff.reporting.run_names import with_file_names
from contextcliff.reporting.stored_sweeps import (
    LEADERBOARD,
    StoredSweep,
    read_rows,
    sweep_folder,
    write_row,
    write_sweep,
)
from contextcliff.seeding import digest_of
from contextcliff.tracking.outgoing import own_paths, without_paths
from contextcliff.tracking.tracker import TrackingError
from contextcliff.tracking.views import sweep_view

if TYPE_CHECKING:
    from contextcliff.tracking.mlflow import MLflowTracker

_NO_OTHER_SWEEP = frozenset({"action", "budget", "hydra", "output_dir", "reporting", "tracking"})
_NAMED = ("model", "task", "kv_policy")
_SWEEPER = "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"
_LONGEST_NAME = 100
_LOOK_EVERY_S = 1.0
_MOST_SHARE = 0.03
_ELSEWHERE_EVERY_S = 15.0


@dataclass(kw_only=True, slots=True)
class SweepWatch:
    """Looks at the rows that jobs leave, and brings the leaderboard up to date as they end."""

    sweep: StoredSweep
    jobs: Sequence[Sequence[str]]
    folder: Path
    tracker: MLflowTracker | None
    reporting: ReportingSettings
    published: tuple[PublishedCurve, ...] = ()
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _shown: dict[int, str] = field(default_factory=dict)
    _warned: bool = False
    _elsewhere: tuple[SweepRow, ...] = ()
    _asked_at: float = 0.0

    def begin(self) -> None:
        """Watch. What ended before is settled; nothing is written until a job begins."""
        self._shown = {row.job: row.state for row in read_rows(self.folder)}
        self._thread = threading.Thread(target=self._watch, name="sweep", daemon=True)
        self._thread.start()

    def end(self) -> tuple[SweepRow, ...]:
        """Stop watching, write everything once more where a job has begun, and return the rows."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        for row in read_rows(self.folder):
            if row.state == "running":  # when all have ended it was ended from outside
                write_row(self.folder, replace(row, state="failed", error="stopped before its report"))
        rows = self._rows(ask=True)
        self._tell(rows)
        self._write(rows, over=True)
        return rows

    def _watch(self) -> None:
        outdated, took = False, 0.0
        while not self._over.wait(_LOOK_EVERY_S + took / _MOST_SHARE):
            rows, began = self._rows(), time.monotonic()
            outdated = self._tell(rows) or outdated
            try:
                if outdated:
                    self._write(rows, over=False)
                outdated = False
            except OSError as error:  # as on a full disk; at the end of the sweep it is an error
                self._warn(f"{error.filename or self.folder}: {error.strerror}; the leaderboard is not up to date")
            took = time.monotonic() - began

    def _rows(self, *, ask: bool = False) -> tuple[SweepRow, ...]:
        here = {row.job: row for row in (*read_rows(self.folder), *_posted_rows())}
        is_due = ask or time.monotonic() - self._asked_at > _ELSEWHERE_EVERY_S
        lacking = self.sweep.n_jobs == 0 or len(here) < self.sweep.n_jobs
        if self.tracker is not None and not self.tracker.is_sqlite_file and lacking and is_due:
            self._asked_at = time.monotonic()
            try:
                self._elsewhere = tuple(self.tracker.sweep_rows(self.sweep.sweep_id))
            except TrackingError as error:
                self._warn(f"{error}; the leaderboard is in {self.folder / LEADERBOARD}")
        together = {row.job: row for row in self._elsewhere} | here
        return tuple(together[job] for job in sorted(together))

    def _tell(self, rows: Sequence[SweepRow]) -> bool:
        new = [row for row in rows if row.state != "running" and self._shown.get(row.job) != row.state]
        ended = sum(row.state != "running" for row in rows)
        of = f" of {self.sweep.n_jobs:,}" if self.sweep.n_jobs else ""
        for row in new:
            self._shown[row.job] = row.state
            if self.reporting.progress:
                what = "failed" if row.state == "failed" else f"safe cap {cap_words(row)}"
                tell(f"sweep: {ended:,}{of} jobs ended; {row.task} · {name_of(row, rows)}: {what}")
        return bool(new)

    def _write(self, rows: Sequence[SweepRow], *, over: bool) -> None:
        if not read_rows(self.folder) and not self._elsewhere:
            return
        write_sweep(self.folder, self.sweep)
        leaderboard, dpi = self.folder / LEADERBOARD, self.reporting.dpi if self.reporting.figures else None
        for row in _posted_rows() if over else ():
            write_row(self.folder, row)
        write_leaderboard(rows, self.sweep, folder=leaderboard, dpi=dpi, published=self.published)
        drawn = draw_runs(rows, experiment=self.folder.parents[1], dpi=dpi) if over and dpi is not None else {}
        try:
            track_sweep(self.tracker, self.sweep, rows, folder=self.folder, over=over, drawn=drawn)
        except TrackingError as error:
            self._warn(f"{error}; the leaderboard is in {leaderboard}")

    def _warn(self, line: str) -> None:
        if not self._warned:
            self._warned = True
            tell(f"warning: {line}")


_watching: list[SweepWatch] = []


def begin(config: DictConfig) -> None:
    """Watch the sweep of this process, and have Hydra tell its jobs (`SWEEP`). Nothing is written before one begins."""
    try:
        tracking, reporting, output_dir = part_of(config)
        published = published_curves(reporting.published, key="reporting.published")
        sweep, jobs, differing = _described(config)
    except ConfigError as error:  # every job will say so
        tell(f"warning: no leaderboard: {error}")
        return
    watch = SweepWatch(
        sweep=sweep,
        jobs=jobs,
        folder=sweep_folder(output_dir / tracking.experiment, sweep.sweep_id),
        tracker=tracking.mlflow,
        reporting=reporting,
        published=published,
    )
    _watching.append(watch)
    watch.begin()
    note = {
        "sweep_id": sweep.sweep_id,
        "name": sweep.name,
        "command": without_paths(sweep.command, own_paths(overrides_by_key(sweep.overrides))),
        "n_jobs": sweep.n_jobs,
        "differing": [key for key in differing if key not in _NAMED],
    }
    with read_write(config.hydra.overrides):  # as a word that needs no quotes anywhere
        config.hydra.overrides.hydra.append(f"+hydra.job.env_set.{SWEEP}={json.dumps(note).encode().hex()}")


def _described(config: DictConfig) -> tuple[StoredSweep, list[list[str]], list[str]]:
    """A sweep, its jobs and the keys in which they differ, from the configuration that Hydra composed for all of them.

    Its id is the same for the same jobs in whatever order, however they are run and reported. Its name has the values
    that are swept (`sweep · qwen, glm · niah, tracing`), and says where all jobs are simulated."""
    hydra = config.hydra
    typed = tuple(cast(list[str], OmegaConf.to_container(hydra.overrides.task, resolve=False)))
    jobs = _jobs(hydra, typed)
    values: dict[str, dict[str, None]] = {}
    for key, value in (override.lstrip("+~").partition("=")[::2] for job in jobs for override in job):
        values.setdefault(key, {})[value] = None
    swept = {key: list(seen) for key, seen in values.items() if len(seen) > 1}
    differing = [*(key for key in _NAMED if key in swept), *(key for key in swept if key not in _NAMED)]
    parts = (", ".join(with_file_names({key: v.strip("'\"")})[key] for v in swept[key]) for key in differing)
    name = " · ".join(["sweep", *parts])
    name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    engine = str(hydra.runtime.choices.get("engine") or "")
    asked = [[each for each in job if group_of(each) not in _NO_OTHER_SWEEP] for job in jobs or [list(typed)]]
    sweep = StoredSweep(
        sweep_id=digest_of(sorted(map(sorted, asked)))[:10],
        name=name if "engine" in swept else shown_model(name, engine=engine),
        command=shown_text(" ".join(["python", "-m", "contextcliff", *typed])),
        overrides=typed,
        n_jobs=len(jobs),
        began_at=datetime.now(UTC).isoformat(timespec="microseconds"),
    )
    return sweep, jobs, differing


def _jobs(hydra: DictConfig, typed: Sequence[str]) -> list[list[str]]:
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser

    if hydra.sweeper.get("_target_") != _SWEEPER:
        return []
    given = [f"{key}={value}" for key, value in (hydra.sweeper.get("params") or {}).items()]
    overrides = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader()).parse_overrides(
        [*given, *typed]
    )
    return [job for batch in BasicSweeper.split_arguments(overrides, None) for job in batch]


def end_sweep(code: ExitCode) -> ExitCode:
    """End the sweep of this process, whose jobs ended with `code`; returns the command's exit code. Raises
    `ContextCliffError`, as on a full disk."""
    while _watching:
        watch = _watching.pop()
        with path_errors_by_key({}):
            rows = watch.end()
        if rows and watch.reporting.prints:
            leaderboard, page = watch.folder / LEADERBOARD, None
            written = leaderboard if leaderboard.is_dir() else None
            if written and watch.tracker is not None:  # to ask it makes a local store
                with suppress(TrackingError):
                    view = sweep_view(watch.sweep.sweep_id)
                    page = watch.tracker.address(view) or watch.tracker.ui_command(view)
            render_sweep(rows, name=watch.sweep.name, n_jobs=watch.sweep.n_jobs, folder=written, page=page)
        if way_out := ways_out(rows):
            tell(way_out)
        if code is ExitCode.DONE and watch.reporting.compare:
            code = _compare(watch, rows)
    folder = jobs_folder()
    planned = [] if folder is None else sorted(folder.glob(f"{PLANNED}*"))
    if len(planned) > 1:
        from contextcliff.reporting.plan_report import render_plan_total

        render_plan_total([json.loads(file.read_text(encoding="utf-8")) for file in planned])
    return code


def _posted_rows() -> tuple[SweepRow, ...]:
    folder = jobs_folder()
    return () if folder is None else read_rows(folder / NOT_BEGUN)


def _compare(watch: SweepWatch, rows: Sequence[SweepRow]) -> ExitCode:
    """Compare the runs of each task with the first one; returns the exit code. A comparison that can't be made is a
    warning, and does not make the sweep a failure, for its runs are there."""
    runs: dict[str, dict[str, int]] = {}
    for row in rows:
        if row.folder and (watch.folder.parents[1] / row.folder).is_dir():
            runs.setdefault(row.task, {}).setdefault(row.folder, row.job)
    for of_task in runs.values():
        (baseline, first), *others = of_task.items()
        if not others:
            tell(f"warning: reporting.compare=true: {baseline} is the only run of its task")
            continue
        asked = watch.jobs[first] if watch.jobs else watch.sweep.overrides
        plain = [each for each in asked if group_of(each) != "action" and not each.startswith("++")]
        candidates = ",".join(as_typed(name) for name, _ in others)
        named = (f"action.baseline={as_typed(baseline)}", f"action.candidates=[{candidates}]")
        try:
            invocation = recompose([*plain, "action=compare", *named])
            invocation.action(invocation)
        except ConfigError as error:  # runs that can't stand side by side
            tell(f"warning: reporting.compare=true: {error}")
        except ContextCliffError as error:
            print_error(error)
            return error.exit_code
    return ExitCode.DONE
