"""A server that ContextCliff starts for a run: it is up when its port answers, and gone when the run is over."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from contextcliff.engines.openai import process_guard
from contextcliff.engines.openai.server_access import ApiKey
from contextcliff.errors import RunError, one_line

_KEY = "engine.command"
_LOOK_EVERY_S = 0.2
_GRACE_S = 10.0
_LAST_BYTES = 4_096
_LAST_LINES = 5
_LONGEST_SHOWN = 600
_HEALTHY = ("/health", "/v1/models")
_STILL_LOADING = 503


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerProcess:
    """A started server, under its guard."""

    guard: subprocess.Popen[bytes]
    log: Path
    key: ApiKey

    @property
    def has_ended(self) -> bool:
        """Whether the server ended by itself."""
        return self.guard.poll() is not None

    def last_lines(self) -> str:
        """The end of its output, on one line and without the key."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, self.log.stat().st_size - _LAST_BYTES))
                lines = file.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return "it printed nothing"
        kept = " | ".join(line.strip() for line in lines[-_LAST_LINES:] if line.strip())
        return one_line(self.key.hide_in(kept), longest=_LONGEST_SHOWN) or "it printed nothing"

    def why_ended(self) -> str:
        """What is said of a server that ended by itself."""
        return f"{_KEY}: the server ended (exit code {self.guard.poll()}): {self.last_lines()}"


@contextmanager
def started(command: Sequence[str], *, root: str, key: ApiKey, timeout_s: float) -> Iterator[ServerProcess]:
    """Start the server and wait until it answers at `root` (`http://HOST:PORT`); end it afterwards, however that comes.

    Raises `RunError` with the server's last lines where it ends by itself, or is not up within `timeout_s`.
    """
    with tempfile.TemporaryDirectory(prefix="contextcliff-server-") as folder:
        log = Path(folder) / "output"
        guard = subprocess.Popen(  # noqa: S603 - the user's own command, and no shell
            [sys.executable, "-S", str(process_guard.__file__), str(log), str(_GRACE_S), *command],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        process = ServerProcess(guard=guard, log=log, key=key)
        try:
            _wait_until_up(process, root=root, timeout_s=timeout_s)
            yield process
        finally:
            assert guard.stdin is not None
            guard.stdin.close()
            guard.wait()


def _wait_until_up(process: ServerProcess, *, root: str, timeout_s: float) -> None:
    until = time.monotonic() + timeout_s
    with httpx2.Client(timeout=max(1.0, _LOOK_EVERY_S), trust_env=False) as http:
        while not _is_up(http, root, process.key):
            if process.has_ended:
                raise RunError(process.why_ended())
            if time.monotonic() > until:
                raise RunError(
                    f"{_KEY}: the server is not up after {timeout_s:g} s at {root}: {process.last_lines()}; give it "
                    "more time with engine.start_timeout_s, or see whether it listens on {port}"
                )
            time.sleep(_LOOK_EVERY_S)
    if process.has_ended:  # another server answers there
        raise RunError(process.why_ended())


def _is_up(http: httpx2.Client, root: str, key: ApiKey) -> bool:
    """Whether a route that tells it answers; one that the server does not have tells nothing."""
    for route in _HEALTHY:
        try:
            status = http.get(f"{root}{route}", headers=key.headers()).status_code
        except httpx2.HTTPError:
            return False
        if status == _STILL_LOADING:
            return False
        if status < 400:
            return True
    return False
