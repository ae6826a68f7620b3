"""`engine.command`: a server that ContextCliff starts for a run, from a template of its command line."""

from __future__ import annotations

import shlex
import shutil
import socket
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from contextcliff.engines.engine import Deployment
from contextcliff.engines.openai import process_guard
from contextcliff.engines.openai.http import Address
from contextcliff.errors import ConfigError, RunError, one_line
from contextcliff.kv.policy import KVPolicy
from contextcliff.kv.server_flags import kv_flags

_KEY = "engine.command"
_NAMES = ("model", "weights", "context", "port", "key_type", "value_type", "kv_flags", "concurrency")
_OF_POLICY = ("kv_flags", "key_type", "value_type")
_LOOK_EVERY_S = 0.2
_GRACE_S = 10.0
_LAST_BYTES = 4_096
_LAST_LINES = 5
_LONGEST_SHOWN = 600
_HEALTHY = ("/health", "/v1/models")
_STILL_LOADING = 503


def placeholders(template: str) -> frozenset[str]:
    """Those of a command's template; docs/kv_policies.md says what they stand for. Raises `ConfigError`."""
    way_out = "write {{ and }} for braces of the command's own"
    try:
        parsed = [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise ConfigError(f"{_KEY}={template}: {error}; {way_out}") from error
    if unknown := [name for name in parsed if name not in _NAMES]:
        there = ", ".join(f"{{{name}}}" for name in _NAMES)
        raise ConfigError(f"{_KEY}: {{{unknown[0]}}} is no placeholder; there are {there}; {way_out}")
    return frozenset(parsed)


def check_command(template: str, preset: str, policy: KVPolicy) -> None:
    """Raise `ConfigError` for a template that can't be filled, or that leaves out a policy."""
    names = placeholders(template)
    if "kv_flags" in names and kv_flags(preset, policy) is None:
        raise ConfigError(
            f"{_KEY}: the flags for kv_policy={policy.shown} are not known for engine={preset}; write them in the "
            "place of {kv_flags}, with {key_type} and {value_type} where they name formats"
        )
    if not policy.is_plain and not names.intersection(_OF_POLICY):
        raise ConfigError(
            f"{_KEY}: starts the server without kv_policy={policy.shown}; write {{kv_flags}}, or {{key_type}} and "
            "{value_type}, where its flags go"
        )


def filled_command(template: str, preset: str, deployment: Deployment, *, port: int, concurrency: int) -> list[str]:
    """The program and its arguments; no shell reads them. Raises `ConfigError`."""
    model, policy = deployment.model, deployment.kv_policy
    if deployment.context_tokens is None:
        raise ConfigError(
            f"model.context_window: {_KEY} has to know how long a context is; give model.context_window=N"
        )
    values: dict[str, object] = {
        "model": model.served_name(preset) or "",
        "context": deployment.context_tokens,
        "port": port,
        "key_type": policy.key_type,
        "value_type": policy.value_type,
        "kv_flags": kv_flags(preset, policy) or "",
        "concurrency": concurrency,
        "weights": shlex.quote(str(model.gguf.fetch())) if "weights" in placeholders(template) else "",
    }
    try:
        name, *arguments = shlex.split(template.format(**values)) or [""]
    except ValueError as error:
        raise ConfigError(f"{_KEY}={template}: {error}; close the quotation") from error
    program = shutil.which(name)
    if program is None:
        raise ConfigError(f"{_KEY}: there is no program {name}; install it, or give its whole path")
    return [program, *arguments]


def free_port(wanted: int) -> int:
    """`wanted`, or a free one for 0. Raises `ConfigError` if something listens there already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError as error:
            raise ConfigError(
                f"engine.base_url: something listens on port {wanted} already, so that {_KEY} can't; end it, or take "
                "another port (0: any that is free)"
            ) from error
        return int(probe.getsockname()[1])


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerProcess:
    guard: subprocess.Popen[bytes]
    log: Path
    address: Address

    @property
    def has_ended(self) -> bool:
        return self.guard.poll() is not None

    def last_lines(self) -> str:
        """The end of its output, on one line and without the key."""
        output = self.log.read_bytes()[-_LAST_BYTES:] if self.log.exists() else b""
        lines = output.decode("utf-8", "replace").splitlines()[-_LAST_LINES:]
        kept = " | ".join(line.strip() for line in lines if line.strip())
        return one_line(self.address.hide_in(kept), longest=_LONGEST_SHOWN) or "it printed nothing"

    def why_ended(self) -> str:
        return f"{_KEY}: the server ended (exit code {self.guard.poll()}): {self.last_lines()}"


@contextmanager
def started(command: Sequence[str], *, address: Address, timeout_s: float) -> Iterator[ServerProcess]:
    """Start the server, wait until it answers, and end it afterwards. Raises `RunError` with its last lines."""
    with tempfile.TemporaryDirectory(prefix="contextcliff-server-") as folder:
        log = Path(folder) / "output"
        guard = subprocess.Popen(  # noqa: S603 - the user's own command, and no shell
            [sys.executable, "-S", str(process_guard.__file__), str(log), str(_GRACE_S), *command],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        process = ServerProcess(guard=guard, log=log, address=address)
        try:
            _wait_until_up(process, timeout_s=timeout_s)
            yield process
        finally:
            assert guard.stdin is not None
            guard.stdin.close()
            guard.wait()


def _wait_until_up(process: ServerProcess, *, timeout_s: float) -> None:
    until = time.monotonic() + timeout_s
    with httpx2.Client(timeout=max(1.0, _LOOK_EVERY_S), trust_env=False) as http:
        while not _is_up(http, process.address) or process.has_ended:  # another server may answer there
            if process.has_ended:
                raise RunError(process.why_ended())
            if time.monotonic() > until:
                raise RunError(
                    f"{_KEY}: the server is not up after {timeout_s:g} s at {process.address.root}: "
                    f"{process.last_lines()}; give it more time with engine.start_timeout_s, or see whether it listens "
                    "on {port}"
                )
            time.sleep(_LOOK_EVERY_S)


def _is_up(http: httpx2.Client, address: Address) -> bool:
    for route in _HEALTHY:
        try:
            status = http.get(f"{address.root}{route}", headers=address.headers()).status_code
        except httpx2.HTTPError:
            return False
        if status < 400 or status == _STILL_LOADING:
            return status < 400
    return False  # routes that the server does not have tell nothing
