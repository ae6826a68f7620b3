"""What goes into the MLflow runs of a finished run, of a comparison and of a sweep."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from contextcliff.findings.answer import AnswerFinding
from contextcliff.findings.finding import Measurement
from contextcliff.records.sweep import SweepRow, row_to_json
from contextcliff.reporting.markdown import markdown_of
from contextcliff.tracking.metrics import measurements, parameters, valid_key
from contextcliff.tracking.outgoing import WORDS, outgoing, own_paths, without_paths, wordless
from contextcliff.tracking.place import Opened, mlflow_errors
from contextcliff.tracking.tracker import SweepPlace, Tracked

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

RUN_ID = "contextcliff.run_id"
DIGEST = "contextcliff.digest"
LAYOUT = "contextcliff.layout"
NOTE = "mlflow.note.content"
SWEEP = "contextcliff.sweep"
"""The tag of the runs of a sweep's jobs …"""
_PARENT = "contextcliff.sweep_of_jobs"
"""… and of the run over them."""
ROW = "contextcliff.row"
JOB = "contextcliff.job"
_ENDED = ("FINISHED", "KILLED")
# As many as MLflow takes.
_VALUES_A_CALL, _METRICS_A_CALL = 100, 500
_LONGEST_NAME = 250
_LONGEST_TAG = 8_000
_LINKINGS = 5
_SAMPLES_TABLE, _LEADERBOARD_TABLE = "samples_table.json", "leaderboard.json"
_FIRST_COLUMNS = ("prompt", "question", "answers", "prediction", "score", "failure", "context_tokens", "depth")
_OF_MODEL = ("model", "kv_policy", "engine.name", "sampling")


def log_parameters(client: MlflowClient, run_id: str, flattened: Mapping[str, str]) -> None:
    from mlflow.entities import Param

    made = [Param(*each) for each in parameters(flattened).items()]
    for start in range(0, len(made), _VALUES_A_CALL):
        client.log_batch(run_id, params=made[start : start + _VALUES_A_CALL], synchronous=True)


def log_tags(client: MlflowClient, run_id: str, tags: Mapping[str, str]) -> None:
    from mlflow.entities import RunTag

    client.log_batch(run_id, tags=[RunTag(*each) for each in tags.items()], synchronous=True)


def log_metrics(client: MlflowClient, run_id: str, points: Iterable[Measurement]) -> None:
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    metrics = [
        Metric(valid_key(each.key), float(each.value), now, each.step) for each in points if each.value is not None
    ]
    for start in range(0, len(metrics), _METRICS_A_CALL):
        client.log_batch(run_id, metrics=metrics[start : start + _METRICS_A_CALL], synchronous=True)


def uploads(opened: Opened, *, tag: str, value: str) -> list[Run]:
    """The runs of an experiment with this tag, the latest first."""
    called = f"tags.`{tag}` = {quoted(value)}"
    return list(opened.client.search_runs([opened.experiment_id], called, max_results=5_000))


def quoted(value: str) -> str:
    return f'"{value}"' if "'" in value else f"'{value}'"


def same_upload(earlier: Sequence[Run], labels: Mapping[str, str]) -> str | None:
    """The id of the run that holds the results with these tags, uploaded in the same way; None if there is none."""
    for run in earlier:
        alike = all(run.data.tags.get(tag) == labels.get(tag) for tag in (DIGEST, LAYOUT))
        if alike and run.info.status in _ENDED:
            return str(run.info.run_id)
    return None


@contextmanager
def filling(
    client: MlflowClient, run_id: str, *, status: str = "FINISHED", ended_ms: int | None = None
) -> Iterator[None]:
    """End a run with this status when the block ends, and as FAILED where the upload breaks off."""
    try:
        yield
        client.set_terminated(run_id, status, ended_ms)
    except BaseException:
        # Also on Ctrl-C: a run that stays RUNNING would look like one in progress.
        with suppress(*mlflow_errors()):
            client.set_terminated(run_id, "FAILED")
        raise


def fill_run(client: MlflowClient, run: Run, tracked: Tracked, *, log_text: bool, sent: frozenset[Measurement]) -> None:
    run_id = str(run.info.run_id)
    log_parameters(client, run_id, tracked.parameters)
    _link_data(client, run, tracked)
    log_metrics(client, run_id, (point for point in measurements(tracked.report) if point not in sent))
    answer = (markdown_of(block, {}) for block in AnswerFinding().short(tracked.report))
    paths = own_paths(tracked.parameters)
    log_tags(client, run_id, {NOTE: without_paths("\n\n".join(filter(None, answer)), paths)})
    with outgoing(tracked.folder, paths=paths, log_text=log_text) as folder:
        client.log_artifacts(run_id, str(folder))
    for figure in tracked.beside:
        client.log_artifact(run_id, str(figure), "comparisons")
    if tracked.samples:
        _log_samples(client, run_id, tracked, log_text=log_text)


def _log_samples(client: MlflowClient, run_id: str, tracked: Tracked, *, log_text: bool) -> None:
    import pandas as pd

    rows = [dict(row) for row in tracked.samples]
    if tracked.prompts and log_text:
        rows = [{"prompt": tracked.prompts.get(str(row.get("sample_id")), ""), **row} for row in rows]
    columns = [*(name for name in _FIRST_COLUMNS if name in rows[0])]
    columns += [name for name in rows[0] if name not in columns]
    if not log_text:
        rows = [wordless(row) for row in rows]
        columns = [name for name in columns if name not in WORDS]
    # As objects, so that a column of whole numbers with a gap stays one of whole numbers.
    table = pd.DataFrame(rows, dtype=object, columns=columns)
    client.log_table(run_id, data=table, artifact_file=_SAMPLES_TABLE)


def _link_data(client: MlflowClient, run: Run, tracked: Tracked) -> None:
    from mlflow.entities import Dataset, DatasetInput, InputTag, LoggedModelInput
    from mlflow.exceptions import MlflowException
    from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random

    report = tracked.report
    data = Dataset(
        name=(report.run.dataset or report.run.dataset_kind)[:_LONGEST_NAME],
        digest=(tracked.provenance.get("dataset_digest") or report.run.fingerprint)[:8],
        source_type="contextcliff",
        source=json.dumps({"option": report.run.dataset, "kind": report.run.dataset_kind}),
        profile=json.dumps({"texts": report.run.texts[:_LONGEST_NAME], "samples": report.counts.planned}),
    )
    context = InputTag(key="mlflow.data.context", value="evaluation")
    model_id = _model_id(client, str(run.info.experiment_id), tracked)
    # MLflow looks for the data set and then makes it: of jobs that do so at once all but one break off.
    Retrying(
        retry=retry_if_exception_type(MlflowException),
        stop=stop_after_attempt(_LINKINGS),
        wait=wait_random(0.05, 0.5),
        reraise=True,
    )(
        client.log_inputs,
        str(run.info.run_id),
        datasets=[DatasetInput(dataset=data, tags=[context])],
        models=[LoggedModelInput(model_id=model_id)],
    )


def _model_id(client: MlflowClient, experiment_id: str, tracked: Tracked) -> str:
    """The model that answered, under one KV policy: made where the experiment does not have it yet."""
    run = tracked.report.run
    name = valid_key(" ".join(part for part in (run.model, run.kv_policy, run.rope, run.label) if part))
    name = name.replace("/", "_").replace(".", "_")[:_LONGEST_NAME]
    for there in client.search_logged_models([experiment_id], filter_string=f"name = '{name}'", max_results=1):
        return str(there.model_id)
    kept = parameters({key: value for key, value in tracked.parameters.items() if key.startswith(_OF_MODEL)})
    made = client.create_logged_model(
        experiment_id,
        name=name,
        model_type="language model",
        params={key: value for key, value in kept.items() if value},
        tags={"model": run.model, "kv_policy": run.kv_policy, "engine": run.engine},
    )
    client.finalize_logged_model(made.model_id, "READY")
    return str(made.model_id)


def sweep_tags(opened: Opened, place: SweepPlace | None, row: SweepRow | None) -> dict[str, str]:
    if place is None:
        return {}
    parent = sweep_run(opened, place.sweep_id, name=place.name, command=place.command)
    named = {SWEEP: place.sweep_id, JOB: f"{place.sweep_id}/{place.job}", "mlflow.parentRunId": str(parent.info.run_id)}
    return named if row is None else {**named, ROW: row_to_json(row)}


def sweep_run(opened: Opened, sweep_id: str, *, name: str, command: str) -> Run:
    """The run over a sweep's jobs; of two processes that begin the same sweep at once the earlier one's."""
    client, found = opened.client, _sweep_runs(opened, sweep_id)
    if found:
        return found[0]
    tags = {
        _PARENT: sweep_id,
        "kind": "sweep",
        "command": command[:_LONGEST_TAG],
        "mlflow.loggedArtifacts": json.dumps([{"path": _LEADERBOARD_TABLE, "type": "table"}]),
    }
    made = client.create_run(opened.experiment_id, run_name=name, tags=tags)
    first = _sweep_runs(opened, sweep_id)[0]
    if first.info.run_id != made.info.run_id:
        client.delete_run(made.info.run_id)
    return first


def _sweep_runs(opened: Opened, sweep_id: str) -> list[Run]:
    return sorted(uploads(opened, tag=_PARENT, value=sweep_id), key=lambda run: (run.info.start_time, run.info.run_id))
