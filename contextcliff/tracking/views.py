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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlflow.entities import Experiment
    from mlflow.tracking import MlflowClient

_TAG = "mlflow.sharedViewState."
_KIND = "mlflow.experimentKind"
_OF_RUNS = "custom_model_development"
"""The kind of experiment whose page opens with the table of runs."""
_RUN_NAME = "attributes.`Run Name`"
_CAP = "metrics.`safe_cap_tokens`"
_WIDTH, _WIDTHS = 130, {_RUN_NAME: 260, "tags.`model`": 190, "tags.`safe_cap`": 110}
"""In pixels."""


def _state(
    columns: Sequence[str], *, order_by: str, ascending: bool, search: str, charts: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """The page's state as MLflow 3.17 keeps it; what is left out is as MLflow has it."""
    state: dict[str, object] = {
        "searchFilter": search,
        "orderByKey": order_by,
        "orderByAsc": ascending,
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
    if charts:
        section = {"uuid": "contextcliff", "name": "ContextCliff", "display": True, "isReordered": True}
        state |= {"compareRunCharts": charts, "compareRunSections": [section], "isAccordionReordered": True}
    return state


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


def _states() -> dict[str, tuple[str, dict[str, object]]]:
    """Each view by its key: its name and state."""
    answer = [f"tags.`{name}`" for name in ("safe_cap", "model", "task", "kv_policy", "outcome", "verdict")]
    share, mean = "metrics.`safe_cap/fraction_of_window`", "metrics.`score/mean`"
    whole = [*answer, _CAP, share, mean, *(f"metrics.`took/{name}`" for name in ("prompt_tokens", "usd", "wall_s"))]
    of_cache = [*answer, _CAP, "metrics.`kv/bytes_per_token`", "tags.`limited_by`", mean]
    caps, scores = _bars("safe_cap_tokens", "Safe cap in tokens"), _curve("by_length/score", "Score by context tokens")
    first_tokens = _curve("by_length/ttft_ms_median", "Time to the first token in ms")
    of_caches = [
        caps,
        _bars("kv/bytes_per_token", "KV cache in bytes a token"),
        scores,
        _curve("by_length/kv_gib", "KV cache in GiB"),
        _curve("by_length/decode_tokens_per_s", "Decoded tokens a second"),
    ]
    jobs = "tags.task != ''"
    return {
        "leaderboard": ("Leaderboard", _state(whole, order_by=_CAP, ascending=False, search="", charts=())),
        "by-task": (
            "One task after the other",
            _state(whole, order_by="tags.`task`", ascending=True, search=jobs, charts=()),
        ),
        "curves": (
            "Scores by length",
            _state(answer, order_by=_CAP, ascending=False, search=jobs, charts=[scores, caps, first_tokens]),
        ),
        "kv-policies": (
            "KV policies",
            _state(of_cache, order_by="tags.`kv_policy`", ascending=True, search=jobs, charts=of_caches),
        ),
    }


def leaderboard_address(experiment_id: str) -> str:
    """The address of the leaderboard, below that of MLflow's page."""
    return f"#/experiments/{experiment_id}/runs?viewStateShareKey=leaderboard"


def write_views(client: MlflowClient, experiment: Experiment) -> None:
    """Keep the views with the experiment; those that are there in this version are left alone."""
    experiment_id = str(experiment.experiment_id)
    if _KIND not in experiment.tags:
        client.set_experiment_tag(experiment_id, _KIND, _OF_RUNS)
    for key, (name, made) in _states().items():
        state = json.dumps(made)
        digest = hashlib.sha256(state.encode()).hexdigest()[:12]
        if digest in experiment.tags.get(f"{_TAG}{key}", ""):
            continue
        now = int(time.time() * 1000)
        packed = "deflate;" + base64.b64encode(zlib.compress(state.encode())).decode()
        value = {"name": name, "createdAt": now, "updatedAt": now, "state": packed, "contextcliff": digest}
        client.set_experiment_tag(experiment_id, f"{_TAG}{key}", json.dumps(value))
