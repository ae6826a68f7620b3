"""`contextcliff ui`: MLflow's page on the store of the runs, on a port of this machine, at the leaderboard."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import webbrowser
from collections.abc import Sequence
from contextlib import suppress

from contextcliff.command_line.compose import recompose
from contextcliff.command_line.overrides import parse_overrides
from contextcliff.errors import ConfigError, ExitCode, RunError
from contextcliff.tracking.mlflow import HOST, PORT
from contextcliff.tracking.tracker import TrackingError
from contextcliff.tracking.views import LEADERBOARD

_UP_WITHIN_S = 120.0
_LOOK_EVERY_S = 0.3
_SHOWS_ONLY = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
"""MLflow would start eight processes for jobs that judge traces on the server."""


def show_runs(arguments: Sequence[str]) -> ExitCode:
    """Open the page, and serve it until Ctrl-C or SIGTERM where no server does. Raises `ConfigError`, `RunError`."""
    parser = argparse.ArgumentParser(prog="contextcliff ui", description=__doc__)
    parser.add_argument("--port", type=int, help=f"default: {PORT}, or a free one where that is taken")
    parser.add_argument("--view", default=LEADERBOARD, help=f"default: {LEADERBOARD}")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("overrides", nargs="*", help="as of a run: tracking.uri=… tracking.experiment=…")
    given = parser.parse_args(list(arguments))
    tracker = recompose([str(each.input_line) for each in parse_overrides(given.overrides)]).tracking.mlflow
    if tracker is None:
        raise ConfigError("tracking=none keeps no runs; give tracking=mlflow and its tracking.uri")
    try:
        if tracker.database is not None and not tracker.database.is_file():
            raise ConfigError(
                f"tracking.uri={tracker.shown_uri}: has no runs yet; run something first, or name another store"
            )
        if (tracker.is_web or given.port is None) and (there := tracker.address(given.view)) is not None:
            return _open(there, browser=not given.no_browser)
        port = _free_port() if given.port is None else given.port
        address = tracker.address(given.view, page=f"http://{HOST}:{port}")
    except TrackingError as error:
        raise RunError(str(error)) from error
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", tracker.absolute_uri, "--host", HOST]
    server = subprocess.Popen(  # noqa: S603 - MLflow's own command on the store that was named
        [*command, "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**_SHOWS_ONLY, **os.environ},
    )
    try:
        _wait_for(server, port)
        _open(f"{address}\nCtrl-C ends it", browser=not given.no_browser)
        server.wait()
    except KeyboardInterrupt:
        return ExitCode.DONE
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):  # a second one, while MLflow ends
            signal.signal(number, signal.SIG_IGN)
        server.terminate()
        try:
            server.wait(timeout=15.0)
        except subprocess.TimeoutExpired:
            server.kill()
    raise RunError(f"MLflow's page has ended by itself with {server.returncode}; is port {port} taken?")


def _free_port() -> int:
    for port in (PORT, 0):
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as MLflow does: one just closed is free
            probe.bind((HOST, port))
            return int(probe.getsockname()[1])
    raise RunError(f"{HOST} has no free port; give --port")


def _wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + _UP_WITHIN_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/health", timeout=5):
                return
        except OSError:
            time.sleep(_LOOK_EVERY_S)
    if server.poll() is None:
        raise RunError(f"MLflow's page is not up after {_UP_WITHIN_S:.0f} s")
    said = (server.stderr.read() if server.stderr else b"").decode(errors="replace").strip().splitlines()
    raise RunError(f"MLflow's page did not start: {said[-1] if said else server.returncode}")


def _open(text: str, *, browser: bool) -> ExitCode:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
    if browser:
        webbrowser.open(text.partition("\n")[0])
    return ExitCode.DONE
