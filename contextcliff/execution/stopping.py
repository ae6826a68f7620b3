"""Ctrl-C and SIGTERM: the first lets a run end in order, with its report; another one ends it at once.

Slurm, Kubernetes and `timeout` end what they run by SIGTERM. Sending is cancelled, whatever else goes on is left by a
`KeyboardInterrupt`. A process that sweeps passes the signal on to the jobs that run in other processes, and no
further job begins.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from contextcliff.errors import ExitCode

JOBS_FOLDER = "CONTEXTCLIFF_JOBS_DIR"
"""The variable that names the folder where processes with a job under way are listed, and a signal is posted."""

_CODES: Mapping[int, ExitCode] = {signal.SIGINT: ExitCode.INTERRUPTED, signal.SIGTERM: ExitCode.TERMINATED}
_WORDS = {ExitCode.INTERRUPTED: "interrupted", ExitCode.TERMINATED: "terminated"}
_ONE_WISH_S = 1.0
"""`timeout` signals its child and then the whole group, a terminal the group: within that time it is one wish."""
_POSTED = "signal-"
_SHOW_CURSOR = "\x1b[?25h"


@dataclass(kw_only=True, slots=True)
class _State:
    """Of this process; a signal handler has no other place."""

    heard: int | None = None
    heard_at: float = 0.0
    at_work: bool = False
    sweeps: bool = False
    cancel: Callable[[], object] | None = None


_state = _State()


def listen(*, sweeps: bool = False) -> None:
    """Take both signals from now on; one that the process was started to ignore stays ignored.

    With `sweeps` this process may have jobs in others. Does nothing outside the main thread, which can't.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    _state.sweeps = _state.sweeps or sweeps
    for number in _CODES:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _hear)


def heard() -> ExitCode | None:
    """The code to end with, where a signal came to this process or to the one that sweeps."""
    return posted() if _state.heard is None else _CODES[_state.heard]


def posted() -> ExitCode | None:
    """The same, of the process that sweeps alone."""
    jobs = _jobs()
    if jobs is None:
        return None
    return next((code for number, code in _CODES.items() if (jobs / f"{_POSTED}{number}").exists()), None)


def word(code: ExitCode) -> str:
    """`interrupted` or `terminated`."""
    return _WORDS[code]


@contextmanager
def at_work() -> Iterator[None]:
    """Have a job under way: a signal then ends it, and one that the sweeping process gets reaches this one."""
    listen()
    jobs = _jobs()
    listed = None if jobs is None else jobs / str(os.getpid())
    _state.at_work = True
    try:
        if listed is not None:
            listed.touch()
        yield
    finally:
        _state.at_work = False
        if listed is not None:
            listed.unlink(missing_ok=True)


async def until_stopped(work: Coroutine[object, object, None]) -> bool:
    """Do some work; True where a signal cut it short. Work that ended by itself was not."""
    task = asyncio.create_task(work)
    loop = asyncio.get_running_loop()
    _state.cancel = lambda: loop.call_soon_threadsafe(task.cancel)
    try:
        if _state.heard is not None:  # just before there was something to cancel
            task.cancel()
        await asyncio.wait([task])
    finally:
        _state.cancel = None
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    if task.cancelled():
        return True
    task.result()
    return False


def _hear(number: int, _: FrameType | None) -> None:
    now = time.monotonic()
    if _state.heard is not None:
        if now - _state.heard_at >= _ONE_WISH_S:
            _pass_on(number)
            _end_at_once(_CODES[_state.heard])
        return
    _state.heard, _state.heard_at = number, now
    elsewhere = _pass_on(number)
    if _state.cancel is not None:
        _state.cancel()
    elif _state.at_work or (_state.sweeps and not elsewhere):
        raise KeyboardInterrupt
    # Jobs elsewhere end by themselves; a worker between two jobs begins none.


def _pass_on(number: int) -> bool:
    """Signal the jobs of a sweep that run in other processes; False where there is none."""
    jobs = _jobs() if _state.sweeps else None
    if jobs is None:
        return False
    (jobs / f"{_POSTED}{number}").touch()  # before looking: a job that begins now sees it
    others = [int(file.name) for file in jobs.iterdir() if file.name.isdigit() and int(file.name) != os.getpid()]
    for process in others:
        with suppress(ProcessLookupError):
            os.kill(process, number)
    return bool(others)


def _end_at_once(code: ExitCode) -> None:
    if sys.stderr.isatty():  # a progress bar hides the cursor
        os.write(2, _SHOW_CURSOR.encode())
    os.write(2, f"error: {word(code)} twice, ended at once; what was answered is kept\n".encode())
    os._exit(code)


def _jobs() -> Path | None:
    """The folder; None in a process on another machine, or without the variable."""
    named = os.environ.get(JOBS_FOLDER)
    return Path(named) if named and Path(named).is_dir() else None
