"""Tab completion in bash: of `contextcliff`, with a comma that sweeps, and in silence where nothing fits."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.commands import contextcliff, contextcliff_process

ASKED = ("--shell-completion", "query=bash")


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
    done = contextcliff(*ASKED, cwd=tmp_path, env={"COMP_LINE": line})
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
