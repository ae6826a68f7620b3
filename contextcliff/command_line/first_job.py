"""`task.like=first`: the jobs of a sweep learn which run its first job left, also where they run side by side.

In the folder of the sweep's jobs the first one holds a lock while it is under way, and posts the folder of its run when
it ends. A job that needs that run waits for the lock, which the operating system releases however a process ends.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from contextcliff.actions.action import Invocation
from contextcliff.actions.like import FIRST, KEY
from contextcliff.actions.override_keys import as_typed
from contextcliff.errors import RunError, tell
from contextcliff.execution.signals import JOBS_FOLDER
from contextcliff.reporting.data_files import write_text

_LOCK, _BEGUN, _ENDED = "first-job.lock", "first-job-begun", "first-job-run"
_LOOK_EVERY_S = 0.2
_BEGINS_WITHIN_S = 60.0
"""Launchers start the first job first: where it has not begun by then, it will not, or not on this machine."""


@contextmanager
def in_sweep(invocation: Invocation, *, job: int | None) -> Iterator[Invocation]:
    """The invocation of one job, whose number in its sweep is `job` (None: there is no sweep).

    With `task.like=first` the first job posts its run, and every other one is as if that run had been named. Raises
    `RunError` where the first job can't be waited for.
    """
    if invocation.like != FIRST or job is None or invocation.run_folder is not None:  # a stored run asks nothing
        yield invocation
        return
    named = os.environ.get(JOBS_FOLDER)
    folder = Path(named) if named else None
    if folder is None or not folder.is_dir():
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
    experiment = invocation.output_dir / invocation.tracking.experiment
    name = run.name if run.parent == experiment.absolute() else str(run)
    others = (each for each in invocation.overrides if each.partition("=")[0].lstrip("+") != KEY)
    return replace(
        invocation,
        like=name,
        parameters={**invocation.parameters, KEY: name},
        overrides=(*others, f"{KEY}={as_typed(name)}"),
    )
