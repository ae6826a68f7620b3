"""What `python -m contextcliff` says and loads before anything runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import SIMULATED, contextcliff, contextcliff_process, reports

HEAVY = "mlflow jinja2 matplotlib openai xllamacpp pandas scipy numpy statsmodels transformers".split()


def loaded_by(code: str) -> set[str]:
    """The modules that are loaded in the end."""
    told = subprocess.run(
        [sys.executable, "-c", f"import sys\ntry:\n    {code}\nfinally:\n    print('\\n' + ' '.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {*told.stdout.splitlines()[-1].split()}


def test_help_lists_groups_and_keys_and_loads_nothing_heavy(tmp_path: Path) -> None:
    done = contextcliff_process("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "how many tokens can a language model really be given?" in done.stdout
    for told in (
        "kv_policy: bf16, expected_attention",
        "llama_server, llamacpp, lmstudio",
        "threshold: 0.8",
        "trials: auto",
    ):
        assert told in done.stdout
    loaded = loaded_by("sys.argv = ['contextcliff', '--help']; from contextcliff.__main__ import main; main()")
    assert "hydra" in loaded
    assert loaded.isdisjoint({*HEAVY, "pydantic"})


@pytest.mark.slow
def test_a_user_without_a_home_and_a_name_runs_and_tracks(tmp_path: Path) -> None:
    code = "import pwd; pwd.getpwuid = {}.__getitem__; from contextcliff.__main__ import main; main()"
    small = ("engine=simulated", "reporting.console=none", "task.lengths=[512]", "task.trials=1", "task.depths=[0.5]")
    env = {key: value for key, value in os.environ.items() if key != "HOME" and not key.startswith("XDG_")}
    done = subprocess.run(
        [sys.executable, "-c", code, *small],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**env, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    (home,) = tmp_path.glob("contextcliff-*/.cache/..")
    assert done.returncode == 0
    assert f"warning: HOME is not set: caches go to {home.resolve()}; set HOME=FOLDER to keep them\n" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "mlruns").is_dir()
    assert (home / ".cache" / "contextcliff").is_dir()
    assert not (tmp_path / "~").exists()


A_RUN = (*SIMULATED, "reporting.figures=false", "reporting.html=false")
LOADED = {
    ("task.trials=0",): ({"pydantic"}, {*HEAVY}),
    A_RUN: ({"scipy"}, {*HEAVY} - {"scipy", "numpy", "jinja2", "transformers"} | {"scipy.stats"}),
}


@pytest.mark.parametrize("asked", LOADED, ids=["a refused one", "a run without figures and tracking"])
def test_a_command_loads_nothing_heavy_that_it_does_not_need(tmp_path: Path, asked: tuple[str, ...]) -> None:
    argv = ["contextcliff", *asked, f"output_dir={tmp_path}"]
    loaded = loaded_by(f"sys.argv = {argv!r}; from contextcliff.__main__ import main; main()")
    needed, heavy = LOADED[asked]
    assert needed <= loaded
    assert loaded.isdisjoint(heavy)


def test_the_engine_can_come_from_the_environment(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED[1:], cwd=tmp_path, env={"CONTEXTCLIFF_ENGINE": "simulated"})
    assert done.returncode == 0
    assert reports(tmp_path)[0]["engine"] == "simulated"


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_the_command_in_one_line_and_its_answers_are_kept(tmp_path: Path) -> None:
    quiet = ("reporting.progress=false", "reporting.figures=false")
    with subprocess.Popen(
        [sys.executable, "-m", "contextcliff", "engine=simulated", "tracking=none", "task.trials=2", *quiet],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(timeout=120) == 1
    assert said == "error: the reader of the output went away; what was answered is kept, the same command goes on\n"
    (report,) = reports(tmp_path)
    assert report["counts"]["completed"] == report["counts"]["planned"]
