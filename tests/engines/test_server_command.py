"""`engine.command`: the server that a run starts, and that is gone when the run is, however that ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contextcliff.engines.engine import Deployment
from contextcliff.engines.openai.serve import filled_command, free_port
from contextcliff.errors import ConfigError
from contextcliff.kv.policy import KVPolicy
from contextcliff.kv.server_flags import start_line
from contextcliff.models.model import Model
from tests.commands import QUIET, contextcliff, reports
from tests.compositions import line_of

ROOT = Path(__file__).parents[2]
OUTSIDE = f"{sys.executable} -m tests.engines.outside_server {{port}}"
ASKED = ("engine=llama_server", "engine.base_url=http://127.0.0.1:0", "dataset=synthetic", *QUIET)
FEW = ("task.lengths=[300]", "task.depths=[0.5]", "task.trials=4")
HERE = {"PYTHONPATH": str(ROOT)}
Q8 = KVPolicy(name="q8_0", key_type="q8_0", value_type="q8_0")


def command(*wishes: str) -> str:
    return f"engine.command='{OUTSIDE} {' '.join(wishes)}'"


def gone(processes: list[int], *, within_s: float = 15.0) -> bool:
    until = time.monotonic() + within_s
    while any(map(is_alive, processes)):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # the second: it ended between open and read
        return False
    return state != "Z"


def listed(file: Path, *, within_s: float = 30.0) -> list[int]:
    """The processes that the server has written down: itself, and one that it started."""
    until = time.monotonic() + within_s
    while not file.exists() or len(file.read_text().split()) < 2:
        assert time.monotonic() < until, "the server did not start"
        time.sleep(0.05)
    return [int(number) for number in file.read_text().split()]


@pytest.mark.slow
def test_a_server_that_dies_ends_the_run_with_its_last_words_and_loses_nothing(tmp_path: Path) -> None:
    done = contextcliff(*ASKED, *FEW, command("dies"), cwd=tmp_path, env=HERE)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "engine.command: the server ended (exit code 9): loading the weights dies" in done.stderr
    again = contextcliff(*ASKED, *FEW, command("dies"), cwd=tmp_path, env=HERE)  # two more answers
    assert (again.returncode, again.stderr) == (0, "")
    assert reports(tmp_path)[0]["counts"]["reused"] == 2


@pytest.mark.parametrize(
    "number",
    [pytest.param(signal.SIGINT, marks=pytest.mark.slow), pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
     signal.SIGKILL],
    ids=["SIGINT", "SIGTERM", "SIGKILL"],
)  # fmt: skip
def test_however_the_run_ends_the_server_is_gone(number: signal.Signals, tmp_path: Path) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "contextcliff", *ASKED, *FEW, command("slow", f"listed={tmp_path}/pids")],
        cwd=tmp_path,
        env={**os.environ, **HERE},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A command that a script starts in the background ignores Ctrl-C, and so does what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    processes = listed(tmp_path / "pids")
    assert all(map(is_alive, processes))
    running.send_signal(number)
    assert running.wait(timeout=30) == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[number]
    assert gone(processes)


@pytest.mark.slow
def test_a_server_that_is_never_up_is_ended_after_its_time(tmp_path: Path) -> None:
    done = contextcliff(
        *ASKED, *FEW, command("hangs", f"listed={tmp_path}/pids"), "engine.start_timeout_s=2", cwd=tmp_path, env=HERE
    )
    assert done.returncode == 1
    assert "engine.command: the server is not up after 2 s at http://127.0.0.1:" in done.stderr
    assert "loading the weights hangs" in done.stderr
    assert gone(listed(tmp_path / "pids"))


def test_a_server_that_ends_at_once_is_not_waited_for(tmp_path: Path) -> None:
    done = contextcliff(*ASKED, *FEW, command("fails"), cwd=tmp_path, env=HERE)
    assert done.stderr == (
        "error: engine.command: the server ended (exit code 7): loading the weights fails | no such file: "
        "weights.gguf\n"
    )


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"engine.base_url: something listens on port {port} already"):
            free_port(port)


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        (
            ("engine.command='serve {gpu}'",),
            "engine.command: {gpu} is no placeholder; there are {model}, {weights}, {context}, {port}, {key_type}, "
            "{value_type}, {kv_flags}, {concurrency}; write {{ and }} for braces of the command's own",
        ),
        (
            ("engine.command='serve {port}'", "kv_policy=q8_0"),
            "engine.command: starts the server without kv_policy=q8_0; write {kv_flags}, or {key_type} and "
            "{value_type}, where its flags go",
        ),
        (
            ("engine.command='serve {kv_flags}'", "kv_policy=q8_0", "kv_policy.declared=true"),
            "kv_policy.declared=true: engine.command sets the policy; leave one of them out",
        ),
        (
            ("kv_policy=q8_0",),
            "kv_policy=q8_0: engine=llama_server can't set the cache of a server that runs already; start it with "
            "`llama-server -m MODEL.gguf -ctk q8_0 -ctv q8_0 -fa on` and say so with kv_policy.declared=true, or let "
            "engine.command start it",
        ),
    ],
)
def test_what_a_server_cannot_be_started_with_is_refused(overrides: tuple[str, ...], line: str) -> None:
    assert line_of(*ASKED, *FEW, *overrides) == line


def filled(template: str) -> list[str]:
    deployment = Deployment(model=Model(name="m"), kv_policy=Q8, context_tokens=512)
    return filled_command(template, "llama_server", deployment, port=8080, concurrency=2)


def test_the_placeholders_are_filled_and_a_program_that_is_not_there_is_refused() -> None:
    template = "echo {model} {context} {port} {concurrency} {key_type} {{x}} {kv_flags}"
    assert filled(template)[1:] == ["m", "512", "8080", "2", "q8_0", "{x}", "-ctk", "q8_0", "-ctv", "q8_0", "-fa", "on"]
    with pytest.raises(ConfigError, match="engine.command: there is no program no-such-server; install it, or give"):
        filled("no-such-server {port}")


@pytest.mark.parametrize(
    ("preset", "line"),
    [
        ("llama_server", "llama-server -m MODEL.gguf -ctk q8_0 -ctv q8_0 -fa on"),
        ("koboldcpp", "koboldcpp --model MODEL.gguf --flashattention --quantkv 1"),
        ("ollama", "OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 ollama serve"),
        ("vllm", None),
        ("lmstudio", None),
    ],
)
def test_the_line_that_starts_a_server_with_a_policy(preset: str, line: str | None) -> None:
    assert start_line(preset, Q8) == line
