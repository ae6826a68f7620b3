"""A run is called by the options that were chosen: `niah_static` and `essays_ja`, with their kinds beside."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.commands import SIMULATED, contextcliff, reports
from tests.compositions import built
from tests.execution.test_store import edited

QUICK = ("task.lengths=[512]", "task.trials=1", "reporting.dpi=50")
NEEDLES = (*SIMULATED, *QUICK)


def run(folder: Path, *overrides: str) -> str:
    ended = contextcliff(*overrides, cwd=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def folders(folder: Path) -> list[str]:
    return sorted(file.parent.name for file in (folder / "outputs" / "contextcliff").glob("*/report.json"))


def asked(folder: Path, run_id: str) -> list[dict[str, object]]:
    lines = (folder / "outputs" / "contextcliff" / run_id / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.slow
def test_two_options_of_one_task_are_told_apart_everywhere(tmp_path: Path) -> None:
    told = run(
        tmp_path, "engine=simulated", "reporting.progress=false", *QUICK, "task=niah,niah_static", "task.haystacks=1"
    )
    plain, static = reports(tmp_path / "outputs")
    assert (plain["task"], plain["task_kind"]) == ("niah", "niah")
    assert (static["task"], static["task_kind"]) == ("niah_static", "niah")
    assert [report["run_id"].partition("-")[0] for report in (plain, static)] == ["niah", "niah_static"]
    assert {line["task"] for line in asked(tmp_path, static["run_id"])} == {"niah_static"}
    assert all(str(line["sample_id"]).startswith("niah-") for line in asked(tmp_path, static["run_id"]))
    page = (tmp_path / "outputs" / "contextcliff" / static["run_id"] / "report.md").read_text(encoding="utf-8")
    for text in (told, page):
        assert "niah_static" in text
    with sqlite3.connect(tmp_path / "mlruns" / "mlflow.db") as store:
        tags = store.execute(
            "SELECT runs.name, tags.key, tags.value FROM tags JOIN runs USING (run_uuid) WHERE tags.key IN "
            "('task', 'task_kind') AND runs.name LIKE '%niah_static%' ORDER BY 2"
        ).fetchall()
        (chosen,) = store.execute("SELECT count(*) FROM params WHERE key = 'task' AND value = 'niah_static'").fetchall()
    name = "smollm2 · niah_static · none"
    assert tags == [(name, "task", "niah_static"), (name, "task_kind", "niah")]
    assert chosen == (1,)


@pytest.mark.slow
@pytest.mark.parametrize("action", ["analyze", "run"])
def test_a_run_that_was_stored_under_its_kind_is_found_by_its_questions(tmp_path: Path, action: str) -> None:
    asking = (*NEEDLES, "task=niah_static", "task.haystacks=1")
    run(tmp_path, *asking)
    (now,) = folders(tmp_path)
    before = now.replace("niah_static", "niah")
    edited(
        tmp_path / "outputs" / "state.db",
        *(f"UPDATE {table} SET run_id = '{before}'" for table in ("runs", "run_samples", "run_documents")),
        "UPDATE runs SET facts = json_remove(facts, '$.task_option', '$.dataset_option', '$.texts')",
    )
    run(tmp_path, *asking, f"action={action}")
    stored = {report["run_id"]: report for report in reports(tmp_path)}
    # An analysis goes on under the name that the run was stored under; a new run has the new name, and no new question.
    found = stored[before if action == "analyze" else now]
    assert (found["task"], found["counts"]["reused"], found["counts"]["planned"]) == ("niah_static", 11, 11)


@pytest.mark.parametrize("task", ["mrcr", "graphwalks", "ruler_cwe", "ruler_fwe", "repeat"])
def test_a_task_of_its_own_words_has_no_dataset_whatever_was_chosen(task: str) -> None:
    english, japanese = built(f"task={task}"), built(f"task={task}", "dataset=essays_ja")
    assert (english.dataset_name, japanese.dataset_name) == ("none", "none")
    assert japanese.identify().run_id.startswith(f"{japanese.task_name}-SmolLM2")
    assert built("task=niah", "dataset=essays_ja").dataset_name != "none"
