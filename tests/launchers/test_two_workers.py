"""A sweep of two models and two tasks on two workers of each launcher: all runs in one sweep, none lost."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.commands import contextcliff_process, reports, tracked_runs

LAUNCHERS = {
    "joblib": ("hydra_plugins.hydra_joblib_launcher", ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")),
    "submitit": (
        "hydra_plugins.hydra_submitit_launcher",
        ("hydra/launcher=submitit_local", "hydra.launcher.timeout_min=10"),
    ),
    "ray": (
        "hydra_plugins.hydra_ray_launcher",
        (
            "hydra/launcher=ray",
            "+hydra.launcher.ray.init.num_cpus=2",
            "+hydra.launcher.ray.init.include_dashboard=false",
        ),
    ),
}
SWEEP = (
    *("engine=simulated", "dataset=synthetic", "model=smollm2,qwen3_4b", "task=niah,tracing"),
    *("task.lengths=[512,1024]", "reporting.figures=false", "reporting.console=none"),
)
pytestmark = pytest.mark.slow


def of_launcher(name: str) -> tuple[str, ...]:
    package, overrides = LAUNCHERS[name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: make test-all brings it")
    return overrides


@pytest.fixture(params=sorted(LAUNCHERS))
def launcher(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return of_launcher(request.param)


def swept(folder: Path, *overrides: str) -> str:
    """What a sweep that ends well says on stderr."""
    done = contextcliff_process(*SWEEP, *overrides, cwd=folder, timeout_s=400)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, done.stderr
    return done.stderr


def assert_one_sweep(folder: Path) -> None:
    assert len(reports(folder / "outputs")) == 4
    (parent,) = (run for run in tracked_runs(folder) if run.data.tags.get("kind") == "sweep")
    jobs = [run for run in tracked_runs(folder) if run.data.tags.get("kind") != "sweep"]
    assert [run.info.status for run in (parent, *jobs)] == ["FINISHED"] * 5
    assert parent.data.metrics["jobs/ended"] == 4.0
    assert {run.data.tags.get("mlflow.parentRunId") for run in jobs} == {parent.info.run_id}
    assert len({run.info.run_name for run in jobs}) == 4


def test_all_runs_lie_under_one_sweep(launcher: tuple[str, ...], tmp_path: Path) -> None:
    assert swept(tmp_path, *launcher).count("of 4 jobs ended") == 4, "one progress for all jobs"
    assert_one_sweep(tmp_path)


def test_a_worker_without_the_variables_of_the_sweeping_process_still_knows_its_sweep(tmp_path: Path) -> None:
    """As on another machine of a cluster: the note of the sweep goes with the job, not with the environment."""
    bare = "+hydra.launcher.ray.init.runtime_env.env_vars={CONTEXTCLIFF_SWEEP_DIR: '', CONTEXTCLIFF_JOBS_DIR: ''}"
    swept(tmp_path, *of_launcher("ray"), bare)
    assert_one_sweep(tmp_path)
