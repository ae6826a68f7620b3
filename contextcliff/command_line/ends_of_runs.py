"""The figures and uploads of a long sweep's runs, in processes beside the one that runs its jobs.

Drawing and uploading take more of a processor than all else that a job does beside its model, and no later job waits
for them. Nothing is lost where they end early: the runs' files are written, and the same command goes on.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.process import BaseProcess

from contextcliff.actions.end_of_run import EndOfRun
from contextcliff.errors import tell

FEWEST_JOBS = 8
"""A process takes some seconds to start, which the jobs of a shorter sweep do not gain."""
_PROCESSES = 2
"""Drawing and uploading take twice the time of the rest of a simulated job, and a database takes one at a time."""
_MOST_WAITING = 8
"""Their samples are in memory."""


@dataclass(kw_only=True, slots=True)
class EndsOfRuns:
    """Ends that are carried out elsewhere, in the order in which they came."""

    _pool: ProcessPoolExecutor | None = None
    _waiting: dict[Future[str], EndOfRun] = field(default_factory=dict)
    _failed: list[Exception] = field(default_factory=list)
    _idle: list[BaseProcess] = field(default_factory=list)
    """Processes that have never been given an end."""

    def prepare(self, load: Callable[[], None]) -> None:
        """Start the processes, and `load` in them what ends take, while jobs are composed and the first one runs."""
        others = multiprocessing.active_children()
        self._pool = _new_pool()
        for _ in range(_PROCESSES):
            self._pool.submit(load)
        self._idle = [process for process in multiprocessing.active_children() if process not in others]

    def add(self, end: EndOfRun) -> str:
        """Carry it out soon; waits while many are waiting. Returns no warning: those come on stderr."""
        while len(self._waiting) >= _MOST_WAITING:
            self._collect(wait(self._waiting, return_when=FIRST_COMPLETED).done)
        self._idle.clear()
        if self._pool is None:
            self._pool = _new_pool()
        try:
            self._waiting[self._pool.submit(EndOfRun.carry_out, replace(end, named=False))] = end
        except BrokenProcessPool:
            self._pool = None
            return end.carry_out()
        return ""

    def finish(self) -> None:
        """Wait for all of them; raises what one of them raised."""
        if self._pool is None and not self._waiting:
            return
        for process in self._idle:  # no job came that far: nobody waits until they have loaded everything
            process.kill()
        self._collect(wait(self._waiting).done)
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        if self._failed:
            raise self._failed[0]

    def _collect(self, done: set[Future[str]]) -> None:
        for future in done:
            end = self._waiting.pop(future)
            try:
                warning = future.result()
            except BrokenProcessPool:  # ended from outside, out of memory perhaps
                self._pool = None
                warning = end.carry_out()
            except Exception as error:  # noqa: BLE001 - raised at the end, when the others are done
                self._failed.append(error)
                continue
            if warning:
                tell(warning)


def _new_pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        max_workers=_PROCESSES, mp_context=multiprocessing.get_context("spawn"), initializer=_begin
    )


ends_of_runs = EndsOfRuns()
"""Of this process's sweep."""


@contextmanager
def all_ends_carried_out() -> Iterator[None]:
    """Wait for the figures and uploads of the block's runs, however it ends."""
    try:
        yield
    finally:
        ends_of_runs.finish()


def _begin() -> None:
    """In the new process: signals are the parent's matter, and without the parent there is nothing to do."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
