"""Views of an experiment's table of runs that MLflow's page opens by their address.

MLflow keeps a view that a user shares as a tag of the experiment: `mlflow.sharedViewState.KEY`, with the state of the
page as compressed JSON. It is opened by `?viewStateShareKey=KEY`. A version of MLflow without such tags opens the
table as it is.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlflow.entities import Experiment
    from mlflow.tracking import MlflowClient

_TAG = "mlflow.sharedViewState."
_KIND = "mlflow.experimentKind"
_OF_RUNS = "custom_model_development"
"""The kind of experiment whose page opens with the table of runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A view by its key: columns of the table, order and filter, or with `charts` the charts of the runs."""

    key: str
    name: str
    columns: Sequence[str]
    order_by: str
    ascending: bool = False
    search: str = ""
    charts: Sequence[Mapping[str, object]] = ()


def _metric(key: str) -> str:
    return f"metrics.`{key}`"


def _tag(key: str) -> str:
    return f"tags.`{key}`"


_CAP = _metric("safe_cap_tokens")
_ANSWER = (_tag("safe_cap"), _tag("model"), _tag("task"), _tag("kv_policy"), _tag("outcome"), _tag("verdict"))
_FIGURES = (
    _CAP,
    _metric("safe_cap/fraction_of_window"),
    _metric("score/mean"),
    _metric("took/prompt_tokens"),
    _metric("took/usd"),
    _metric("took/wall_s"),
)
_NO_PARENTS = "tags.task != ''"


def _bars(key: str, title: str) -> dict[str, object]:
    return {
        "type": "BAR",
        "uuid": f"contextcliff-{title}",
        "metricKey": key,
        "displayName": title,
        "metricSectionId": "contextcliff",
        "deleted": False,
        "isGenerated": False,
        "runsCountToCompare": 20,
    }


def _curve(key: str, title: str) -> dict[str, object]:
    return {
        **_bars(key, title),
        "type": "LINE",
        "selectedMetricKeys": [key],
        "runsCountToCompare": 10,
        "lineSmoothness": 0,
        "xAxisKey": "step",
        "xAxisScaleType": "linear",
        "scaleType": "linear",
        "range": {},
        "yAxisKey": "metric",
        "yAxisExpressions": [],
        "selectedXAxisMetricKey": "",
        "ignoreOutliers": False,
        "useGlobalXaxisKey": False,
        "useGlobalLineSmoothing": False,
        "displayPoints": True,
    }


LEADERBOARD = View(key="leaderboard", name="Leaderboard", columns=(*_ANSWER, *_FIGURES), order_by=_CAP)
VIEWS: tuple[View, ...] = (
    LEADERBOARD,
    View(
        key="by-task",
        name="One task after the other",
        columns=(*_ANSWER, *_FIGURES),
        order_by=_tag("task"),
        ascending=True,
        search=_NO_PARENTS,
    ),
    View(
        key="curves",
        name="Scores by length",
        columns=_ANSWER,
        order_by=_CAP,
        search=_NO_PARENTS,
        charts=(
            _curve("by_length/score", "Score by context tokens"),
            _bars("safe_cap_tokens", "Safe cap in tokens"),
            _curve("by_length/ttft_ms_median", "Time to the first token in ms"),
        ),
    ),
    View(
        key="kv-policies",
        name="KV policies",
        columns=(*_ANSWER, _CAP, _metric("kv/bytes_per_token"), _tag("limited_by"), _metric("score/mean")),
        order_by=_tag("kv_policy"),
        ascending=True,
        search=_NO_PARENTS,
        charts=(
            _bars("safe_cap_tokens", "Safe cap in tokens"),
            _bars("kv/bytes_per_token", "KV cache in bytes a token"),
            _curve("by_length/score", "Score by context tokens"),
            _curve("by_length/kv_gib", "KV cache in GiB"),
            _curve("by_length/decode_tokens_per_s", "Decoded tokens a second"),
        ),
    ),
)


def view_address(experiment_id: str, view: View) -> str:
    """The address of a view, below that of MLflow's page."""
    charts = "&compareRunsMode=CHART" if view.charts else ""
    return f"#/experiments/{experiment_id}/runs?viewStateShareKey={view.key}{charts}"


def write_views(client: MlflowClient, experiment: Experiment) -> None:
    """Keep the views with the experiment; those that are there in this version are left alone."""
    there = experiment.tags
    experiment_id = str(experiment.experiment_id)
    if _KIND not in there:
        client.set_experiment_tag(experiment_id, _KIND, _OF_RUNS)
    for view in VIEWS:
        known = there.get(f"{_TAG}{view.key}")
        state = json.dumps(_state(view))
        digest = hashlib.sha256(state.encode()).hexdigest()[:12]
        if known is not None and digest in known:
            continue
        now = int(time.time() * 1000)
        packed = "deflate;" + base64.b64encode(zlib.compress(state.encode())).decode()
        value = {"name": view.name, "createdAt": now, "updatedAt": now, "state": packed, "contextcliff": digest}
        client.set_experiment_tag(experiment_id, f"{_TAG}{view.key}", json.dumps(value))


def _state(view: View) -> dict[str, object]:
    """The page's state as MLflow 3.17 keeps it; what is left out is as MLflow has it."""
    columns = list(view.columns)
    state: dict[str, object] = {
        "searchFilter": view.search,
        "orderByKey": view.order_by,
        "orderByAsc": view.ascending,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": columns,
        "columnOrder": [_RUN_NAME, *columns],
        "columnWidths": {column: _WIDTHS.get(column, _WIDTH) for column in (_RUN_NAME, *columns)},
        "runsPinned": [],
        "runsHidden": [],
        "runsExpanded": {},
        "viewMaximized": False,
        "runListHidden": False,
    }
    if view.charts:
        section = {"uuid": "contextcliff", "name": "ContextCliff", "display": True, "isReordered": True}
        state |= {"compareRunCharts": list(view.charts), "compareRunSections": [section], "isAccordionReordered": True}
    return state


_RUN_NAME = "attributes.`Run Name`"
_WIDTH = 130
_WIDTHS = {_RUN_NAME: 260, _tag("model"): 190, _tag("safe_cap"): 110}
"""In pixels."""
