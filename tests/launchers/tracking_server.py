"""A tracking server as a team runs it: PostgreSQL for its runs, a folder for their files, all on 127.0.0.1."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_USER = "postgres"
"""PostgreSQL refuses to run as root."""
PASSWORD = "not-a-secret-of-anybody"
_UP_WITHIN_S = 120.0


def postgres_binaries() -> Path | None:
    """The folder of PostgreSQL's programs; None where it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [
        Path(name) for name in [shutil.which("initdb")] if name
    ]
    return found[-1].parent if found else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """A database of its own in a folder; the address that MLflow takes."""
    programs = postgres_binaries()
    assert programs is not None
    data, port, secret = folder / "data", free_port(), folder / "password"
    folder.mkdir(parents=True, exist_ok=True)
    secret.write_text(PASSWORD)
    as_user: list[str] = []
    if os.geteuid() == 0:
        account = pwd.getpwnam(_USER)
        as_user = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]
        for path in (folder, secret):
            os.chown(path, account.pw_uid, account.pw_gid)
        for parent in folder.parents:
            if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o011)
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    made = ("-D", str(data), "-U", _USER, "-A", "scram-sha-256", f"--pwfile={secret}")
    subprocess.run([*as_user, str(programs / "initdb"), *made], check=True, **quiet)  # type: ignore[call-overload]
    listening = ("-p", str(port), "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}")
    command = [*as_user, str(programs / "postgres"), "-D", str(data), *listening, "-c", "fsync=off"]
    server = subprocess.Popen(command, **quiet)  # type: ignore[call-overload]
    asked = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    try:
        once_up(lambda: subprocess.run(asked, check=False).returncode == 0)
        yield f"postgresql://{_USER}:{PASSWORD}@127.0.0.1:{port}/postgres"
    finally:
        server.terminate()
        server.wait(timeout=60)


def once_up(answers: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _UP_WITHIN_S
    while not answers():
        assert time.monotonic() < deadline, "the server is not up"
        time.sleep(0.3)


class MLflowServer:
    """MLflow's server on a database, with the files behind it; it can be killed and started again at its address."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder, self.database, self.port = folder, database, free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(self.port)),
                *("--backend-store-uri", self.database, "--artifacts-destination", str(self.folder / "files")),
                *("--workers", "2"),
            ],
            cwd=self.folder,
            stdout=(self.folder / "log").open("a"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        once_up(self._answers)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/health", timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def kill(self) -> None:
        """As by the machine's owner: at once, with its workers."""
        if self._process is not None:
            os.killpg(self._process.pid, 9)
            self._process.wait(timeout=30)
            self._process = None
