"""Every shipped experiment is in the README, runs as it is, and says in one line what it lacks."""

from __future__ import annotations

import re
from math import prod
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from contextcliff.composing import conf_dir
from tests.commands import SIMULATED, contextcliff, reports
from tests.compositions import ON_THE_HUB

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS = sorted(file.stem for file in (conf_dir() / "experiment").glob("*.yaml"))


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_table_of_experiments_in_the_readme_has_it(experiment: str) -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Experiments\n")[2].partition("\n## ")[0]
    assert re.findall(rf"^\| `{experiment}` \|", table, flags=re.MULTILINE)


@pytest.mark.slow
# A calibration runs no model: tests/actions/test_calibrate.py.
@pytest.mark.parametrize("experiment", [name for name in EXPERIMENTS if name != "calibration"])
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
