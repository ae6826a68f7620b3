"""Hydra's flags, an unknown one with the override to write, flags anywhere, and completion in bash."""

from __future__ import annotations

import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

from tests.commands import SIMULATED, contextcliff, contextcliff_process, reports
from tests.compositions import line_of

NONE = "unknown flag; keys have no dashes: write KEY=VALUE (see --help)"
NO_FLAG = {
    ("--model", "qwen"): f"--model: {NONE}",
    ("--model=qwen", "seed=1"): f"--model: {NONE}",
    ("seed=1", "-x"): f"-x: {NONE}",
    ("--helpp",): f"--helpp: {NONE}",
    ("--conf", "x"): "ambiguous option: --conf could match --config-path, --config-name, --config-dir; see --help",
    ("--cfg",): "--cfg/-c: expected one argument; see --help",
    ("--cfg", "nope"): "--cfg/-c: invalid choice: nope (choose from job, hydra, all); see --help",
    ("--multirun", "--cfg", "job"): "--multirun and --cfg: exclude each other; give one of them",
    ("--resolve",): "--resolve: works only with --cfg job; write --cfg job --resolve",
    ("--package", "task"): "--package: works only with --cfg job; write --cfg job --package",
}


@pytest.mark.parametrize(("arguments", "line"), NO_FLAG.items(), ids=map(" ".join, NO_FLAG))
def test_a_flag_that_is_none_is_one_line(arguments: tuple[str, ...], line: str) -> None:
    assert line_of(*arguments).replace("'", "") == line  # Python 3.12 puts none round choices


def test_a_flag_that_shows_one_job_is_refused_in_a_sweep(tmp_path: Path) -> None:
    done = contextcliff("--cfg", "job", "task=niah,qa", cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("", 2)
    assert done.stderr == "error: --cfg: shows one job; give each key one value\n"


def test_the_version_is_ours_with_hydras_beside_it(tmp_path: Path) -> None:
    done = contextcliff("--vers", cwd=tmp_path)
    hydra = metadata.version("hydra-core")
    assert done.stdout == f"contextcliff {metadata.version('contextcliff')} (Hydra {hydra})\n"
    assert (done.stderr, done.returncode) == ("", 0)


SHOWN = {
    ("--hydra-help",): "Hydra",
    ("--cfg", "job", "--resolve", "-p", "task"): "trials: auto",
    ("task=qa", "--cfg", "job", "task.repeats=7"): "repeats: 7",
    ("--info", "searchpath"): "Config search path",
    ("--shell-completion", "install=bash"): "complete",
}


@pytest.mark.parametrize(("arguments", "line"), SHOWN.items(), ids=map(" ".join, SHOWN))
def test_hydras_flags_show_what_they_show(tmp_path: Path, arguments: tuple[str, ...], line: str) -> None:
    done = contextcliff(*arguments, cwd=tmp_path)
    assert line in done.stdout
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_package_that_is_not_there_is_a_wrong_configuration(tmp_path: Path) -> None:
    done = contextcliff("--cfg", "job", "--package", "nope", cwd=tmp_path)
    assert (done.stderr, done.returncode) == ("package 'nope' not found in config\n", 2)


@pytest.mark.parametrize("flag", ["--multirun", "-r"])
def test_a_run_takes_overrides_on_both_sides_of_a_flag(tmp_path: Path, flag: str) -> None:
    small = ("task.lengths=[256]", "task.depths=[0.5]", "task.trials=1")
    done = contextcliff(*SIMULATED, flag, *small, cwd=tmp_path)
    assert (done.stderr, done.returncode) == ("", 0)
    assert len(reports(tmp_path)) == 1


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("contextcliff experiment=qu", "experiment=quick"),
        ("contextcliff kv_policy=q8", "kv_policy=q8_0"),
        ("contextcliff task=niah,tracing task.max_tr", "task.max_trials="),
        ("contextcliff 'task.lengths=[1024,2048]' dataset=syn", "dataset=synthetic"),
        ("contextcliff ui tracking.exp", "tracking.experiment="),
        (".venv/bin/contextcliff action=pl", "action=plan"),
        ("contextcliff nonsense.", ""),
        ("contextcliff ui", ""),
        ("contextcliff a=[b task.max_tr", ""),
    ],
)
def test_a_line_is_completed_without_a_word_on_stderr(tmp_path: Path, line: str, offered: str) -> None:
    done = contextcliff("--shell-completion", "query=bash", cwd=tmp_path, env={"COMP_LINE": line})
    assert (done.stdout.strip(), done.stderr) == (offered, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_takes_what_is_installed_and_leaves_the_completion_of_python_alone(tmp_path: Path) -> None:
    script = contextcliff_process("--shell-completion", "install=bash", cwd=tmp_path)
    assert (script.stderr, script.returncode) == ("", 0)
    shown = subprocess.run(
        ["bash", "--norc", "-c", f"{script.stdout}\ncomplete -p"], capture_output=True, text=True, check=True
    )
    assert shown.stdout == "complete -o default -o nospace -F hydra_bash_completion contextcliff\n"
    assert shown.stderr == ""
