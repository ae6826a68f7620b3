"""`action=analyze run=…`: a stored run is analysed again by its folder or id, without its overrides."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.commands import QUIET, SIMULATED, folders, refused, run

ASKED = ("dataset=synthetic", "task.lengths=[512,1024]", "task.trials=1")
RUN = (*SIMULATED, *ASKED)
ANALYZE = ("action=analyze", *QUIET)


def report(folder: Path, name: str) -> dict[str, Any]:
    file = folder / "outputs" / "contextcliff" / name / "report.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run, in a sweep of one job with a label."""
    folder = tmp_path_factory.mktemp("made")
    run(folder, *RUN, "label=tuned", "sampling.max_tokens=24")
    return folder


@pytest.fixture
def one(made: Path, tmp_path: Path) -> tuple[Path, str]:
    """A copy of it, and the name of its folder."""
    shutil.copytree(made, tmp_path / "work")
    (name,) = folders(made)
    return tmp_path / "work", name


@pytest.fixture(scope="module")
def again(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with the run analysed by another rule."""
    folder = tmp_path_factory.mktemp("again") / "work"
    shutil.copytree(made, folder)
    run(folder, *ANALYZE, f"run=outputs/contextcliff/{folders(made)[0]}", "analysis.threshold=0.9")
    return folder


def test_a_folder_stands_for_the_overrides_that_its_run_was_recorded_with(made: Path, again: Path) -> None:
    (name,) = folders(made)
    before, after = report(made, name), report(again, f"{name}-threshold-0.9")
    assert after["safe_cap"]["threshold"] == 0.9
    assert (after["run_id"], after["label"]) == (name, "tuned")
    same = ("bins", "fingerprint", "model", "engine", "kv_policy", "rope", "dataset", "dataset_kind", "tokenizer")
    assert [after[key] for key in (*same, "server", "usage")] == [before[key] for key in (*same, "server", "usage")]
    assert report(again, name) == before
    there, here = (
        json.loads((again / "outputs" / "contextcliff" / each / "manifest.json").read_text("utf-8"))["configuration"]
        for each in (name, f"{name}-threshold-0.9")
    )
    assert {key for key in there if there[key] != here.get(key)} == {"action._target_", "analysis.threshold"}


def test_the_store_is_found_from_the_folder_wherever_one_stands(one: tuple[Path, str], tmp_path: Path) -> None:
    folder, name = one
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run(elsewhere, *ANALYZE, f"run={folder}/outputs/contextcliff/{name}", "analysis.threshold=0.9")
    assert folders(folder) == [name, f"{name}-threshold-0.9"]
    assert list(elsewhere.iterdir()) == []


@pytest.mark.slow
def test_a_runs_id_in_mlflow_names_it(one: tuple[Path, str]) -> None:
    folder, name = one
    tracked = ("tracking=mlflow", "tracking.uri=sqlite:///kept/mlflow.db")
    run(folder, *ANALYZE, f"run={name}", *tracked)
    with sqlite3.connect(folder / "kept" / "mlflow.db") as store:
        ((tracked_id,),) = store.execute("SELECT run_uuid FROM runs").fetchall()
    run(folder, *ANALYZE, f"run={tracked_id}", *tracked, "analysis.threshold=0.9")
    assert folders(folder) == [name, f"{name}-threshold-0.9"]
    # Of a folder that is gone MLflow has the files; the answers are in the store of output_dir.
    for gone in folders(folder):
        shutil.rmtree(folder / "outputs" / "contextcliff" / gone)
    run(folder, *ANALYZE, f"run={tracked_id}", *tracked, "analysis.threshold=0.7")
    assert [report(folder, each)["safe_cap"]["threshold"] for each in folders(folder)] == [0.7]


@pytest.mark.slow
def test_what_asks_the_same_is_no_other_question(one: tuple[Path, str]) -> None:
    folder, name = one
    run(folder, *ANALYZE, f"run={name}", "task=niah", "task.lengths=[512,1024]", "engine.concurrency=2")
    tier = "model.price.tiers=[{above: 700, input: 20}]"
    run(folder, *ANALYZE, f"run={name}", "model.price.input=2", "model.price.output=1", tier, "budget.usd=1")
    assert folders(folder) == [name]
    usage = report(folder, name)["usage"]
    assert 10 * usage["prompt_tokens"] / 1e6 < usage["usd"] < 20 * usage["prompt_tokens"] / 1e6
    run(folder, *ANALYZE, f"run={name}")  # with the price of the folder
    assert report(folder, name)["usage"]["usd"] == usage["usd"]


def test_what_can_not_be_analysed_is_one_line_with_the_way_out(one: tuple[Path, str]) -> None:
    folder, name = one
    place = f"run=outputs/contextcliff/{name}"
    typed = {
        ("task.lengths=[2048]", "seed=7"): "task.lengths=[512, 1024] there and [2048] here, seed=0 there and 7 here",
        ("label=''",): "label=tuned there and '' here",
    }
    for keys, told in typed.items():
        assert refused(folder, "action=analyze", f"run={name}", *keys) == (
            f"{place}: would ask something else: {told}; an analysis asks nothing, so leave that out, or ask it with "
            "action=run"
        )
    assert folders(folder) == [name]
    assert refused(folder, "action=analyze", "run=nothing") == (
        "run=nothing: is no run: neither a folder with a report.json nor a run id in outputs/contextcliff; give one of "
        "these, or an MLflow run id"
    )
    assert (
        refused(folder, "action=analyze", f"run={name},other")
        == f"run={name},other: names several runs; analyse one at a time"
    )
    for file in (folder / "outputs").glob("state.db*"):
        file.unlink()
    assert refused(folder, "action=analyze", f"run={name}") == (
        f"{place}: the answers of {name} are not in outputs/state.db; bring the store that has them with action=gather "
        "'action.stores=[OUTPUT_DIR]', or name their place with output_dir=OUTPUT_DIR"
    )
    (folder / "outputs" / "contextcliff" / name / "report.json").write_text("{", encoding="utf-8")
    assert f"{place}/report.json: can't be read as a report" in refused(folder, "action=analyze", f"run={name}")
