"""A launcher whose package is missing names the extra that brings it."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from contextcliff.command_line.jobs import JobFailed
from tests.commands import contextcliff_process

# As in an environment where no plugin of Hydra is installed.
_WITHOUT_PLUGINS = """
import sys, types
sys.modules["hydra_plugins"] = plugins = types.ModuleType("hydra_plugins")
plugins.__path__ = []
from contextcliff.__main__ import main
main()
"""
EXTRAS = {"ray": "ray", "ray_aws": "ray", "submitit_local": "slurm", "submitit_slurm": "slurm"}


@pytest.mark.slow
@pytest.mark.parametrize(("launcher", "extra"), EXTRAS.items())
def test_a_launcher_that_is_not_installed_names_its_extra(tmp_path: Path, launcher: str, extra: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_PLUGINS, f"hydra/launcher={launcher}", "seed=1,2"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stderr == (
        f"error: hydra/launcher={launcher}: not installed; run pip install 'contextcliff[{extra}]'\n"
    )
    assert (done.stdout, done.returncode) == ("", 2)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("srun") is not None, reason="a Slurm cluster is here")
def test_a_launcher_that_finds_no_cluster_says_so_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    done = contextcliff_process("engine=simulated", "hydra/launcher=submitit_slurm", "seed=1,2", cwd=tmp_path)
    assert done.stderr == (
        'error: hydra/launcher=submitit_slurm: Could not detect "srun", are you indeed on a slurm cluster?; '
        "HYDRA_FULL_ERROR=1 shows where\n"
    )
    assert (done.stdout, done.returncode) == ("", 1)


def test_every_extra_that_is_named_is_one_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS.values()) <= set(project["optional-dependencies"])


def test_a_failure_of_another_process_brings_its_line_home() -> None:
    """Joblib and submitit hand exceptions over pickled; a job on a cluster writes its stderr elsewhere."""
    failed = pickle.loads(pickle.dumps(JobFailed(2, "task.trials=0: must be greater than 0")))
    assert (failed.code, failed.unseen_message) == (2, "task.trials=0: must be greater than 0")
