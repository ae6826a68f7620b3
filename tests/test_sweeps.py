"""A sweep is one thing: a run over the runs of its jobs, a table at its end, and the same again when it is repeated."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands import SIMULATED, contextcliff, ended, started, tracked_runs

if TYPE_CHECKING:
    from mlflow.entities import Run


from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.leaderboard import change_words

SHORT = (
    *("engine=simulated", "dataset=synthetic", "task.lengths=[512,1024]", "task.depths=[0.0,0.5,1.0]"),
    *("reporting.progress=false", "reporting.figures=false"),
)
QUIET = (*SHORT, "reporting.console=none")
CARD = ("model=smollm2,qwen3_4b", "task=niah,tracing", "++task.trials=8")


def parents(folder: Path) -> list[Run]:
    return [run for run in tracked_runs(folder) if run.data.tags.get("kind") == "sweep"]


def children(folder: Path) -> list[Run]:
    return [run for run in tracked_runs(folder) if "mlflow.parentRunId" in run.data.tags]


def leaderboard(folder: Path) -> dict[str, Any]:
    (file,) = folder.rglob("sweeps/*/leaderboard/leaderboard.json")
    read: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return read


def points(folder: Path, run: Run, key: str) -> list[tuple[int, float]]:
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{folder}/mlruns/mlflow.db")
    return [(each.step, each.value) for each in client.get_metric_history(run.info.run_id, key)]


def rows(folder: Path) -> list[dict[str, Any]]:
    table = leaderboard(folder)
    return [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("swept")
    return folder, contextcliff(*CARD, *SHORT, cwd=folder)


def test_a_sweep_is_one_run_over_the_runs_of_its_jobs(swept: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, done = swept
    assert (done.returncode, done.stderr) == (0, "")
    (parent,) = parents(folder)
    assert parent.info.run_name == "sweep · smollm2, qwen3_4b · niah, tracing (simulated)"
    assert parent.info.status == "FINISHED"
    metrics = parent.data.metrics
    assert {name: metrics[f"jobs/{name}"] for name in ("planned", "ended", "failed")} == {
        "planned": 4.0,
        "ended": 4.0,
        "failed": 0.0,
    }
    means = json.loads(next(folder.rglob("mean_over_tasks.json")).read_text(encoding="utf-8"))["means"]
    (smollm2,) = (each for each in means if each["model"].startswith("SmolLM2"))
    assert points(folder, parent, "mean_over_tasks/SmolLM2-135M-Instruct simulated/mean") == [
        (each["asked_tokens"], each["mean"]) for each in smollm2["points"]
    ]
    below = children(folder)
    assert {run.data.tags["mlflow.parentRunId"] for run in below} == {parent.info.run_id}
    assert sorted(str(run.info.run_name) for run in below) == [
        f"{model} (simulated) · {task} · f16" for model in ("qwen3_4b", "smollm2") for task in ("niah", "tracing")
    ]
    assert {run.info.status for run in below} == {"FINISHED"}
    assert all(run.info.start_time >= parent.info.start_time for run in below)


def test_the_leaderboard_has_a_row_for_each_job_and_is_a_file_of_the_sweeps_run(
    swept: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    from mlflow.tracking import MlflowClient

    folder, _ = swept
    table = rows(folder)
    assert [(row["task"], row["state"]) for row in table] == [("niah", "done")] * 2 + [("tracing", "done")] * 2
    assert all(row["safe_cap_tokens"] and row["tokens"] and row["samples"] == 48 for row in table)
    (parent,) = parents(folder)
    client = MlflowClient(tracking_uri=f"sqlite:///{folder}/mlruns/mlflow.db")
    names = {file.path for file in client.list_artifacts(parent.info.run_id)}
    assert {"leaderboard.json", "leaderboard.html", "leaderboard.csv", "leaderboard.md"} <= names
    assert json.loads(parent.data.tags["mlflow.loggedArtifacts"]) == [{"path": "leaderboard.json", "type": "table"}]
    assert "4 of 4 jobs ended" in parent.data.tags["mlflow.note.content"]


def test_the_console_ends_with_one_table_of_caps(swept: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    _, done = swept
    end = done.stdout[done.stdout.rindex("sweep · ") :]
    assert end.startswith("sweep · smollm2, qwen3_4b · niah, tracing (simulated): 4 of 4 jobs, 0 failed")
    for row in rows(swept[0]):
        assert f"{row['safe_cap_tokens']:,}" in end
    assert "leaderboard: outputs/contextcliff/sweeps/" in end
    (sweep,) = swept[0].rglob("sweep.json")
    assert end.splitlines()[-1] == f"in MLflow: contextcliff ui --view sweep-{sweep.parent.name}"  # no page is open


@pytest.mark.slow
def test_the_same_sweep_again_asks_nothing_and_stays_in_its_run(tmp_path: Path) -> None:
    for _ in range(2):
        assert contextcliff(*CARD, *QUIET, cwd=tmp_path).returncode == 0
    (parent,) = parents(tmp_path)
    assert len(children(tmp_path)) == 4
    assert {run.data.metrics["took/reused"] for run in children(tmp_path)} == {0.0}
    assert parent.info.status == "FINISHED"
    assert len(list(tmp_path.rglob("sweep.json"))) == 1


def test_a_job_that_fails_leaves_the_others_and_says_why(tmp_path: Path) -> None:
    done = contextcliff("task=niah", "task.trials=0,2", *SHORT, cwd=tmp_path)
    assert done.returncode == 2
    why = "task.trials=0: must be greater than 0 or 'auto'"
    assert done.stderr == f"error: {why}\n"
    (parent,) = parents(tmp_path)
    assert parent.info.status == "FAILED"
    assert parent.data.metrics["jobs/failed"] == 1.0
    assert why in parent.data.tags["mlflow.note.content"]
    (failed,) = (row for row in rows(tmp_path) if row["state"] == "failed")
    assert failed["error"] == why
    assert sorted(row["options"] for row in rows(tmp_path)) == ["task.trials=0", "task.trials=2"]
    assert why in " ".join(done.stdout[done.stdout.rindex("sweep · ") :].split())
    assert [run.info.status for run in children(tmp_path)] == ["FINISHED"]


@pytest.mark.slow
def test_a_plan_of_a_sweep_has_one_total(tmp_path: Path) -> None:
    done = contextcliff("action=plan", *CARD, *SHORT, "tracking=none", cwd=tmp_path)
    assert done.returncode == 0
    last = " ".join(done.stdout.splitlines()[-4:])
    assert "ALL 4 JOBS: 192 requests (0 samples are stored)" in " ".join(last.split())
    assert not list(tmp_path.rglob("sweep.json"))


@pytest.mark.slow
def test_two_sweeps_that_begin_at_once_are_two_and_one_that_is_begun_twice_is_one(tmp_path: Path) -> None:
    """Started in the same moment, in processes of their own, on one store."""
    begun = [
        started(tmp_path, "model=smollm2,qwen3_4b", f"task={task}", "task.trials=2", *QUIET)
        for task in ("niah", "niah", "tracing")
    ]
    assert [ended(process)[0] for process in begun] == [0, 0, 0]
    assert len(parents(tmp_path)) == 2
    names = [run.info.run_name for run in children(tmp_path)]
    assert len(names) == len(set(names)) == 4


def test_a_sweep_whose_weights_cannot_be_fetched_says_the_way_out_once(tmp_path: Path) -> None:
    asked = ("model=qwen,glm", "task=niah,tracing", "tracking=none", "reporting.progress=false")
    done = contextcliff(*asked, cwd=tmp_path, env={"HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9"})
    assert done.returncode == 1
    said = " ".join(f"{done.stdout} {done.stderr}".split())
    for help_ in ("engine.base_url=", "engine=simulated", "model=smollm2"):
        assert said.count(help_) == 1
    assert done.stderr.count("Qwen3-8B-Q4_K_M.gguf can't be fetched") == 1
    assert "jobs 1 and 2 (niah, Qwen3-8B, f16; tracing, Qwen3-8B, f16) failed: model.gguf.repo=" in said
    assert done.stderr.splitlines()[-1].startswith("Where weights can't be fetched: ")


def test_a_hostile_error_is_escaped_in_the_page(tmp_path: Path) -> None:
    from contextcliff.records.sweep import SweepRow
    from contextcliff.reporting.leaderboard import described, write_leaderboard
    from contextcliff.reporting.stored_sweeps import StoredSweep

    row = SweepRow(job=0, model="<script>m", task="t|x", kv_policy="none", state="failed", error="<img src=x>\x1b[2J")
    sweep = StoredSweep(sweep_id="a", name="<b>", command="c", overrides=(), n_jobs=1, began_at="")
    write_leaderboard([row], sweep, folder=tmp_path)
    shown = (tmp_path / "leaderboard.html").read_text("utf-8")
    assert "<script>" not in shown
    assert "<img" not in shown
    assert "<b>" not in shown
    assert "&lt;script&gt;m" in shown
    assert "t\\|x" in described([row], n_jobs=1, command="c")


@pytest.mark.slow
def test_a_sweep_over_files_uploads_their_names_and_no_folder(tmp_path: Path) -> None:
    place = tmp_path / "home of alice"
    place.mkdir()
    for name in ("one.txt", "two.txt"):
        (place / name).write_text("The tide went out and came in again. " * 400, encoding="utf-8")
    files = ",".join(f"'{place / name}'" for name in ("one.txt", "two.txt"))
    asked = tuple(each for each in QUIET if not each.startswith("dataset="))
    done = contextcliff("task=niah", "task.trials=1", f"dataset.path={files}", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (parent,) = parents(tmp_path)
    assert parent.info.run_name == "sweep · one.txt, two.txt (simulated)"
    for file in (tmp_path / "mlruns").rglob("*"):
        assert not file.is_file() or b"home of alice" not in file.read_bytes(), file
    assert [row["options"] for row in rows(tmp_path)] == ["dataset.path=one.txt", "dataset.path=two.txt"]


COMPARED = ("task=niah,tracing", "kv_policy=none,q8_0", "dataset=synthetic", "task.trials=1", "reporting.compare=true")


def compared(folder: Path) -> list[list[str]]:
    """Task and policy of the runs of each comparison."""
    files = sorted((folder / "outputs").glob("*/comparisons/*/comparison.json"))
    runs = [json.loads(file.read_text(encoding="utf-8"))["runs"] for file in files]
    return [sorted(f"{run['task']} {run['parameters']['kv_policy']}" for run in each) for each in runs]


def test_a_sweep_that_is_logged_says_its_job_each_length_and_each_part_of_the_end(tmp_path: Path) -> None:
    done = contextcliff(
        "kv_policy=q8_0,none", *SIMULATED, "task.lengths=[512]", "task.trials=1", "reporting.progress=true",
        "reporting.html=true", cwd=tmp_path,
    )  # fmt: skip
    lines = done.stderr.splitlines()
    assert done.returncode == 0
    assert [line.partition(" · ")[0] for line in lines if line.startswith("job ")] == ["job 1/2", "job 2/2"]
    first = lines[lines.index(next(line for line in lines if line.startswith("job 1/2"))) :]
    assert first[1] == "512 tokens: mean score 1.00, 11 samples"
    assert [line for line in first if line in PARTS][:2] == list(PARTS)


PARTS = ("analysing", "writing the report's page")
"""Without figures and tracking."""


@pytest.mark.slow
def test_each_task_of_a_sweep_has_a_comparison_of_its_own(tmp_path: Path) -> None:
    assert contextcliff(*COMPARED, *SIMULATED, cwd=tmp_path).returncode == 0
    assert compared(tmp_path) == [["niah f16", "niah q8_0"], ["tracing f16", "tracing q8_0"]]


RUN = ("engine=simulated", "tracking=none", "reporting.progress=false", "reporting.figures=false", "task.lengths=[512]")
REASON = "\n  Reason: "


def told(folder: Path, *overrides: str) -> str:
    done = contextcliff(*RUN, *overrides, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_summary_is_the_cap_with_its_reason_and_where_the_report_lies(tmp_path: Path) -> None:
    lines = told(tmp_path, "reporting.console=summary").splitlines()
    assert lines[0].startswith("SAFE CAP: ")
    assert lines[1].startswith("  Reason: ")
    assert lines[-1].startswith("Report: outputs/contextcliff/niah-")
    assert len(lines) < 12


def test_none_is_silent(tmp_path: Path) -> None:
    assert told(tmp_path, "reporting.console=none") == ""


@pytest.mark.slow
def test_a_sweep_says_its_table_alone_and_its_jobs_where_they_are_asked_to(tmp_path: Path) -> None:
    swept = ("seed=1,2", "task.trials=1")
    table = told(tmp_path, *swept)
    assert REASON not in table
    assert "2 of 2 jobs, 0 failed" in table
    full = told(tmp_path, *swept, "reporting.console=full")
    assert full.count(REASON) == 2
    assert "2 of 2 jobs, 0 failed" in full


def row(job: int, cap: int | None, below: int | None = None, *, task: str = "niah", censored: bool = False) -> SweepRow:
    return SweepRow(
        job=job, model="m", task=task, kv_policy="none", state="done", cap_tokens=cap, crossing_high=below,
        censored=censored,
    )  # fmt: skip


def test_a_cap_stands_beside_that_of_the_first_job_of_its_task_where_they_are_shown_to_differ() -> None:
    rows = (
        *(row(2, 860, 990), row(0, 1000, 1200), row(1, 1000, 1100), row(3, None), row(4, 500, task="tracing")),
        *(row(5, 1250, 1300), row(6, 860, 1001), row(7, 860), row(8, 1190, 1300)),
    )
    assert [change_words(each, rows) for each in rows] == [
        *("-14%", "first", "same", "", "first", "+25%", "not shown", "not shown", "not shown")
    ]
