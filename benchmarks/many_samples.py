"""Ten thousand samples: a run, its analysis once more, its upload, and what they leave on disk.

    .venv/bin/python benchmarks/many_samples.py [SAMPLES]

Simulated, so that all of the time is ours. The rival writes as many answers, one commit each, into a SQLite table of
the same size, and as many lines of JSON. Prints the seconds of each step and the ratio of the run to the rival, and
JSON.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from loopback import environment

LENGTHS = (1_024, 2_048, 4_096, 8_192, 16_384)
DEPTHS = (0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95)
_SHOWN = ("reporting.progress=false", "reporting.console=none")


def seconds(folder: str, *overrides: str) -> float:
    """The time of a command, start to end."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "contextcliff", *overrides, *_SHOWN]
    subprocess.run(command, cwd=folder, env=environment(), check=True)
    return time.perf_counter() - began


def plain_s(folder: str, samples: int) -> float:
    """The rival."""
    began = time.perf_counter()
    words = "The special magic number is 1234567. " * 4
    store = sqlite3.connect(Path(folder) / "plain.db")
    store.execute("pragma journal_mode=wal")
    store.execute("create table answers (name text primary key, answer text)")
    with (Path(folder) / "plain.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(samples):
            with store:
                store.execute("insert into answers values (?, ?)", (str(number), words))
            lines.write(json.dumps({"name": number, "answer": words, "score": 1.0}) + "\n")
    store.close()
    return time.perf_counter() - began


def main(samples: int = 10_000) -> None:
    """Run, analyse, upload."""
    trials = samples // len(LENGTHS) // len(DEPTHS)
    asked = (
        "engine=simulated", "engine.concurrency=64", f"task.lengths={[*LENGTHS]}".replace(" ", ""),
        f"task.depths={[*DEPTHS]}".replace(" ", ""), f"task.trials={trials}", "model.context_window=32768",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        plain = plain_s(folder, samples)
    with tempfile.TemporaryDirectory() as folder:
        bare = ("tracking=none", "reporting.figures=false", "reporting.html=false")
        run = seconds(folder, *asked, *bare)
        analyze = seconds(folder, *asked, "tracking=none", "action=analyze")
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
        tracked = seconds(folder, *asked, "action=analyze")
    count = trials * len(LENGTHS) * len(DEPTHS)
    print(f"{count:,} samples: run {run:.1f} s, {run / plain:.1f} times the plain loop ({plain:.1f} s)")
    print(f"analyze with report, page and figures {analyze:.1f} s; with the upload to MLflow {tracked:.1f} s")
    print(f"on disk {size / 1e6:.1f} MB without MLflow's")
    figures = {"run_s": run, "plain_s": plain, "analyze_s": analyze, "tracked_s": tracked, "mb": size / 1e6}
    print(json.dumps({"samples": count, **figures, "ratio": run / plain}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
