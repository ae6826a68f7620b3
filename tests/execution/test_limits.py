"""Ten thousand long samples in little memory, and a disk that fills up under a run."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import SIMULATED, TEN_DEPTHS, contextcliff, kept, reports

MIB = 2**20
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.slow
def test_ten_thousand_samples_of_32k_tokens_need_less_than_a_gibibyte(tmp_path: Path) -> None:
    overrides = ("dataset=synthetic", "model=qwen", "task.lengths=[32000]", "task.trials=1000", TEN_DEPTHS)
    # By way of a small process: what a child may be told to have used begins with what its parent uses.
    line = [sys.executable, "-c", PEAK, sys.executable, "-m", "contextcliff", *SIMULATED, *overrides]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert reports(tmp_path)[0]["counts"]["completed"] == 10_000
    assert int(done.stdout) * 1024 < 1024 * MIB


@pytest.mark.slow
def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    # A limit on the size of files is what a full disk is to SQLite: a write that fails.
    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    line = [sys.executable, "-m", "contextcliff", *SIMULATED, "task.trials=20", TEN_DEPTHS]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False, preexec_fn=little_room)
    assert done.returncode == 1
    assert done.stderr.startswith("error: outputs/state.db: ")
    assert done.stderr.endswith("run the same command again; what was answered is kept\n")
    assert "disk" in done.stderr
    assert done.stderr.count("\n") == 1
    before = kept(tmp_path / "outputs" / "state.db")
    assert contextcliff(*SIMULATED, "task.trials=20", TEN_DEPTHS, cwd=tmp_path).returncode == 0
    (report,) = reports(tmp_path)
    assert (report["counts"]["completed"], report["counts"]["reused"]) == (600, before)
