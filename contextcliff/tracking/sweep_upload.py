"""A sweep in MLflow: one run, under which the runs of its jobs lie."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.findings.finding import Measurement
from contextcliff.records.sweep import SweepRow, row_from_json, row_to_json
from contextcliff.tracking.outgoing import outgoing, own_paths, without_paths
from contextcliff.tracking.run_upload import NOTE, log_metrics
from contextcliff.tracking.tracker import SweepPlace, TrackedSweep

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

SWEEP = "contextcliff.sweep"
"""The tag of the runs of a sweep's jobs …"""
PARENT = "contextcliff.sweep_of_jobs"
"""… and of the run over them."""
ROW = "contextcliff.row"
JOB = "contextcliff.job"
_TABLE = "leaderboard.json"
_LONGEST_TAG = 8_000


def job_of(place: SweepPlace) -> str:
    """What a job goes by in the tag `JOB`."""
    return f"{place.sweep_id}/{place.job}"


def sweep_tags(
    client: MlflowClient, experiment_id: str, place: SweepPlace | None, row: SweepRow | None
) -> dict[str, str]:
    """The tags of the run of a job, whose sweep's run is made where there is none; no tags outside a sweep."""
    if place is None:
        return {}
    parent = _parent(client, experiment_id, place.sweep_id, name=place.name, command=place.command)
    named = {
        SWEEP: place.sweep_id,
        JOB: job_of(place),
        "mlflow.parentRunId": str(parent.info.run_id),
        ROW: "" if row is None else row_to_json(row),
    }
    return {key: value for key, value in named.items() if value}


def log_sweep(client: MlflowClient, experiment_id: str, sweep: TrackedSweep) -> str:
    """The id of the run of a sweep, made where there is none, with its table, figures and counts as they stand."""
    command = without_paths(sweep.command, own_paths(sweep.parameters))
    run = _parent(client, experiment_id, sweep.sweep_id, name=sweep.name, command=command)
    run_id = str(run.info.run_id)
    ended = [row for row in sweep.rows if row.state != "running"]
    failed = [row for row in ended if row.state == "failed"]
    counts = {"jobs/planned": sweep.n_jobs, "jobs/ended": len(ended), "jobs/failed": len(failed)}
    there = run.data.metrics
    log_metrics(client, run_id, [Measurement(key=key, value=n) for key, n in counts.items() if there.get(key) != n])
    paths = own_paths(sweep.parameters)
    client.set_tag(run_id, NOTE, without_paths(sweep.description, paths))
    with outgoing(sweep.folder, paths=paths, log_text=True) as folder:
        client.log_artifacts(run_id, str(folder))
    if not sweep.over:
        if run.info.status != "RUNNING":
            client.update_run(run_id, status="RUNNING")
        return run_id
    stopped = any(row.state == "partial" for row in ended) or len(ended) < sweep.n_jobs
    client.set_terminated(run_id, "FAILED" if failed else "KILLED" if stopped else "FINISHED")
    return run_id


def sweep_rows(client: MlflowClient, experiment_id: str, sweep_id: str) -> tuple[SweepRow, ...]:
    """The rows that the runs of a sweep's jobs carry; a row that can't be read is left out."""
    rows = []
    for run in client.search_runs([experiment_id], f"tags.`{SWEEP}` = '{sweep_id}'", max_results=5_000):
        try:
            rows.append(row_from_json(run.data.tags[ROW]))
        except (KeyError, ValueError):
            continue
    return tuple(rows)


def _parent(client: MlflowClient, experiment_id: str, sweep_id: str, *, name: str, command: str) -> Run:
    found = _parents(client, experiment_id, sweep_id)
    if found:
        return found[0]
    made = client.create_run(
        experiment_id,
        run_name=name,
        tags={
            PARENT: sweep_id,
            "kind": "sweep",
            "command": command[:_LONGEST_TAG],
            "mlflow.loggedArtifacts": json.dumps([{"path": _TABLE, "type": "table"}]),
        },
    )
    # Two processes that began the same sweep at once agree on the earlier run.
    first = _parents(client, experiment_id, sweep_id)[0]
    if first.info.run_id != made.info.run_id:
        client.delete_run(made.info.run_id)
    return first


def _parents(client: MlflowClient, experiment_id: str, sweep_id: str) -> Sequence[Run]:
    found = client.search_runs([experiment_id], f"tags.`{PARENT}` = '{sweep_id}'")
    return sorted(found, key=lambda run: (run.info.start_time, run.info.run_id))
