"""The command line as a user types it, and what a run leaves."""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# What every call imports, so that a fork has it already.
for _module in (
    "hydra.main",
    "hydra._internal.core_plugins.basic_launcher",
    "hydra._internal.core_plugins.basic_sweeper",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "mlflow.tracking",
    "openai",
    "scipy.stats",
    "sentencex",
    "contextcliff.analysis.analyse",
    "contextcliff.writing.analysis.writing_analysis",
    "contextcliff.config",
    "contextcliff.engines.llamacpp",
    "contextcliff.engines.simulated",
    "contextcliff.reporting.console",
    "contextcliff.reporting.files",
    "contextcliff.writing.task.continuation",
    "contextcliff.tracking.mlflow",
):
    importlib.import_module(_module)

QUIET = ("tracking=none", "reporting.progress=false", "reporting.console=false")
SIMULATED = ("engine=simulated", *QUIET)


def contextcliff(
    *overrides: str, cwd: Path, timeout_s: float = 240, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python -m contextcliff` to its end, in a fork of this process: nothing is imported anew.

    For the engine `simulated` and for servers. llama.cpp's threads and signals need `contextcliff_process`.
    """
    out, err = cwd.with_name(f"{cwd.name}.out"), cwd.with_name(f"{cwd.name}.err")
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = _as_a_process(overrides, cwd=cwd, env=env or {}, out=out, err=err)
        except BaseException:  # noqa: BLE001 - a fork of the tests must end here, whatever happened
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    status = _waited_for(child, timeout_s=timeout_s)
    return subprocess.CompletedProcess(
        overrides, os.waitstatus_to_exitcode(status), out.read_text("utf-8"), err.read_text("utf-8")
    )


def contextcliff_process(
    *overrides: str, cwd: Path, timeout_s: float = 240, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own, as a user starts it."""
    return subprocess.run(
        [sys.executable, "-m", "contextcliff", *overrides],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def _as_a_process(overrides: Sequence[str], *, cwd: Path, env: Mapping[str, str], out: Path, err: Path) -> int:
    """Run the command line as a fresh interpreter would: its own streams, nothing of pytest's logging and filters."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, file in ((1, out), (2, err)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdin, sys.stdout = open(0), open(1, "w", encoding="utf-8")  # noqa: SIM115 - the child ends at once
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1)  # noqa: SIM115
    logging.getLogger().handlers.clear()
    warnings.resetwarnings()
    for ignored in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", ignored)
    os.environ.update({"TOKENIZERS_PARALLELISM": "false", **env})
    os.chdir(cwd)
    sys.argv = ["contextcliff", *overrides]
    try:
        from contextcliff.__main__ import main

        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _waited_for(child: int, *, timeout_s: float) -> int:
    """The exit status of a child. Raises `TimeoutError`, with the child killed."""
    deadline = time.monotonic() + timeout_s
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise TimeoutError(f"no end within {timeout_s:g} s")
        time.sleep(0.01)


def reports(folder: Path) -> list[dict[str, Any]]:
    """Every `report.json` below a folder, by run id."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in folder.rglob("report.json")]
    return sorted(found, key=lambda report: str(report["run_id"]))


def samples(folder: Path) -> list[dict[str, Any]]:
    """Every line of the one `samples.jsonl` below a folder."""
    (file,) = folder.rglob("samples.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
