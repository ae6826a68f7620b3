"""A run that is in MLflow while it is under way; a thread talks to MLflow, so that no answer waits for it."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from contextcliff.errors import tell
from contextcliff.records.sweep import row_to_json
from contextcliff.tracking.metrics import CAP_TO_COME, metrics_of
from contextcliff.tracking.mlflow_store import MLflowStore, Opened
from contextcliff.tracking.outgoing import own_paths, without_paths
from contextcliff.tracking.run_upload import NOTE, log_metrics, log_parameters
from contextcliff.tracking.sweep_upload import JOB, ROW, job_of, sweep_tags
from contextcliff.tracking.tracker import Begun, LengthPoint, Started, TrackingError
from contextcliff.tracking.uploads import LAYOUT, uploads

UNDER_WAY = "under way"
"""What `contextcliff.layout` says of a run that has no report yet."""
_LAST_WORDS_S = 20.0
"""Longest wait, in seconds, for MLflow to hear that a run failed."""


class LiveUpload:
    """Made RUNNING at once, given points as lengths are answered, and ended by `fail` or by the run's upload.

    The first failure of MLflow is a warning on stderr; nothing more is sent then until the run's upload, which has all.
    """

    def __init__(self, *, store: MLflowStore, started: Started, system_metrics: bool) -> None:
        self._store, self._started = store, started
        self._monitors = system_metrics and started.computes_here
        self._opened: Opened | None = None
        self._run: str | None = None
        self._monitor: Any = None
        self._sent: set[LengthPoint] = set()
        self._points: queue.SimpleQueue[LengthPoint] = queue.SimpleQueue()
        self._broken = False
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._talk, name="mlflow", daemon=True)
        self._thread.start()
        self._work.put(self._begin)

    def point(self, point: LengthPoint) -> None:
        """Send the score of a length, together with those that wait by then."""
        self._points.put(point)
        self._work.put(self._send)

    def hand_over(self) -> Begun | None:
        self._stop()
        return None if self._run is None else Begun(tracked_id=self._run, points=frozenset(self._sent))

    def fail(self, why: str, *, interrupted: bool = False) -> None:
        """End the run as FAILED, or as KILLED where a signal ended it, with the reason as its description."""
        self._work.put(lambda: self._end(why, "KILLED" if interrupted else "FAILED"))
        self._stop(within_s=_LAST_WORDS_S)

    def _talk(self) -> None:
        while (work := self._work.get()) is not None:
            if self._broken:
                continue
            try:
                work()
            except TrackingError as error:
                self._broken = True
                tell(f"warning: {error}; the run goes on, and is uploaded at its end")

    def _stop(self, *, within_s: float | None = None) -> None:
        self._work.put(None)
        self._thread.join(within_s)
        if self._monitor is not None:
            with suppress(Exception):  # the load of the machine is a side matter: no failure of it reaches the run
                self._monitor.finish()

    def _begin(self) -> None:
        started = self._started
        with self._store.opened() as opened:
            self._opened = opened
            labels = {
                **started.tags,
                "contextcliff.run_id": started.run_id,
                LAYOUT: UNDER_WAY,
                **sweep_tags(opened.client, opened.experiment_id, started.place, started.row),
            }
            self._remove_earlier(opened)
            run = opened.client.create_run(
                opened.experiment_id,
                tags={key: value for key, value in labels.items() if value},
                run_name=started.title.shown(),
            )
            self._run = str(run.info.run_id)
            log_metrics(opened.client, self._run, [CAP_TO_COME])
            log_parameters(opened.client, self._run, started.parameters, there={})
            if self._monitors:
                from mlflow.system_metrics.system_metrics_monitor import SystemMetricsMonitor

                # Its thread writes log lines as long as it runs, and when it ends.
                logging.getLogger("mlflow.system_metrics").setLevel(logging.CRITICAL + 1)

                monitor: Any = SystemMetricsMonitor
                self._monitor = monitor(self._run, tracking_uri=self._store.uri.absolute)
                self._monitor.start()

    def _remove_earlier(self, opened: Opened) -> None:
        """Delete what earlier attempts left that never had a report: there is one run of each name."""
        place = self._started.place
        attempts = uploads(opened.client, opened.experiment_id, tag="contextcliff.run_id", value=self._started.run_id)
        if place is not None:
            attempts += uploads(opened.client, opened.experiment_id, tag=JOB, value=job_of(place))
        for run_id in {str(run.info.run_id) for run in attempts if run.data.tags.get(LAYOUT) == UNDER_WAY}:
            opened.client.delete_run(run_id)

    def _send(self) -> None:
        points = [self._points.get() for _ in range(self._points.qsize())]
        if self._opened is not None and self._run is not None and points:
            with self._store.still(self._opened) as opened:
                log_metrics(opened.client, self._run, [metric for point in points for metric in metrics_of(point)])
            self._sent.update(points)

    def _end(self, why: str, status: str) -> None:
        why = without_paths(why, own_paths(self._started.parameters))
        if self._opened is not None and self._run is not None:
            with self._store.still(self._opened) as opened:
                opened.client.set_tag(self._run, NOTE, why)
                opened.client.set_tag(self._run, "error", why)
                row = self._started.row
                if row is not None:
                    failed = replace(row, state="failed", error=why)
                    opened.client.set_tag(self._run, ROW, row_to_json(failed))
                opened.client.set_terminated(self._run, status)
