"""A small finished run to hand to a tracker, and an upload that a spawned process can call."""

from __future__ import annotations

from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

from contextcliff.records.report import Report
from contextcliff.tracking.mlflow import MLflowTracker
from contextcliff.tracking.tracker import Tracked
from tests.simulated_reports import Law, edited, simulated

LENGTHS = (512, 1024, 4096)
LAW = Law(lengths=LENGTHS, right=(20, 20, 8), with_findings=True)


def report(run_id: str = "qwen-niah-f16-1a2b", **changes: object) -> Report:
    """A report with every finding of a needle task; `changes` are fields of the run or the analysis, or findings."""
    return edited(simulated(LAW), **{"run_id": run_id, "model": "qwen", "kv_policy": "none", **changes})


def tracked(folder: Path, made: Report | None = None, **changes: object) -> Tracked:
    """The run with its result files, written to `folder`."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for name in ("report.json", "report.md", "samples.jsonl", "manifest.json", "figures/curve.png"):
        (folder / name).write_text(f'{{"content": "{name}"}}', encoding="utf-8")
    whole = Tracked(
        report=made or report(),
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
    return replace(whole, **changes)  # type: ignore[arg-type]  # as above


def upload_at_once(uri: str, folder: str, number: int, barrier: Barrier) -> None:
    """One of several processes: waits for the others with MLflow already imported, then uploads."""
    import mlflow.tracking  # noqa: F401

    mine = tracked(Path(folder) / str(number), report(run_id=f"run-{number}"))
    barrier.wait(timeout=60)
    MLflowTracker(uri=uri).log(mine)
