"""The MLflow UI, opened by the command that a run prints, shows the runs of a sweep side by side."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import contextcliff_process

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1500,1000 --virtual-time-budget=25000"
).split()

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: install Debian's package `chromium`"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("sweep")
    done = contextcliff_process(
        "engine=simulated",
        "kv_policy=none,q8_0,q4_0",
        "engine.cliff_tokens=1100",
        "reporting.progress=false",
        cwd=folder,
    )
    assert done.returncode == 0
    command = shlex.split(done.stdout.split("COMPARE RUNS IN MLFLOW\n")[1].splitlines()[0])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command[command.index("--port") + 1] = str(port)
    # The command is printed for the folder of the run, whose environment may be given by a relative path.
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield wait_for(f"http://127.0.0.1:{port}")
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(address: str) -> str:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5):
                return address
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise AssertionError("the MLflow UI did not come up")


def page(url: str, profile: Path) -> str:
    """The page's text once its scripts have run."""
    shown = subprocess.run(
        [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}", "--dump-dom", url],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    return shown.stdout


def test_the_run_list_shows_a_run_for_each_policy(address: str, tmp_path: Path) -> None:
    shown = page(f"{address}/#/experiments/1/runs", tmp_path)
    for policy in ("none", "q8_0", "q4_0"):
        assert f"niah-SmolLM2-135M-Instruct-{policy}-" in shown
