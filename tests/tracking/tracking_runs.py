"""A small finished run to hand to a tracker, what MLflow has of it, and an upload that a spawned process can call."""

from __future__ import annotations

from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contextcliff.records.report import Report
from contextcliff.tracking.mlflow import MLflowTracker
from contextcliff.tracking.tracker import Tracked
from tests.simulated_reports import Law, edited, simulated

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

LENGTHS = (512, 1024, 4096)
LAW = Law(lengths=LENGTHS, right=(20, 20, 8), with_findings=True)
RUN_ID = "qwen-niah-f16-1a2b"


def report(run_id: str = RUN_ID, **changes: object) -> Report:
    """A report with every finding of a needle task; `changes` are fields of the run or the analysis, or findings."""
    return edited(simulated(LAW), **{"run_id": run_id, "model": "qwen", "kv_policy": "none", **changes})


def tracked(folder: Path, made: Report | None = None, *, name: str = "", **changes: object) -> Tracked:
    whole = made or report()
    folder = folder / (name or whole.run.run_id)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for name in ("report.json", "report.md", "samples.jsonl", "manifest.json", "figures/curve.png"):
        (folder / name).write_text(f'{{"content": "{name}"}}', encoding="utf-8")
    run = Tracked(
        report=whole,
        folder=folder,
        parameters={"model.name": "qwen", "task.lengths": "[512, 1024, 4096]"},
        samples=[
            {
                **{"sample_id": "s1", "context_tokens": 512, "score": 1.0, "cached_tokens": None, "answers": ["7"]},
                "metadata": {"hops": 2, "topic": "a city"},
            },
            {
                **{"sample_id": "s2", "context_tokens": 1024, "score": None, "cached_tokens": 8, "answers": ["9"]},
                "metadata": {},
            },
        ],
    )
    return replace(run, **changes)  # type: ignore[arg-type]  # as above


def client_of(tracker: MLflowTracker) -> MlflowClient:
    with tracker.client("look") as client:
        return client


def experiment_of(tracker: MLflowTracker) -> str:
    experiment = client_of(tracker).get_experiment_by_name(tracker.experiment)
    assert experiment is not None
    return str(experiment.experiment_id)


def runs_of(tracker: MLflowTracker, **which: Any) -> list[Run]:
    order = ["attributes.start_time ASC"]
    return list(client_of(tracker).search_runs([experiment_of(tracker)], order_by=order, **which))


def states_of(tracker: MLflowTracker) -> list[str]:
    return [run.info.status for run in runs_of(tracker)]


def points(tracker: MLflowTracker, run: Run, key: str) -> list[tuple[int, float]]:
    return [(each.step, each.value) for each in client_of(tracker).get_metric_history(run.info.run_id, key)]


def upload_at_once(uri: str, folder: str, number: int, barrier: Barrier) -> None:
    """One of several processes: waits for the others with MLflow already imported, then uploads."""
    import mlflow.tracking  # noqa: F401

    mine = tracked(Path(folder) / str(number), report(run_id=f"run-{number}"))
    barrier.wait(timeout=60)
    MLflowTracker(uri=uri).log(mine)
