"""The command line as a user types it, and what a run leaves."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# What every call imports, so that a fork has it already.
for _module in (
    "hydra.main",
    "sentencex",
    "contextcliff.analysis.analyse",
    "contextcliff.analysis.writing",
    "contextcliff.config",
    "contextcliff.engines.llamacpp",
    "contextcliff.engines.simulated",
    "contextcliff.reporting.console",
    "contextcliff.reporting.files",
    "contextcliff.tasks.continuation",
    "contextcliff.tracking.mlflow",
):
    importlib.import_module(_module)

QUIET = ("tracking=none", "reporting.progress=false", "reporting.console=false")
SIMULATED = ("engine=simulated", *QUIET)


def contextcliff(
    *overrides: str, cwd: Path, timeout_s: float = 240, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python -m contextcliff` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "contextcliff", *overrides],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def contextcliff_here(*overrides: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The same in a fork of this process, for calls that end before any work: nothing is imported anew."""
    out, err = cwd.with_name(f"{cwd.name}.out"), cwd.with_name(f"{cwd.name}.err")
    child = os.fork()
    if child == 0:
        code = 70
        try:
            for number, file in ((1, out), (2, err)):
                os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            sys.stdout, sys.stderr = open(1, "w"), open(2, "w")  # noqa: SIM115 - the child ends at once
            os.chdir(cwd)
            sys.argv = ["contextcliff", *overrides]
            try:
                from contextcliff.__main__ import main

                main()
            except SystemExit as end:
                code = int(end.code or 0)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return subprocess.CompletedProcess(
        overrides, os.waitstatus_to_exitcode(status), out.read_text("utf-8"), err.read_text("utf-8")
    )


def reports(folder: Path) -> list[dict[str, Any]]:
    """Every `report.json` below a folder, by run id."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in folder.rglob("report.json")]
    return sorted(found, key=lambda report: str(report["run_id"]))


def samples(folder: Path) -> list[dict[str, Any]]:
    """Every line of the one `samples.jsonl` below a folder."""
    (file,) = folder.rglob("samples.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
