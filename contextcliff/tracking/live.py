"""A run that is in MLflow while it is under way; a thread talks to MLflow, so that no answer waits for it."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from contextcliff.errors import tell
from contextcliff.findings.finding import Measurement
from contextcliff.records.sweep import SweepRow, row_to_json
from contextcliff.tracking.metrics import CAP_TO_COME
from contextcliff.tracking.outgoing import own_paths, without_paths
from contextcliff.tracking.place import Opened
from contextcliff.tracking.tracker import SweepPlace, TrackingError
from contextcliff.tracking.upload import (
    JOB,
    LAYOUT,
    NOTE,
    ROW,
    RUN_ID,
    job_of,
    log_metrics,
    log_parameters,
    sweep_tags,
    uploads,
)

if TYPE_CHECKING:
    from contextcliff.tracking.mlflow import MLflowTracker

UNDER_WAY = "under way"
"""What `contextcliff.layout` says of a run that has no report yet."""
_LAST_WORDS_S = 20.0
"""Longest wait, in seconds, for MLflow to hear that a run failed."""


class LiveRun:
    """Made RUNNING at once, given points as lengths are answered, and ended by `fail` or by the run's upload.

    No call but `hand_over` waits for MLflow, and none raises. The first failure of MLflow is a warning on stderr;
    nothing more is sent then until the run's upload, which has all.
    """

    def __init__(
        self,
        tracker: MLflowTracker,
        *,
        run_id: str,
        title: str,
        parameters: Mapping[str, str],
        tags: Mapping[str, str],
        place: SweepPlace | None = None,
        row: SweepRow | None = None,
        computes_here: bool = False,
    ) -> None:
        """`computes_here`: the model runs on this machine, so that the machine's load belongs to the run."""
        self._store, self._run_id, self._title, self._tags = tracker.store, run_id, title, tags
        self._parameters, self._place, self._row = parameters, place, row
        self._monitors = tracker.system_metrics and computes_here
        self._opened: Opened | None = None
        self._mlflow_id: str | None = None
        self._monitor: Any = None
        self._sent: set[Measurement] = set()
        self._points: queue.SimpleQueue[Measurement] = queue.SimpleQueue()
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._talk, name="mlflow", daemon=True)
        self._thread.start()
        self._work.put(self._begin)

    def send(self, context_tokens: int, *, score: float, n_samples: int) -> None:
        """Send the mean score of a length whose samples are answered, together with those that wait by then."""
        for name, value in (("score", score), ("n_samples", n_samples)):
            self._points.put(Measurement(key=f"by_length/{name}", value=value, step=context_tokens))
        self._work.put(self._send)

    def hand_over(self) -> tuple[str, frozenset[Measurement]] | None:
        """MLflow's id of the run, and the points that it has, when no more come; None if MLflow failed."""
        self._stop()
        return None if self._mlflow_id is None else (self._mlflow_id, frozenset(self._sent))

    def fail(self, why: str, *, interrupted: bool = False) -> None:
        """End the run as FAILED, or as KILLED by a signal, with the reason (one line) as its description."""
        self._work.put(lambda: self._end(why, "KILLED" if interrupted else "FAILED"))
        self._stop(within_s=_LAST_WORDS_S)

    def _talk(self) -> None:
        broken = False
        while (work := self._work.get()) is not None:
            if broken:
                continue
            try:
                work()
            except TrackingError as error:
                broken = True
                tell(f"warning: {error}; the run goes on, and is uploaded at its end")

    def _stop(self, *, within_s: float | None = None) -> None:
        self._work.put(None)
        self._thread.join(within_s)
        if self._monitor is not None:
            with suppress(Exception):  # the load of the machine is a side matter: no failure of it reaches the run
                self._monitor.finish()

    def _begin(self) -> None:
        with self._store.opened() as opened:
            self._opened = opened
            in_sweep = sweep_tags(opened, self._place, self._row)
            labels = {**self._tags, RUN_ID: self._run_id, LAYOUT: UNDER_WAY, **in_sweep}
            self._remove_earlier(opened)
            run = opened.client.create_run(
                opened.experiment_id,
                tags={key: value for key, value in labels.items() if value},
                run_name=self._title,
            )
            self._mlflow_id = str(run.info.run_id)
            log_metrics(opened.client, self._mlflow_id, [CAP_TO_COME])
            log_parameters(opened.client, self._mlflow_id, self._parameters, there={})
            if self._monitors:
                from mlflow.system_metrics.system_metrics_monitor import SystemMetricsMonitor

                # Its thread writes log lines as long as it runs, and when it ends.
                logging.getLogger("mlflow.system_metrics").setLevel(logging.CRITICAL + 1)

                monitor: Any = SystemMetricsMonitor
                self._monitor = monitor(self._mlflow_id, tracking_uri=self._store.uri.absolute)
                self._monitor.start()

    def _remove_earlier(self, opened: Opened) -> None:
        """Delete what earlier attempts left that never had a report: there is one run of each name."""
        attempts = uploads(opened, tag=RUN_ID, value=self._run_id)
        if self._place is not None:
            attempts += uploads(opened, tag=JOB, value=job_of(self._place))
        for run_id in {str(run.info.run_id) for run in attempts if run.data.tags.get(LAYOUT) == UNDER_WAY}:
            opened.client.delete_run(run_id)

    def _send(self) -> None:
        points = [self._points.get() for _ in range(self._points.qsize())]
        if self._opened is not None and self._mlflow_id is not None and points:
            with self._store.still(self._opened) as client:
                log_metrics(client, self._mlflow_id, points)
            self._sent.update(points)

    def _end(self, why: str, status: str) -> None:
        why = without_paths(why, own_paths(self._parameters))
        if self._opened is not None and self._mlflow_id is not None:
            with self._store.still(self._opened) as client:
                client.set_tag(self._mlflow_id, NOTE, why)
                client.set_tag(self._mlflow_id, "error", why)
                if self._row is not None:
                    client.set_tag(self._mlflow_id, ROW, row_to_json(replace(self._row, state="failed", error=why)))
                client.set_terminated(self._mlflow_id, status)
