"""The command line as a user types it, and what a run leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def reports(folder: Path) -> list[dict[str, Any]]:
    """Every `report.json` below a folder, by run id."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in folder.rglob("report.json")]
    return sorted(found, key=lambda report: str(report["run_id"]))


def samples(folder: Path) -> list[dict[str, Any]]:
    """Every line of the one `samples.jsonl` below a folder."""
    (file,) = folder.rglob("samples.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
