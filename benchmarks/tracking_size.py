"""What keeping runs in MLflow takes: made-up runs with many samples, uploaded into a fresh SQLite store.

    .venv/bin/python benchmarks/tracking_size.py [RUNS] [SAMPLES]

Prints seconds and bytes a run, and both as a ratio to writing the same files without MLflow. A tenth of the samples
failed, so that a tenth are traces.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from contextcliff.reporting.data_files import json_text
from contextcliff.tracking.mlflow import MLflowTracker
from contextcliff.tracking.tracker import Tracked

sys.path.insert(0, str(Path(__file__).parents[1]))  # before any package `tests` that another one has installed
from tests.simulated_reports import Law, simulated

_FAILED_EACH = 10


def made(folder: Path, number: int, samples: int) -> Tracked:
    """A run of so many samples, with its files."""
    report = simulated(Law(lengths=(512, 1024, 4096), right=(20, 20, 8), with_findings=True))
    run = replace(report.run, run_id=f"made-{number}", fingerprint=f"{number:08x}" * 8)
    folder.mkdir(parents=True)
    rows = [
        {
            **{"sample_id": f"s{number}-{n}", "context_tokens": 512 << n % 4, "depth": n % 11 / 10, "trial": n // 44},
            **{"question": "What is the special magic Paris number?", "answers": [str(n * 7919)]},
            **{
                "prediction": str(n),
                "output": f"It is {n}.",
                "score": float(bool(n % _FAILED_EACH)),
                "finish_reason": "stop",
            },
            **{"failure": None if n % _FAILED_EACH else "wrong_needle", "prompt_tokens": 500, "completion_tokens": 8},
            **{"latency_ms": 100.0 + n, "ttft_ms": 80.0, "prompt_sha256": f"{n:064x}", "seed": n},
        }
        for n in range(samples)
    ]
    (folder / "report.json").write_text(json_text({"rows": rows}))
    (folder / "samples.jsonl").write_text("".join(json_text(row).replace("\n", "") + "\n" for row in rows))
    return Tracked(report=replace(report, run=run), folder=folder, parameters={"model": "made"}, samples=rows)


def size_of(folder: Path) -> int:
    """Bytes of all files below."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main(runs: int = 200, samples: int = 500) -> None:
    with tempfile.TemporaryDirectory() as place:
        files, store = Path(place) / "files", Path(place) / "store"
        began = time.perf_counter()
        tracked = [made(files / str(number), number, samples) for number in range(runs)]
        plain_s, plain_bytes = time.perf_counter() - began, size_of(files)
        tracker = MLflowTracker(uri=f"sqlite:///{store}/mlflow.db")
        tracker.log(tracked[0])  # makes the tables
        began = time.perf_counter()
        for each in tracked[1:]:
            tracker.log(each)
        took_s, took_bytes = time.perf_counter() - began, size_of(store)
        database = (store / "mlflow.db").stat().st_size
        print(f"{runs} runs of {samples} samples, {samples // _FAILED_EACH} traces each")
        print(f"  {took_s / (runs - 1):.2f} s a run, {took_s:.0f} s in all")
        print(f"  {took_bytes / runs / 1e3:,.0f} kB a run, {took_bytes / 1e6:,.0f} MB in all")
        print(f"  {database / 1e6:,.0f} MB of it the database")
        print(f"  {took_s / plain_s:.0f} times the seconds of the files alone")
        print(f"  {took_bytes / plain_bytes:.1f} times their bytes")
        shutil.rmtree(store)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
