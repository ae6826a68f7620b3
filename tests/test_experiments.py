"""Every shipped experiment is in the README, runs as it is, and says what it lacks; RULER's end with a mean."""

from __future__ import annotations

import csv
import json
import re
from math import prod
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from contextcliff.analysis.task_means import TaskMeans, task_means
from contextcliff.composing import conf_dir
from contextcliff.reporting.leaderboard import means_cells, sentences, title
from tests.analysis.test_task_means import PERFECT, N, row
from tests.commands import DRAWN, SIMULATED, contextcliff, reports
from tests.compositions import ON_THE_HUB, built, composed

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


LENGTHS = [4_096, 8_192, 16_384, 32_768, 65_536, 131_072]


@pytest.mark.parametrize(
    ("experiment", "task", "trials"),
    [("ruler", "niah", 2), ("ruler", "aggregation", 20), ("ruler", "tracing", 4), ("ruler_quick", "niah", 2)],
)
def test_samples_at_a_length_are_alike_however_many_depths_a_task_has(experiment: str, task: str, trials: int) -> None:
    config = composed(f"experiment={experiment}", f"task={task}")
    assert list(config.task.lengths) == (LENGTHS if experiment == "ruler" else LENGTHS[::2])
    assert config.beyond_window == "fit"
    assert built(f"experiment={experiment}", f"task={task}").analysis.threshold == 0.856
    depths = len(config.task.get("depths") or [None])
    assert config.task.trials == trials
    assert 20 <= trials * depths < 20 + depths


@pytest.mark.slow
def test_a_sweep_of_several_tasks_ends_with_their_mean(tmp_path: Path) -> None:
    """The experiment's own sweep over tasks that are quick to build."""
    asked = ("task=tracing,aggregation", "task.lengths=[1024,2048,4096]", "model.context_window=4096")
    ended = contextcliff(
        "experiment=ruler", *asked, *SIMULATED, *DRAWN, "reporting.console=summary", "engine.cliff_tokens=3000",
        cwd=tmp_path,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    (folder,) = tmp_path.glob("outputs/*/sweeps/*/leaderboard")
    (means,) = json.loads((folder / "mean_over_tasks.json").read_text("utf-8"))["means"]
    assert means["tasks"] == ["tracing", "aggregation"]
    assert [point["asked_tokens"] for point in means["points"]] == [1_024, 2_048, 3_896]
    assert (means["effective_tokens"], means["cap_tokens"], means["threshold"]) == (2_048, 2_048, 0.856)
    rows = list(csv.DictReader((folder / "mean_over_tasks.csv").read_text("utf-8").splitlines()))
    assert [row["asked_tokens"] for row in rows] == ["1024", "2048", "3896"]
    assert (folder / "mean_over_tasks.png").stat().st_size > 1_000
    for text in (
        ended.stdout,
        (folder / "leaderboard.md").read_text("utf-8"),
        (folder / "leaderboard.html").read_text(),
    ):
        assert "Mean over 2 tasks: " in text
        assert "RULER" in text


def of(*right: dict[int, int]) -> TaskMeans:
    (means,) = task_means([row(job, f"t{job}", each) for job, each in enumerate(right)])
    return means


def test_what_is_said_of_a_mean() -> None:
    means = of(PERFECT, {4_096: N, 8_192: 20})
    assert title(means) == "Mean over 2 tasks: m, KV policy none"
    assert means_cells(means) == [
        ("4,096", "1.000", "0.947-1.000", "2"),
        ("8,192", "0.955", "0.881-1.000", "2"),
        ("16,384", "", "", "1 of 2"),
    ]
    assert sentences(means) == (
        "effective length (the mean exceeds 0.856 up to it, RULER's rule): at least 8,192",
        "cap at 95% confidence (the interval of the mean is above 0.856 up to it): at least 8,192",
        "no mean at 16,384, since not every task was asked there: with a fixed number of samples (task.trials) each is "
        "asked at every length",
    )
    below = sentences(of({4_096: 10}, {4_096: 10}))
    assert below == (
        "effective length (the mean exceeds 0.856 up to it, RULER's rule): less than 4,096",
        "cap at 95% confidence (the interval of the mean is above 0.856 up to it): below",
    )
