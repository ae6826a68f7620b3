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
from contextcliff.tracking import upload
from contextcliff.tracking.metrics import CAP_TO_COME
from contextcliff.tracking.outgoing import own_paths, without_paths
from contextcliff.tracking.tracker import SweepPlace, TrackingError

if TYPE_CHECKING:
    from contextcliff.tracking.mlflow import MLflowTracker

UNDER_WAY = "under way"
_LAST_WORDS_S = 20.0


class LiveRun:
    """Made RUNNING at once, given points as lengths are answered, and ended by `fail` or by the run's upload. The first
    failure of MLflow is a warning on stderr; nothing more is sent then until the upload, which has all."""

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
        self._tracker, self._title, self._parameters = tracker, title, parameters
        self._tags, self._place, self._row = {**tags, upload.RUN_ID: run_id}, place, row
        self._monitors = tracker.system_metrics and computes_here
        self._mlflow_id = ""
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
        self._work.put(self._log)

    def hand_over(self) -> tuple[str, frozenset[Measurement]]:
        """MLflow's id of the run, and the points that it has, when no more come; empty where MLflow failed."""
        self._stop()
        return self._mlflow_id, frozenset(self._sent)

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
        with self._tracker.opened() as opened:
            in_sweep = upload.sweep_tags(opened, self._place, self._row)
            # There is one run of each name: what earlier attempts left that never had a report goes.
            attempts = upload.uploads(opened, tag=upload.RUN_ID, value=self._tags[upload.RUN_ID])
            if upload.JOB in in_sweep:
                attempts += upload.uploads(opened, tag=upload.JOB, value=in_sweep[upload.JOB])
            for run_id in {str(run.info.run_id) for run in attempts if run.data.tags.get(upload.LAYOUT) == UNDER_WAY}:
                opened.client.delete_run(run_id)
            labels = {**self._tags, upload.LAYOUT: UNDER_WAY, **in_sweep}
            run = opened.client.create_run(
                opened.experiment_id, tags={key: value for key, value in labels.items() if value}, run_name=self._title
            )
            self._mlflow_id = str(run.info.run_id)
            upload.log_metrics(opened.client, self._mlflow_id, [CAP_TO_COME])
            upload.log_parameters(opened.client, self._mlflow_id, self._parameters)
            if self._monitors:
                from mlflow.system_metrics.system_metrics_monitor import SystemMetricsMonitor

                # Its thread writes log lines as long as it runs, and when it ends.
                logging.getLogger("mlflow.system_metrics").setLevel(logging.CRITICAL + 1)

                monitor: Any = SystemMetricsMonitor
                self._monitor = monitor(self._mlflow_id, tracking_uri=self._tracker.absolute_uri)
                self._monitor.start()

    def _log(self) -> None:
        if points := [self._points.get() for _ in range(self._points.qsize())]:
            with self._tracker.client("track") as client:
                upload.log_metrics(client, self._mlflow_id, points)
            self._sent.update(points)

    def _end(self, why: str, status: str) -> None:
        why = without_paths(why, own_paths(self._parameters))
        ended = {upload.NOTE: why, "error": why}
        if self._row is not None:
            ended[upload.ROW] = row_to_json(replace(self._row, state="failed", error=why))
        with self._tracker.client("track") as client:
            upload.log_tags(client, self._mlflow_id, ended)
            client.set_terminated(self._mlflow_id, status)
