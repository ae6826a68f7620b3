"""Every shipped experiment is in the README, runs as it is, and says in one line what it lacks."""

from __future__ import annotations

import json
import re
from math import prod
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from contextcliff.composing import conf_dir
from tests.commands import QUIET, SIMULATED, contextcliff, reports
from tests.compositions import ON_THE_HUB, composed

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS = sorted(file.stem for file in (conf_dir() / "experiment").glob("*.yaml"))
SWEEPS_LONG = ("full", "needle_family", "rope_vs_full", "ruler", "ruler_quick")
"""Experiments whose simulated run takes half a minute: many jobs, or measures of prose."""
RUN = [
    pytest.param(name, marks=pytest.mark.slow) if name in SWEEPS_LONG else name
    for name in EXPERIMENTS
    if name != "calibration"  # which runs no model: tests/actions/test_calibrate.py
]
FULL = OmegaConf.load(conf_dir() / "experiment" / "full.yaml").hydra.sweeper.params


def run_of(experiment: str, *overrides: str, cwd: Path) -> dict[str, Any]:
    done = contextcliff(f"experiment={experiment}", *SIMULATED, *overrides, cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    (report,) = reports(cwd)
    return report


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_table_of_experiments_in_the_readme_has_it(experiment: str) -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Experiments\n")[2].partition("\n## ")[0]
    assert re.findall(rf"^\| `{experiment}` \|", table, flags=re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("experiment", RUN)
def test_it_runs_on_a_simulated_model(tmp_path: Path, experiment: str) -> None:
    config = OmegaConf.load(conf_dir() / "experiment" / f"{experiment}.yaml")
    swept = {
        key: str(values).split(",")
        for key, values in OmegaConf.select(config, "hydra.sweeper.params", default={}).items()
    }
    tasks = [task for task in swept.get("task", []) if task not in ON_THE_HUB]
    here = [] if tasks == swept.get("task", []) else [f"task={','.join(tasks)}"]
    done = contextcliff(f"experiment={experiment}", *SIMULATED, *here, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(reports(tmp_path)) == prod(len(tasks) if key == "task" else len(values) for key, values in swept.items())


def test_an_experiment_that_needs_a_key_says_which(tmp_path: Path) -> None:
    no_keys = dict.fromkeys(("GEMINI_API_KEY", "GOOGLE_API_KEY", "API_KEY", "API_PASSWORD"), "")
    done = contextcliff("experiment=gemini_niah", *QUIET, cwd=tmp_path, env=no_keys)
    assert (done.stdout, done.returncode) == ("", 2)
    assert done.stderr == (
        "error: engine.api_key_env: generativelanguage.googleapis.com needs a key, and none of GEMINI_API_KEY, "
        "GOOGLE_API_KEY, API_KEY, API_PASSWORD is set; export one, or give the name of the variable that holds it with "
        "engine.api_key_env=NAME\n"
    )


@pytest.mark.slow
def test_quick_gives_a_model_that_is_mostly_right_its_1024_tokens(tmp_path: Path) -> None:
    found = run_of("quick", "engine.law=flat", "engine.ceiling=1.0", cwd=tmp_path)
    assert [(one["n_samples"], one["mean"]) for one in found["bins"]] == [(22, 1.0)] * 3
    assert (found["safe_cap"]["tokens"], found["safe_cap"]["censored"]) == (found["bins"][-1]["max_tokens"], True)


@pytest.mark.slow
def test_context_rot_in_japanese_asks_for_the_half_life_in_japanese(tmp_path: Path) -> None:
    found = run_of("context_rot_ja", "engine.law=slope", "engine.cliff_tokens=12000", cwd=tmp_path)
    assert [one["n_samples"] for one in found["bins"]] == [15] * 3
    assert found["half_life"]["tokens"] is not None
    lines = [json.loads(line) for line in next(tmp_path.rglob("samples.jsonl")).read_text("utf-8").splitlines()]
    assert {line["context_tokens"] for line in lines} == {2000, 4000, 8000}
    assert {line["depth"] for line in lines} == {0.0, 0.25, 0.5, 0.75, 1.0}
    assert {line["question"] for line in lines} == {"今日のラッキーアイテムは何ですか。"}
    assert len({line["prompt_sha256"] for line in lines}) == len(lines)
    assert composed("experiment=context_rot_ja").reporting.language == "ja"


@pytest.mark.slow
@pytest.mark.parametrize("key", [key for key in FULL if key.startswith("++")])
def test_full_brings_no_key_that_none_of_its_tasks_has(key: str) -> None:
    name = key.removeprefix("++task.")
    assert [task for task in FULL.task.split(",") if name in composed(f"task={task}").task]
