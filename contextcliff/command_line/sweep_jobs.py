"""One job of a sweep: its place in it, what it leaves for the sweep's end, and `task.like=first`.

On the machine that sweeps there is a folder of the sweep's jobs (`JOBS_FOLDER`). A job posts there its plan, and its
row where it could not begin. With `task.like=first` the first job holds a lock there while it is under way, and posts
the folder of its run when it ends; a job that needs that run waits for the lock, which the operating system releases
however a process ends."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from errno import EDQUOT, EFBIG, ENOSPC
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock

from contextcliff.actions.action import Invocation
from contextcliff.actions.like import FIRST, KEY
from contextcliff.actions.override_keys import as_typed, overrides_by_key
from contextcliff.actions.track import row_without_report
from contextcliff.errors import ConfigError, ContextCliffError, GateFailed, RunError
from contextcliff.execution.signals import jobs_folder
from contextcliff.records.kv_cache import shown_policy
from contextcliff.records.report import shown_model
from contextcliff.records.run_plan import Plan
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.data_files import write_text
from contextcliff.reporting.run_names import with_file_names
from contextcliff.reporting.stored_sweeps import sweep_folder, write_row
from contextcliff.tracking.tracker import SweepPlace

SWEEP = "CONTEXTCLIFF_SWEEP"
"""The variable by which the jobs of a sweep know it, in whatever process and on whatever machine."""
PLANNED, NOT_BEGUN = "plan-", "not-begun"
_BEGUN = "first-job-begun"
_LOOK_EVERY_S = 0.2
_BEGINS_WITHIN_S = 60.0
"""Launchers start the first job first: where it has not begun by then, it will not, or not on this machine."""


def _place(overrides: Sequence[str], *, job: int) -> SweepPlace | None:
    note = os.environ.get(SWEEP)
    if not note:
        return None
    told: dict[str, Any] = json.loads(bytes.fromhex(note))
    keys = overrides_by_key(overrides)
    differing = {key: keys[key].strip("'\"") for key in told["differing"] if key in keys}
    return SweepPlace(**{**told, "job": job, "differing": with_file_names(differing)})


@contextmanager
def in_sweep(invocation: Invocation, *, job: int | None, in_main: bool) -> Iterator[Invocation]:
    """The invocation at its place in the sweep (`job` is None outside a sweep). Raises `RunError`. A job that fails
    leaves a row that says why. One in another process than the sweep's draws no progress of its own."""
    place = None if job is None else _place(invocation.overrides, job=job)
    if job is not None:
        invocation = replace(invocation, on_planned=partial(_post_plan, job=job))
    if place is not None and not in_main:
        invocation = replace(invocation, reporting=replace(invocation.reporting, progress=False))
    invocation = replace(invocation, place=place)
    try:
        with path_errors_by_key(invocation.parameters), like_first(invocation, job=job) as ready:
            yield ready
    except (Exception, KeyboardInterrupt) as error:
        if place is not None and not isinstance(error, GateFailed):  # which is a result
            expected = isinstance(error, (ContextCliffError, KeyboardInterrupt))
            why = (
                " ".join((str(error) if expected else f"{type(error).__name__}: {error}").split())
                or "stopped by a signal"
            )
            row = row_without_report(invocation, place, state="failed", error=why)
            if isinstance(error, ConfigError):
                _post_row(row)
            else:
                write_row(sweep_folder(invocation.experiment, place.sweep_id), row)
        raise


def list_unbuilt(choices: Mapping[str, str | None], error: ConfigError, *, job: int, overrides: Sequence[str]) -> None:
    if place := _place(overrides, job=job):
        model, task, policy, engine = (choices.get(group) or "" for group in ("model", "task", "kv_policy", "engine"))
        row = SweepRow(
            job=job,
            model=shown_model(model, engine=engine),
            task=task,
            kv_policy=shown_policy(policy, key_type="f16", value_type="f16", as_started=False),
            differing=place.differing,
            state="failed",
            error=" ".join(str(error).split()),
        )
        _post_row(row)


def _post_row(row: SweepRow) -> None:
    """Keep a row for as long as the sweep runs: nothing is left of a sweep that never began."""
    if folder := jobs_folder():
        write_row(folder / NOT_BEGUN, row)


def _post_plan(plan: Plan, *, job: int) -> None:
    if folder := jobs_folder():
        write_text(path=folder / f"{PLANNED}{job:04}", text=json.dumps(asdict(plan)))


@contextmanager
def like_first(invocation: Invocation, *, job: int | None) -> Iterator[Invocation]:
    """With `task.like=first`: the first job posts its run, and every other one is as if that run had been named. Raises
    `RunError` where the first job can't be waited for."""
    if invocation.like != FIRST or job is None or invocation.run_folder is not None:  # a stored run asks nothing
        yield invocation
        return
    folder = jobs_folder()
    if folder is None:
        raise RunError(
            f"{KEY}={FIRST}: this job does not run on the machine of its sweep and can't learn of the first job; run "
            f"that one by itself, and the others with {KEY}=RUN_ID"
        )
    lock, ended = FileLock(folder / "first-job.lock"), folder / "first-job-run"
    if job > 0:
        yield _like(invocation, _run_of_first(folder / _BEGUN, lock, ended))
        return

    def on_reported(run: Path) -> None:
        write_text(path=ended, text=str(run.absolute()))
        invocation.on_reported(run)

    with lock:
        write_text(path=folder / _BEGUN, text="")
        try:
            yield replace(invocation, like=None, on_reported=on_reported)
        finally:
            if not ended.exists():
                write_text(path=ended, text="")


def _run_of_first(begun: Path, lock: FileLock, ended: Path) -> str:
    begins_by = time.monotonic() + _BEGINS_WITHIN_S
    while not begun.is_file() and time.monotonic() < begins_by:
        time.sleep(_LOOK_EVERY_S)
    with lock:
        if not ended.is_file():
            raise RunError(
                f"{KEY}={FIRST}: the first job of this sweep is not there to wait for; run it by itself, and the "
                f"others with {KEY}=RUN_ID"
            )
        return ended.read_text(encoding="utf-8")


def _like(invocation: Invocation, run: str) -> Invocation:
    if not run:
        return replace(invocation, like="")
    name = Path(run).name if Path(run).parent == invocation.experiment.absolute() else run
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
        if error.errno in (ENOSPC, EDQUOT, EFBIG):
            way_out = "the answers are kept: free space and run the same command, or action=analyze"
            raise RunError(f"{error.filename or parameters.get('output_dir')}: {error.strerror}; {way_out}") from error
        if error.filename is None or error.strerror is None:
            raise
        keys = [key for key, value in parameters.items() if _contains(value, str(error.filename))]
        if not keys:
            raise RunError(f"{error.filename}: {error.strerror}") from error
        key = max(keys, key=lambda key: len(parameters[key]))
        why = f"{error.strerror} ({error.filename}); give another path"
        raise ConfigError(f"{key}={parameters[key]}: {why}") from error


def _contains(value: str, file: str) -> bool:
    with suppress(ValueError, OSError, RuntimeError):  # of most keys it is no path at all
        folder, path = (Path(each).expanduser().absolute() for each in (value, file))
        return value not in ("", ".", "/") and path.is_relative_to(folder)
    return False
