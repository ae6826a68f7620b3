"""A hub on loopback: repositories are folders, and every request is counted."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_COMMIT = "0" * 40


@dataclass
class MadeHub:
    """`repositories` are names and the folders of their files; `status` is answered to everything, where it is set."""

    repositories: dict[str, str] = field(default_factory=dict)
    status: int | None = None
    asked: list[str] = field(default_factory=list)
    address: str = ""


@contextmanager
def hub_of(hub: MadeHub) -> Iterator[MadeHub]:
    """Serve it on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            hub.asked.append(self.path)
            name = next((name for name in hub.repositories if name in self.path), None)
            if hub.status is not None:
                self._refuse(hub.status, "")
            elif name is None:
                self._refuse(404, "RepoNotFound")
            elif self.path == f"/api/models/{name}":
                self._answer(json.dumps({"id": name, "sha": _COMMIT, "siblings": []}).encode())
            else:
                file = Path(hub.repositories[name], re.sub(r".*/resolve/[^/]+/", "", self.path).lstrip("/"))
                self._answer(file.read_bytes()) if file.is_file() else self._refuse(404, "EntryNotFound")

        def do_GET(self) -> None:
            self.do_HEAD()

        def _refuse(self, status: int, code: str) -> None:
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _answer(self, content: bytes) -> None:
            self.send_response(200)
            self.send_header("X-Repo-Commit", _COMMIT)
            self.send_header("ETag", hashlib.sha256(content).hexdigest())
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        hub.address = f"http://127.0.0.1:{server.server_address[1]}"
        yield hub
        server.shutdown()
