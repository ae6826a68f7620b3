"""Views of an experiment's table of runs that MLflow's page opens by their address.

MLflow keeps a view that a user shares as a tag of the experiment: `mlflow.sharedViewState.KEY`, with the state of the
page as compressed JSON. It is opened by `?viewStateShareKey=KEY`."""

from __future__ import annotations

import base64
import hashlib
import json
import time
import zlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import yaml  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from mlflow.entities import Experiment
    from mlflow.tracking import MlflowClient

_TAG = "mlflow.sharedViewState."
_KIND = "mlflow.experimentKind"
_OF_RUNS = "custom_model_development"
"""The kind of experiment whose page opens with the table of runs."""
LEADERBOARD = "leaderboard"
"""The key of the view of all runs."""
_RUN_NAME = "attributes.`Run Name`"


def _state(view: dict[str, Any], given: dict[str, Any]) -> dict[str, object]:
    columns, order = [*given["answer"], *view["columns"]], view["order"]
    state: dict[str, object] = {
        **given["state"],
        "searchFilter": view["filter"],
        "orderByKey": order,
        "orderByAsc": order.startswith("tags."),
        "selectedColumns": columns,
        "columnOrder": [_RUN_NAME, *columns],
        "columnWidths": {name: given["widths"].get(name, given["width"]) for name in (_RUN_NAME, *columns)},
    }
    if charts := [_chart(key, given) for key in view["charts"]]:
        section = {"uuid": "contextcliff", "name": "ContextCliff", "display": True, "isReordered": True}
        state |= {"compareRunCharts": charts, "compareRunSections": [section], "isAccordionReordered": True}
    return state


def _chart(key: str, given: dict[str, Any]) -> dict[str, object]:
    kind, title = given["charts"][key]
    selected = {"selectedMetricKeys": [key]} if kind == "LINE" else {}
    named = {"type": kind, "uuid": f"contextcliff-{title}", "metricKey": key, "displayName": title}
    return {**given[kind], **named, **selected}


def write_views(client: MlflowClient, experiment: Experiment, *, sweep: tuple[str, str] | None = None) -> None:
    """Write the views that the experiment lacks; of a `sweep`, given by id and name, the one of its jobs."""
    experiment_id = str(experiment.experiment_id)
    if _KIND not in experiment.tags:
        _set_tag(client, experiment_id, _KIND, _OF_RUNS)
    text = (files("contextcliff.tracking") / "views.yaml").read_text(encoding="utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    given = yaml.safe_load(text)
    views = given["views"]
    if sweep is not None:
        (sweep_id, name), view = sweep, given["sweep"]
        views = {sweep_view(sweep_id): {**view, "name": name, "filter": view["filter"].replace("ID", sweep_id)}}
    for key, view in views.items():
        if digest in experiment.tags.get(f"{_TAG}{key}", ""):
            continue
        now = int(time.time() * 1000)
        packed = "deflate;" + base64.b64encode(zlib.compress(json.dumps(_state(view, given)).encode())).decode()
        value = {"name": view["name"], "createdAt": now, "updatedAt": now, "state": packed, "contextcliff": digest}
        _set_tag(client, experiment_id, f"{_TAG}{key}", json.dumps(value))


def sweep_view(sweep_id: str) -> str:
    """The key of a sweep's own view."""
    return f"sweep-{sweep_id}"


def views_of(experiment: Experiment) -> tuple[str, ...]:
    """The keys of the views that an experiment has."""
    return tuple(sorted(key.removeprefix(_TAG) for key in experiment.tags if key.startswith(_TAG)))


def _set_tag(client: MlflowClient, experiment_id: str, key: str, value: str) -> None:
    """Set a tag, also where another process makes the same one at this moment, which MLflow refuses the later one."""
    from mlflow.exceptions import MlflowException

    try:
        client.set_experiment_tag(experiment_id, key, value)
    except MlflowException:
        client.set_experiment_tag(experiment_id, key, value)
