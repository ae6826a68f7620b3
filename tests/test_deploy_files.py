"""The files and commands of docs/deploy.md are held to what there is."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from contextcliff.command_line.overrides import parse_command_line, parse_overrides
from tests.compositions import built, composed
from tests.engines.fake_server import FakeServer, serving
from tests.launchers.tracking_server import free_port

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
TASK: dict[str, Any] = yaml.safe_load((DEPLOY / "vllm_sweep.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
SENT = ("deploy/.env", "conf/local/default.yaml", "outputs/state.db", "mlruns/mlflow.db")
"""What must neither get into an image nor go to a rented machine."""


def commands(page: str) -> list[list[str]]:
    """The command lines of a page, each as its arguments behind `contextcliff`."""
    code = "\n".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL)).replace("\\\n", " ")
    lines = [line.partition(" #")[0] for line in code.splitlines() if "-m contextcliff" in line]
    return [shlex.split(line.partition("-m contextcliff")[2]) for line in lines]


@pytest.mark.parametrize("arguments", commands(PAGE), ids=" ".join)
def test_every_command_of_the_page_is_one(arguments: list[str]) -> None:
    typed = parse_command_line(arguments)
    overrides = parse_overrides(typed.overrides)
    own = [str(one.input_line) for one in overrides if not one.is_sweep_override() and "hydra" not in one.key_or_group]
    composed(*own)


def test_no_port_is_open_to_other_machines() -> None:
    published = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)
    assert "--host 127.0.0.1" in TASK["run"]


def test_no_secret_is_written_or_shown_and_every_password_is_asked_for() -> None:
    files = [file for file in DEPLOY.iterdir() if file.name != ".env"]
    written = "".join(file.read_text(encoding="utf-8") for file in files) + PAGE
    assert not re.search(r"(?i)(password|token)[=:]\s*['\"]?[a-z0-9]", written)
    assert not re.search(r"://\w+:(?!PASSWORD@)\w+@", written)
    assert set(TASK["secrets"].values()) == {""}  # SkyPilot refuses one that is null and that nobody gives
    services = COMPOSE["services"].values()
    values = [str(value) for one in services for value in one.get("environment", {}).values()]
    asked = [value for value in values if "PASSWORD" in value]
    assert len(asked) == 2
    assert all("${POSTGRES_PASSWORD:?write it to deploy/.env}" in value for value in asked)
    assert not any("PASSWORD" in " ".join([*one.get("command", []), *one.get("entrypoint", [])]) for one in services)


@pytest.mark.skipif(not (ROOT / ".git").exists() or shutil.which("git") is None, reason="no git checkout")
@pytest.mark.parametrize("path", SENT)
def test_git_ignores_what_is_nobody_elses(path: str) -> None:
    """SkyPilot leaves out what git ignores, and so does the archive of the sources."""
    assert subprocess.run(["git", "-C", ROOT, "check-ignore", "-q", path], check=False).returncode == 0


def test_an_image_is_made_of_the_listed_files_alone() -> None:
    rules = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    copied = {
        source.removeprefix("./")
        for line in re.findall(r"^COPY (.*)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    }
    assert {rule[1:] for rule in rules if rule.startswith("!")} == copied
    assert [rule for rule in rules if rule[:1] not in "#!"] == ["*", "conf/local/*.yaml", "**/__pycache__"]
    assert all((ROOT / source).exists() for source in copied)


def test_the_runner_keeps_its_server_and_its_volume_whatever_is_typed() -> None:
    """`docker compose run runner WORDS` replaces the command and leaves the entry point."""
    runner = COMPOSE["services"]["runner"]
    fixed = runner["entrypoint"][3:]
    for typed in (runner["command"], ["task=tracing", "action=plan"]):
        config = composed(*fixed, *typed)
        assert config.tracking.uri == "http://mlflow:5000"
        assert runner["volumes"] == [f"outputs:{config.output_dir}"]


@pytest.mark.parametrize("text", [PAGE, (DEPLOY / "vllm_sweep.yaml").read_text(encoding="utf-8")], ids=["page", "task"])
def test_the_shown_sweep_of_a_cache_is_accepted_for_a_server_that_runs(text: str) -> None:
    found = re.search(r"SWEEP='([^']*)'", text)
    assert found is not None
    tasks, *others = shlex.split(found[1])
    for task in tasks.partition("=")[2].split(","):
        assert built("engine=vllm", "model=qwen", f"task={task}", *others).kv_policy.declared


STAND_IN = """
    import sys, time
    from tests.engines.fake_server import FakeServer, serving

    print(*sys.argv[1:], flush=True)
    fake = FakeServer(models=[{"id": sys.argv[2], "max_model_len": 1024}], routes={"/health": {}}, counts="/tokenize")
    with serving(fake, port=int(sys.argv[sys.argv.index("--port") + 1])):
        time.sleep(300)
"""


def rented(folder: Path, vllm: str, port: int) -> subprocess.CompletedProcess[str]:
    """What `run` does on a machine whose home is this folder, with a program of ours in the place of vLLM."""
    programs = {"vllm/bin/vllm": vllm, "contextcliff/bin/python": f'exec {sys.executable} "$@"'}
    for name, line in programs.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    values = {
        **TASK["secrets"],
        **TASK["envs"],
        "MODEL": "only-model",
        "OPTION": "served",
        "FLAGS": "--kv-cache-dtype fp8",
        "SWEEP": "task=niah,niah_multikey task.lengths=[300,600] kv_policy=fp8 kv_policy.declared=true"
        " reporting.figures=false reporting.progress=false",
        "TRACKING_URI": f"sqlite:///{folder}/mlflow.db",
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
    }
    return subprocess.run(
        ["bash", "-c", TASK["run"].replace("8000", str(port))],
        env={**os.environ, **{name: str(value) for name, value in values.items()}},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_rented_machine_runs_its_sweep_and_ends_its_server(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "stand_in.py").write_text(textwrap.dedent(STAND_IN))
    ran = rented(tmp_path, f'exec {sys.executable} {tmp_path / "stand_in.py"} "$@"', port)
    assert ran.returncode == 0, ran.stderr
    assert len(list((tmp_path / "outputs" / "contextcliff").glob("niah*/report.json"))) == 2
    assert "--max-model-len 32768 --kv-cache-dtype fp8" in (tmp_path / "vllm.log").read_text()
    with serving(FakeServer(), port=port) as again:
        assert again.address.endswith(str(port))
