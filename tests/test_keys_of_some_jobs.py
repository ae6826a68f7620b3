"""`++KEY=VALUE` in a sweep over options with different keys: set where it exists, said where it doesn't."""

from __future__ import annotations

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from tests.commands import SIMULATED, contextcliff, reports

SMALL = ("task=niah,continuation", "++task.lengths=[512]", "++task.max_tokens=64")


def tasks_of(folder: Path) -> dict[str, dict[str, object]]:
    """The task section of every run's own configuration, by task."""
    tasks = {}
    for file in folder.rglob("config.yaml"):
        tasks[file.parent.name.partition("-")[0]] = dict(OmegaConf.load(file).task)
    return tasks


SIDE_BY_SIDE = pytest.param(("hydra/launcher=joblib",), id="side by side", marks=pytest.mark.slow)


@pytest.mark.parametrize("launcher", [pytest.param((), id="one after another"), SIDE_BY_SIDE])
def test_a_key_is_set_in_the_jobs_that_have_it(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    done = contextcliff(*launcher, *SIMULATED, *SMALL, "++task.trials=1", "++task.rounds=2", cwd=tmp_path)
    assert done.returncode == 0
    assert sorted(done.stderr.splitlines()) == [
        "note: task.max_tokens: task=niah has no such key, and goes without it",
        "note: task.rounds: task=niah has no such key, and goes without it",
        "note: task.trials: task=continuation has no such key, and goes without it",
    ]
    tasks = tasks_of(tmp_path)
    assert (tasks["niah"]["trials"], tasks["continuation"]["rounds"]) == (1, 2)
    assert "rounds" not in tasks["niah"]
    assert "trials" not in tasks["continuation"]
    assert len(reports(tmp_path)) == 2


@pytest.mark.slow
def test_an_experiment_that_sweeps_takes_it_too_and_any_key_where_a_section_takes_any(tmp_path: Path) -> None:
    done = contextcliff(
        *SIMULATED, "experiment=needle_family", "hydra.sweeper.params.task='niah,tracing'", "task.lengths=[512]",
        "task.trials=1", "++task.hops=1", "++model.extra_body.seedless=true", cwd=tmp_path,
    )  # fmt: skip
    assert (done.stderr, done.returncode) == ("note: task.hops: task=niah has no such key, and goes without it\n", 0)
    assert tasks_of(tmp_path)["tracing"]["hops"] == 1


@pytest.mark.slow
def test_a_misspelt_nested_key_fails_the_job_that_has_the_section(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, "task=niah,niah_multi", "++task.needle.valu=uuid", "task.trials=1", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: task.needle.valu: unknown key; did you mean task.needle.value?",
        "note: task.needle.valu: task=niah_multi has no such key, and goes without it",
    ]
