"""A run is called by the options that were chosen: `niah_static` and `essays_ja`, with their kinds beside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import SIMULATED, folders, reports, run
from tests.compositions import built
from tests.execution.test_store import edited

QUICK = ("task.lengths=[512]", "task.trials=1", "reporting.dpi=50")
NEEDLES = (*SIMULATED, *QUICK)


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
