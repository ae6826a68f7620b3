"""A paid run at a terminal asks before it sends."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import SIMULATED, TEN_DEPTHS, reports

PRICED = (*SIMULATED, "task.trials=1", "task.haystacks=1", TEN_DEPTHS, "model.price.input=2", "model.price.output=10")


def at_a_terminal(folder: Path, answer: bytes, *overrides: str) -> tuple[int, str]:
    """Run with a terminal for input and errors; returns the exit code and what the terminal showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "contextcliff", *PRICED, *overrides], cwd=folder, stdin=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, answer)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return process.wait(timeout=60), shown.decode()


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "runs"), [(b"y\n", True), (b"yes\n", True), (b"n\n", False), (b"\n", False)])
def test_the_answer_decides(tmp_path: Path, answer: bytes, runs: bool) -> None:
    code, shown = at_a_terminal(tmp_path, answer)
    assert code == 0
    assert "This run can cost 0.0859 USD (37," in shown
    assert len(reports(tmp_path)) == int(runs)
    assert ("declined: nothing was sent" in shown) is not runs
    assert (tmp_path / "outputs").exists() is runs


@pytest.mark.slow
def test_a_budget_is_the_answer(tmp_path: Path) -> None:
    code, shown = at_a_terminal(tmp_path, b"", "budget.usd=1")
    assert code == 0
    assert "Go on?" not in shown
    assert len(reports(tmp_path)) == 1
