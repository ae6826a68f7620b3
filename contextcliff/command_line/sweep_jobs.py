"""One job of a sweep: its place in it, what it leaves for the sweep's end, and `task.like=first`.

On the machine that sweeps there is a folder of the sweep's jobs (`JOBS_FOLDER`). A job posts there its plan, its run
for the comparison at the end, and its row where it could not begin. With `task.like=first` the first job holds a lock
there while it is under way, and posts the folder of its run when it ends; a job that needs that run waits for the lock,
which the operating system releases however a process ends.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from contextcliff.actions.action import Invocation
from contextcliff.actions.like import FIRST, KEY
from contextcliff.actions.override_keys import as_typed, overrides_by_key
from contextcliff.actions.track import row_without_report
from contextcliff.errors import ConfigError, ContextCliffError, GateFailed, RunError, full_disk, tell
from contextcliff.execution.signals import JOBS_FOLDER
from contextcliff.records.kv_cache import shown_policy
from contextcliff.records.report import shown_model
from contextcliff.records.run_plan import Plan, PlanTotal
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.data_files import write_text
from contextcliff.reporting.run_names import with_file_names
from contextcliff.reporting.stored_sweeps import read_rows, sweep_folder, write_row
from contextcliff.seeding import digest_of
from contextcliff.tracking.tracker import SweepPlace

SWEEP = "CONTEXTCLIFF_SWEEP"
"""The variable by which the jobs of a sweep know it, in whatever process and on whatever machine."""
COMPARED, PLANNED, NOT_BEGUN = "compare-", "plan-", "not-begun"
_LOCK, _BEGUN, _ENDED = "first-job.lock", "first-job-begun", "first-job-run"
_LOOK_EVERY_S = 0.2
_BEGINS_WITHIN_S = 60.0
"""Launchers start the first job first: where it has not begun by then, it will not, or not on this machine."""


def jobs_folder() -> Path | None:
    """The folder of the sweep's jobs; None on another machine than that of the sweep."""
    named = os.environ.get(JOBS_FOLDER)
    return Path(named) if named and Path(named).is_dir() else None


def packed(note: Mapping[str, object]) -> str:
    """What jobs are told of their sweep (`SWEEP`), as a word that needs no quotes anywhere."""
    return json.dumps(note).encode().hex()


def _place(overrides: Sequence[str], *, job: int) -> SweepPlace | None:
    """Where the job with these overrides stands; None if it was told of no sweep."""
    note = os.environ.get(SWEEP)
    if not note:
        return None
    told: dict[str, Any] = json.loads(bytes.fromhex(note))
    keys = overrides_by_key(overrides)
    differing = {key: keys[key].strip("'\"") for key in told["differing"] if key in keys}
    return SweepPlace(**{**told, "job": job, "differing": with_file_names(differing)})


@contextmanager
def in_sweep(invocation: Invocation, *, job: int | None, in_main: bool) -> Iterator[Invocation]:
    """The invocation at its place in the sweep (`job` is None outside a sweep). Raises `RunError`.

    A job that fails leaves a row that says why. One in another process than the sweep's draws no progress of its own.
    """
    place = None if job is None else _place(invocation.overrides, job=job)
    if job is None or place is None:
        alone = invocation if job is None else _posting(invocation, job)
        with path_errors_by_key(invocation.parameters), like_first(alone, job=job) as ready:
            yield ready
        return
    reporting = invocation.reporting if in_main else replace(invocation.reporting, progress=False)
    placed = replace(_posting(invocation, job), place=place, reporting=reporting)
    folder = sweep_folder(invocation.experiment, place.sweep_id)
    try:
        with path_errors_by_key(invocation.parameters), like_first(placed, job=job) as ready:
            yield ready
    except ConfigError as error:
        _post_row(row_without_report(placed, place, state="failed", error=_in_line(error)))
        raise
    except (Exception, KeyboardInterrupt) as error:
        if not isinstance(error, GateFailed):  # which is a result
            expected = isinstance(error, (ContextCliffError, KeyboardInterrupt))
            why = _in_line(error if expected else f"{type(error).__name__}: {error}") or "stopped by a signal"
            write_row(folder, row_without_report(placed, place, state="failed", error=why))
        raise
    if any(row.job == job and row.state == "running" for row in read_rows(folder)):
        write_row(folder, row_without_report(placed, place, state="failed", error="stopped before its first answer"))


def list_unbuilt(choices: Mapping[str, str | None], error: ConfigError, *, job: int, overrides: Sequence[str]) -> None:
    """Post the row of a job whose configuration can't be built: its options, and why."""
    place = _place(overrides, job=job)
    if place is not None:
        row = SweepRow(
            job=job,
            model=shown_model(choices.get("model") or "", engine=choices.get("engine") or ""),
            task=choices.get("task") or "",
            kv_policy=shown_policy(choices.get("kv_policy") or "", key_type="f16", value_type="f16", as_started=False),
            differing=place.differing,
            state="failed",
            error=_in_line(error),
        )
        _post_row(row)


def _post_row(row: SweepRow) -> None:
    """Keep a row for as long as the sweep runs: nothing is left of a sweep that never began."""
    folder = jobs_folder()
    if folder is not None:
        write_row(folder / NOT_BEGUN, row)


def _in_line(error: object) -> str:
    return " ".join(str(error).split())


def _posting(invocation: Invocation, job: int) -> Invocation:
    """The invocation that posts its plan, and its run for `reporting.compare`."""

    def planned(plan: Plan) -> None:
        folder = jobs_folder()
        if folder is not None:
            total = PlanTotal(
                jobs=1,
                samples=plan.samples + plan.controls,
                stored=plan.stored,
                prompt_tokens=plan.prompt_tokens,
                cached_prompt_tokens=plan.cached_prompt_tokens,
                completion_tokens=plan.completion_tokens,
                usd=plan.usd,
                wall_s=plan.wall_s,
            )
            write_text(path=folder / f"{PLANNED}{job:04}", text=json.dumps(asdict(total)))

    def reported(run: Path) -> None:
        invocation.on_reported(run)
        folder = jobs_folder()
        if folder is not None and invocation.reporting.compare:
            posted = folder / f"{COMPARED}{digest_of(invocation.task_name)}-{job:04}"
            write_text(path=posted, text=json.dumps({"run": run.name, "overrides": list(invocation.overrides)}))

    return replace(invocation, on_planned=planned, on_reported=reported)


@contextmanager
def like_first(invocation: Invocation, *, job: int | None) -> Iterator[Invocation]:
    """With `task.like=first`: the first job posts its run, and every other one is as if that run had been named.

    Raises `RunError` where the first job can't be waited for.
    """
    if invocation.like != FIRST or job is None or invocation.run_folder is not None:  # a stored run asks nothing
        yield invocation
        return
    folder = jobs_folder()
    if folder is None:
        raise RunError(
            f"{KEY}={FIRST}: this job does not run on the machine of its sweep and can't learn of the first job; run "
            f"that one by itself, and the others with {KEY}=RUN_ID"
        )
    if job > 0:
        yield _like(invocation, _run_of_first(folder, announce=invocation.reporting.progress))
        return
    reported: list[Path] = []

    def on_reported(run: Path) -> None:
        reported.append(run)
        invocation.on_reported(run)

    with FileLock(folder / _LOCK):
        write_text(path=folder / _BEGUN, text="")
        try:
            yield replace(invocation, like=None, on_reported=on_reported)
        finally:
            write_text(path=folder / _ENDED, text=str(reported[-1].absolute()) if reported else "")


def _run_of_first(folder: Path, *, announce: bool) -> Path | None:
    """The folder of the first job's run; None where it left none."""
    begins_by = time.monotonic() + _BEGINS_WITHIN_S
    while not (folder / _BEGUN).is_file() and time.monotonic() < begins_by:
        time.sleep(_LOOK_EVERY_S)
    lock = FileLock(folder / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if announce:
            tell(f"waiting: {KEY}={FIRST}, and the first job of this sweep has not ended yet")
        lock.acquire()
    lock.release()
    ended = folder / _ENDED
    if not ended.is_file():
        raise RunError(
            f"{KEY}={FIRST}: the first job of this sweep is not there to wait for; run it by itself, and the others "
            f"with {KEY}=RUN_ID"
        )
    run = ended.read_text(encoding="utf-8")
    return Path(run) if run else None


def _like(invocation: Invocation, run: Path | None) -> Invocation:
    """As if the run had been named: the command that repeats this job by itself names it."""
    if run is None:
        return replace(invocation, like="")
    experiment = invocation.experiment
    name = run.name if run.parent == experiment.absolute() else str(run)
    others = (each for each in invocation.overrides if each.partition("=")[0].lstrip("+") != KEY)
    return replace(
        invocation,
        like=name,
        parameters={**invocation.parameters, KEY: name},
        overrides=(*others, f"{KEY}={as_typed(name)}"),
    )


@contextmanager
def path_errors_by_key(parameters: Mapping[str, str]) -> Iterator[None]:
    """Raise an `OSError` about a file as `ConfigError` where the path comes from a key, else as `RunError`."""
    try:
        yield
    except OSError as error:
        if full := full_disk(error, parameters.get("output_dir")):
            raise full from error
        if error.filename is None or error.strerror is None:
            raise
        path = _absolute(str(error.filename))
        keys = [key for key, value in parameters.items() if _contains(value, path)]
        if keys:
            key = max(keys, key=lambda key: len(parameters[key]))
            raise ConfigError(
                f"{key}={parameters[key]}: {error.strerror} ({error.filename}); give another path"
            ) from error
        raise RunError(f"{error.filename}: {error.strerror}") from error


def _contains(value: str, path: Path) -> bool:
    """Whether a value names this path, or a folder above it."""
    with suppress(ValueError, OSError, RuntimeError):  # of most keys it is no path at all
        return value not in ("", ".", "/") and path.is_relative_to(_absolute(value))
    return False


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()
