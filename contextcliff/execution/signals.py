"""Ctrl-C and SIGTERM: the first lets a run end in order, with its report; a second one ends it at once.

The signal cancels the requests that are being sent; any other work is ended by a `KeyboardInterrupt`. A process that
sweeps passes the signal on to its jobs in other processes, and no further job starts."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Literal, Self

from contextcliff.errors import ExitCode

JOBS_FOLDER = "CONTEXTCLIFF_JOBS_DIR"
"""The variable that names the folder in which processes list themselves during a job, and a signal is posted."""

Stop = Literal["interrupted", "terminated", "out of budget", "declined"]
_CODES: Mapping[int, ExitCode] = {signal.SIGINT: ExitCode.INTERRUPTED, signal.SIGTERM: ExitCode.TERMINATED}
_SAME_SIGNAL_S = 1.0
"""Signals within this time count as one: `timeout` signals its child and then the child's whole group."""
_POSTED = "signal-"
_SHOW_CURSOR = b"\x1b[?25h"


class _State:
    received: int | None = None
    received_at_s: float = 0.0
    job_in_progress: bool = False
    sweeps: bool = False
    cancel: Callable[[], object] | None = None


_state = _State()


def handle_signals(*, sweeps: bool = False) -> None:
    """Handle both signals from now on, unless they are ignored; `sweeps`: there may be jobs in other processes."""
    if threading.current_thread() is not threading.main_thread():
        return
    _state.sweeps = _state.sweeps or sweeps
    for number in _CODES:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _on_signal)


def stop_code() -> ExitCode | None:
    """The exit code for the signal that this process or the one that sweeps received."""
    return posted_stop_code() if _state.received is None else _CODES[_state.received]


def posted_stop_code() -> ExitCode | None:
    """The same for signals to the process that sweeps."""
    posted = [] if (jobs := jobs_folder()) is None else [file.name for file in jobs.glob(f"{_POSTED}*")]
    return next((code for number, code in _CODES.items() if f"{_POSTED}{number}" in posted), None)


@contextmanager
def job_in_progress() -> Iterator[None]:
    """A signal ends this job, and one to the process that sweeps is passed on to it."""
    handle_signals()
    jobs = jobs_folder()
    _state.job_in_progress = True
    try:
        if jobs is not None:
            (jobs / str(os.getpid())).touch()
        yield
    finally:
        _state.job_in_progress = False
        if jobs is not None:
            (jobs / str(os.getpid())).unlink(missing_ok=True)


class Stoppable:
    """An `async with` block that a signal ends in order; `stop` says which."""

    stop: Stop | None = None

    async def __aenter__(self) -> Self:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def cancel() -> None:
            if _state.cancel is at_signal:  # else the block has ended meanwhile
                self.stop = signalled()
                task.cancel()

        def at_signal() -> None:
            loop.call_soon_threadsafe(cancel)

        _state.cancel = at_signal
        if _state.received is not None:  # the signal came before there was a block to end
            cancel()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        _state.cancel = None
        if self.stop is None:
            return False
        if error is None:  # the block had nothing to wait for
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        task.uncancel()
        return error is None or isinstance(error, asyncio.CancelledError)


def _on_signal(number: int, _: FrameType | None) -> None:
    now = time.monotonic()
    if _state.received is not None:
        if now - _state.received_at_s >= _SAME_SIGNAL_S:
            _pass_on(number)
            _end_at_once(_CODES[_state.received])
        return
    _state.received, _state.received_at_s = number, now
    elsewhere = _pass_on(number)
    if _state.cancel is not None:
        _state.cancel()
    elif _state.job_in_progress or (_state.sweeps and not elsewhere):
        raise KeyboardInterrupt
    # Jobs in other processes end by themselves, and a worker between two jobs starts no other.


def _pass_on(number: int) -> bool:
    jobs = jobs_folder() if _state.sweeps else None
    if jobs is None:
        return False
    (jobs / f"{_POSTED}{number}").touch()  # before the processes are listed, so that a job that starts now sees it
    others = [int(file.name) for file in jobs.iterdir() if file.name.isdigit() and int(file.name) != os.getpid()]
    for process in others:
        with suppress(ProcessLookupError):
            os.kill(process, number)
    return bool(others)


def _end_at_once(code: ExitCode) -> None:
    if sys.stderr.isatty():  # a progress bar hides the cursor
        os.write(2, _SHOW_CURSOR)
    os.write(2, f"error: {code.name.lower()} twice, ended at once; what was answered is kept\n".encode())
    os._exit(code)


def jobs_folder() -> Path | None:
    """The folder of `JOBS_FOLDER`; None outside a sweep, and on another machine than the sweep's."""
    named = os.environ.get(JOBS_FOLDER)
    return Path(named) if named and Path(named).is_dir() else None


_GOES_ON = "what was answered is kept, and the same command goes on"
_NEW_BUDGET = "what was answered is kept; the same command with a new budget goes on"
ENDINGS: Mapping[Stop, tuple[ExitCode, str]] = {
    "interrupted": (ExitCode.INTERRUPTED, _GOES_ON),
    "terminated": (ExitCode.TERMINATED, _GOES_ON),
    "out of budget": (ExitCode.BUDGET_RAN_OUT, _NEW_BUDGET),
    "declined": (ExitCode.DONE, "nothing was sent"),
}
"""The exit code of every stop, and what becomes of the answers."""


def signalled() -> Stop:
    return "terminated" if stop_code() is ExitCode.TERMINATED else "interrupted"
