"""Runs in MLflow: `tracking=mlflow`. MLflow is imported at the first call, since that takes seconds."""

from __future__ import annotations

import json
import re
import shlex
import time
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import TypeAdapter, ValidationError

from contextcliff.analysis.judged_by import compact, differing, rule_of
from contextcliff.analysis.task_means import task_means
from contextcliff.datasets.local_files import MAX_BYTES, UnreadableFile
from contextcliff.datasets.local_files import opened as opened_file
from contextcliff.findings.finding import Measurement
from contextcliff.records.report import RunRecord
from contextcliff.records.sweep import SweepRow, row_from_json
from contextcliff.reporting.data_files import CONTEXTS_NAME, SAMPLES_NAME, read_contexts, sample_lines
from contextcliff.reporting.run_names import in_words, read_parameters, read_provenance, settings_apart
from contextcliff.reporting.stored_reports import REPORT_NAME, UnreadableReport, read_report
from contextcliff.seeding import digest_of
from contextcliff.settings import settings
from contextcliff.tracking import upload
from contextcliff.tracking.live import UNDER_WAY, LiveRun
from contextcliff.tracking.metrics import RULE, numbers_of, parameters, tags, valid_key
from contextcliff.tracking.outgoing import outgoing, own_paths, without_paths
from contextcliff.tracking.place import MLflowStore, Opened
from contextcliff.tracking.traces import delete_traces, log_traces
from contextcliff.tracking.tracker import Tracked, TrackingError, run_title
from contextcliff.tracking.views import LEADERBOARD, views_of, write_views

if TYPE_CHECKING:
    from mlflow.entities import Experiment, Run

    from contextcliff.reporting.stored_sweeps import StoredSweep

HOST, PORT = "127.0.0.1", 5000
PAGE = f"http://{HOST}:{PORT}"
_LAYOUT_VERSION = 3
_FOLDER = "contextcliff.folder"
_MANIFEST = "manifest.json"
_NEEDED = (REPORT_NAME, SAMPLES_NAME, _MANIFEST)


@settings
class MLflowTracker(MLflowStore):
    """Keeps each report as one run of the MLflow experiment `experiment`. No failure here affects local results."""

    traces: Literal["failures", "all", "none"] = "failures"
    log_text: bool = True
    """Whether prompts, answers and documents are uploaded; figures, scores and reports always are."""
    system_metrics: bool = True
    """Whether the load of this machine is kept while a model runs on it."""

    @property
    def mlflow(self) -> MLflowTracker:
        return self

    def log(self, tracked: Tracked, *, live: LiveRun | None = None) -> str:
        """Upload a run, into the `live` one if there is one; returns one line that says where it is.

        It takes the place of earlier attempts and of other results by the same rule; the same results stay as they are.
        A run whose upload breaks off is left as FAILED, and the next call makes a new one."""
        begun, sent = ("", frozenset[Measurement]()) if live is None else live.hand_over()
        with self.opened() as opened:
            client, report = opened.client, tracked.report
            in_sweep = upload.sweep_tags(opened, tracked.place, tracked.row)
            labels = {**self._labels(tracked), **in_sweep}
            unfinished, earlier = _found(opened, tracked)
            if there := upload.same_upload(earlier, labels):
                upload.log_tags(client, there, in_sweep)  # it belongs to the sweep that asked for it last
                _delete(opened, unfinished)
                return self._place(opened, there)
            ended_ms = int(datetime.fromisoformat(report.run.created_at).timestamp() * 1000)
            started_ms = ended_ms - round(report.usage.wall_s * 1000)
            name = self._free_name(opened, tracked)
            # Another process may have removed the live run meanwhile.
            run = next((each for each in unfinished if each.info.run_id == begun), None)
            if run is None:
                sent = frozenset()
                run = client.create_run(opened.experiment_id, start_time=started_ms, tags=labels, run_name=name)
            else:
                unfinished.remove(run)
                ended_ms, started_ms = int(time.time() * 1000), run.info.start_time
                client.update_run(begun, name=name)
                upload.log_tags(client, begun, labels)
            run_id = str(run.info.run_id)
            status = "KILLED" if tracked.interrupted else "FINISHED"
            with upload.filling(client, run_id, status=status, ended_ms=max(ended_ms, started_ms)):
                upload.fill_run(client, run, tracked, log_text=self.log_text, sent=sent)
                log_traces(
                    opened, run_id, tracked, kept=self.traces if self.log_text else "none", started_ms=started_ms
                )
            _delete(opened, [*earlier, *unfinished])
            return self._place(opened, run_id)

    def has(self, tracked: Tracked) -> bool:
        with self.opened() as opened:
            _, earlier = _found(opened, tracked)
            return upload.same_upload(earlier, self._labels(tracked)) is not None

    def log_result(
        self,
        kind: str,
        name: str,
        *,
        folder: Path,
        title: str,
        numbers: Mapping[str, object],
        tags: Mapping[str, str],
        run_ids: Sequence[str] = (),
    ) -> str:
        """Upload a comparison, a plan or a calibration in the place of an earlier one of its name, unless that says the
        same; returns where it is."""
        points, key = list(numbers_of(numbers)), f"contextcliff.{kind}"
        digest = digest_of(repr((title, run_ids, points, sorted(tags.items()))))
        with self.opened() as opened:
            client, labels = opened.client, {key: name, "kind": kind, upload.DIGEST: digest, **tags}
            for place, run_id in enumerate(run_ids):
                labels[f"compares.{place}"] = run_id
                if compared := upload.uploads(opened, tag=upload.RUN_ID, value=run_id):
                    labels[f"compares.{place}.mlflow"] = str(compared[0].info.run_id)
            earlier = upload.uploads(opened, tag=key, value=name)
            if (there := upload.same_upload(earlier, labels)) is not None:
                return self._place(opened, there)
            new = str(client.create_run(opened.experiment_id, tags=labels, run_name=title).info.run_id)
            with upload.filling(client, new):
                upload.log_metrics(client, new, points)
                client.log_artifacts(new, str(folder))
            _delete(opened, earlier)
            return self._place(opened, new)

    def log_sweep(
        self,
        sweep: StoredSweep,
        rows: Sequence[SweepRow],
        *,
        folder: Path,
        typed: Mapping[str, str],
        over: bool,
        drawn: Mapping[str, Path],
    ) -> None:
        """Upload a sweep as it stands, with every file below `folder`, and to its runs the figures that are `drawn` of
        them, by their folders; `over`: no further job will end."""
        from contextcliff.reporting.leaderboard import described, name_of

        paths = own_paths(typed)
        command, description = (
            without_paths(text, paths)
            for text in (sweep.command, described(rows, n_jobs=sweep.n_jobs, command=sweep.command))
        )
        ended = [row for row in rows if row.state != "running"]
        failed = sum(row.state == "failed" for row in ended)
        counts = {"jobs/planned": sweep.n_jobs, "jobs/ended": len(ended), "jobs/failed": failed}
        points = [Measurement(key=key, value=n) for key, n in counts.items()]
        if over:
            names = {(row.model, row.kv_policy, str(row.differing)): name_of(row, rows) for row in rows}
            means = {}
            for each in task_means(rows):
                name = re.sub(r"[^\w./=-]+", " ", names[each.model, each.kv_policy, str(each.options)])
                means[f"mean_over_tasks/{name.strip()}"] = asdict(replace(each, incomplete={}))
            points += [replace(each, key=valid_key(each.key)) for each in numbers_of(means)]
        latest = {each.key: each.value for each in points}
        with self.opened() as opened, outgoing(folder, paths=paths, log_text=True) as sent:
            client, run = opened.client, upload.sweep_run(opened, sweep.sweep_id, name=sweep.name, command=command)
            run_id, there = str(run.info.run_id), run.data.metrics
            upload.log_metrics(client, run_id, (each for each in points if there.get(each.key) != latest[each.key]))
            upload.log_tags(client, run_id, {upload.NOTE: description})
            client.log_artifacts(run_id, str(sent))
            write_views(client, client.get_experiment(opened.experiment_id), sweep=(sweep.sweep_id, sweep.name))
            if over:
                stopped = any(row.state == "partial" for row in ended) or len(ended) < sweep.n_jobs
                for job in upload.uploads(opened, tag=upload.SWEEP, value=sweep.sweep_id) if drawn else ():
                    if (figure := drawn.get(job.data.tags.get(_FOLDER, ""))) is not None:
                        client.log_artifact(job.info.run_id, str(figure), "comparisons")
                client.set_terminated(run_id, "FAILED" if failed else "KILLED" if stopped else "FINISHED")
            elif run.info.status != "RUNNING":
                client.update_run(run_id, status="RUNNING")

    def sweep_rows(self, sweep_id: str) -> Sequence[SweepRow]:
        rows = []
        with self.opened() as opened:
            for run in upload.uploads(opened, tag=upload.SWEEP, value=sweep_id):
                with suppress(KeyError, ValueError):  # one that can't be read is left out
                    rows.append(row_from_json(run.data.tags[upload.ROW]))
        return rows

    def fetch(self, mlflow_id: str, *, experiment: Path) -> Path:
        with self.client(f"fetch run {mlflow_id}") as client:
            run = client.get_run(mlflow_id)
            own = experiment / str(run.data.tags.get(_FOLDER, run.info.run_name))
            if own.parent == experiment and (own / REPORT_NAME).is_file():
                return own
            folder = experiment / "fetched" / mlflow_id
            if all((folder / name).is_file() for name in _NEEDED):
                return folder
            there = {file.path for file in client.list_artifacts(mlflow_id)}
            if lacking := ", ".join(name for name in _NEEDED if name not in there):
                raise TrackingError(f"run {mlflow_id} has no {lacking}: it is none of ContextCliff, or incomplete")
            folder.mkdir(parents=True, exist_ok=True)
            for name in reversed(_NEEDED):  # the report last: a folder that has one is complete
                client.download_artifacts(mlflow_id, name, str(folder))
            return folder

    def address(self, view: str = LEADERBOARD, *, page: str | None = None) -> str | None:
        """The address of a view of the table of runs: on the server, on a `page` that will show the store, or on one
        that shows it now; None if there is none."""
        with self.opened() as opened:
            experiment = opened.client.get_experiment(opened.experiment_id)
            if view not in (views := views_of(experiment)):
                raise TrackingError(f"{self.shown_uri} has no view {view}; it has {', '.join(views)}")
            base = self.shown_uri.rstrip("/") if self.is_web else page or (PAGE if _shows(experiment) else None)
            return base and f"{base}/#/experiments/{opened.experiment_id}/runs?viewStateShareKey={view}"

    def ui_command(self, view: str = LEADERBOARD) -> str:
        """The shell command that shows the runs, or `open ADDRESS` where a server does."""
        if self.is_web or self.scheme == "databricks":
            return f"open {self.shown_uri}"
        own = MLflowStore()
        changed = {"uri": self.shown_uri} if self.uri != own.uri else {}
        changed |= {"experiment": self.experiment} if self.experiment != own.experiment else {}
        words = [*([] if view == LEADERBOARD else ["--view", view]), *(f"tracking.{k}={v}" for k, v in changed.items())]
        return shlex.join(["contextcliff", "ui", *words])

    def _place(self, opened: Opened, run_id: str) -> str:
        if self.is_web:
            return f"{self.shown_uri.rstrip('/')}/#/experiments/{opened.experiment_id}/runs/{run_id}"
        return f"run {run_id} of experiment {self.experiment} in {self.shown_uri}"

    def _labels(self, tracked: Tracked) -> dict[str, str]:
        return {
            **tags(tracked.report),
            **tracked.provenance,
            # Another layout is another upload of the same results.
            upload.LAYOUT: f"{_LAYOUT_VERSION} traces={self.traces} text={str(self.log_text).lower()}",
            _FOLDER: tracked.folder.name,
        }

    def _free_name(self, opened: Opened, tracked: Tracked) -> str:
        """The run's title, and where another run has it what differs in their settings, or part of the fingerprint."""
        run = tracked.report.run
        named = any(re.match(r"\+*model\.name=", word) for word in shlex.split(run.command))
        name = run_title(
            run.model,
            option="" if named else tracked.parameters.get("model", ""),
            engine=run.engine,
            task=run.task,
            kv_policy=run.kv_policy,
            rope=run.rope,
            label=run.label,
            apart=() if tracked.place is None else in_words(tracked.place.differing),
            rule=tracked.folder.name.removeprefix(run.run_id).lstrip("-"),
        )
        if not (others := self._called(opened, name, run)):
            return name
        apart = settings_apart(parameters(tracked.parameters), [each.data.params for each in others])
        told = " · ".join((name, *in_words(apart)))
        return told if apart and not self._called(opened, told, run) else f"{told} · {run.fingerprint[:8]}"

    def _called(self, opened: Opened, name: str, run: RunRecord) -> list[Run]:
        found = opened.client.search_runs(
            [opened.experiment_id], f"attributes.run_name = {upload.quoted(name)}", max_results=50
        )
        return [each for each in found if each.data.tags.get(upload.RUN_ID) not in (run.run_id, None)]


def _shows(experiment: Experiment) -> bool:
    """Whether a server at MLflow's own port shows the store of this experiment."""
    asked = f"{PAGE}/api/2.0/mlflow/experiments/get?experiment_id={experiment.experiment_id}"
    own, errors = [experiment.artifact_location, experiment.creation_time], (OSError, ValueError, KeyError, TypeError)
    with suppress(*errors), urllib.request.urlopen(asked, timeout=2.0) as answer:  # noqa: S310 - our own address
        there = json.load(answer)["experiment"]
        return own == [there["artifact_location"], int(there["creation_time"])]
    return False


def _found(opened: Opened, tracked: Tracked) -> tuple[list[Run], list[Run]]:
    """The runs that MLflow has of this one: those that have no report yet, and its uploads by the same rule."""
    found = upload.uploads(opened, tag=upload.RUN_ID, value=tracked.report.run.run_id)
    unfinished = [run for run in found if run.data.tags.get(upload.LAYOUT) == UNDER_WAY]
    rule = compact(rule_of(tracked.report))
    uploaded = (run for run in found if run not in unfinished)
    return unfinished, [run for run in uploaded if not differing(rule, json.loads(run.data.tags.get(RULE, "{}")))]


def _delete(opened: Opened, runs: Sequence[Run]) -> None:
    for run in runs:
        opened.client.delete_run(str(run.info.run_id))
        delete_traces(opened, str(run.info.run_id))


def tracked_of(folder: Path) -> Tracked:
    """What a finished run's files say of it. Raises `TrackingError` for files that are missing or damaged."""
    file = folder / _MANIFEST
    try:
        with opened_file(file, most=MAX_BYTES):
            file = folder / SAMPLES_NAME
        samples = _rows(file)
        report = read_report(folder / REPORT_NAME)
    except UnreadableReport as error:
        raise TrackingError(f"{folder / REPORT_NAME} {error}") from error
    except UnreadableFile as error:
        again = f"make it anew with action=analyze run={folder}"
        raise TrackingError(f"{file}: {error}; {again}") from error
    return Tracked(
        report=report,
        folder=folder,
        parameters=read_parameters(folder / _MANIFEST),
        samples=samples,
        prompts=read_contexts(folder / CONTEXTS_NAME),
        provenance=read_provenance(folder / _MANIFEST),
        interrupted=report.run.partial,
    )


_row = TypeAdapter(dict[str, object])


def _rows(file: Path) -> list[Mapping[str, object]]:
    rows: list[Mapping[str, object]] = []
    for number, line in enumerate(sample_lines(file), start=1):
        try:
            rows.append(_row.validate_json(line))
        except ValidationError as error:
            raise TrackingError(f"{file} line {number} is no sample; make it anew with action=analyze") from error
    return rows
