"""`action=compare` from the command line: which runs it finds, what it says of them, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.commands import DRAWN, SIMULATED, comparison, contextcliff, run
from tests.writing.made_context_tester import drawn_rounds, figures, result_folder, table, table_row

NEEDLES = ("task=niah", "dataset=synthetic", "task.trials=1", *SIMULATED)
PROSE = (
    *("task=continuation", "task.rounds=2", "task.max_tokens=128", "task.start_context=512", "task.max_context=1024"),
    *SIMULATED,
)
COMPARE = ("action=compare", "reporting.progress=false", "tracking=none", "reporting.figures=false")


def refused(folder: Path, *overrides: str) -> str:
    ended = contextcliff(*COMPARE, *overrides, cwd=folder)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    return ended.stderr


def measure(folder: Path, name: str, of: str = "comparison") -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in comparison(folder, of)["measures"] if one["measure"] == name)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two needle runs, two continuation runs, and what Context-Tester left beside them."""
    folder = tmp_path_factory.mktemp("compare")
    for policy in ("none", "q8_0"):
        run(folder, *NEEDLES, f"kv_policy={policy}")
        run(folder, *PROSE, f"kv_policy={policy}")
    result_folder(folder / "old" / "glm", drawn_rounds([512, 1024]), original=figures(cloze=25.0, diversity=0.6))
    rows = [table_row(tokens, number=n, cloze_score=20.0 + n) for tokens in (1024, 512) for n in (1, 2)]
    table(folder / "old" / "detailed.csv", rows)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "work")
    return tmp_path / "work"


def ids(folder: Path, task: str) -> list[str]:
    return sorted(path.parent.name for path in (folder / "outputs").glob(f"*/{task}-*/report.json"))


def written(folder: Path) -> set[str]:
    return {path.name for path in (folder / "outputs/contextcliff/comparisons/comparison").iterdir()}


def test_by_default_the_runs_of_the_task_are_compared(folder: Path) -> None:
    told = run(folder, *COMPARE, *DRAWN, "task=niah")
    found = comparison(folder)
    assert sorted(one["run_id"] for one in found["runs"]) == ids(folder, "niah")
    assert sorted(one["name"].rpartition(" · ")[2] for one in found["runs"]) == ["f16", "q8_0"]
    assert found["measures"] == []
    assert "COMPARISON" in told
    pictures = {"curves.png", "differences.png", "memory.png"}
    files = {"comparison.html", "comparison.json", "comparison.md", "comparison.csv"}
    assert written(folder) == {*files, *pictures}
    run(folder, *COMPARE, "task=niah")
    assert written(folder) == files


def test_runs_are_found_by_id_folder_and_report_each_once(folder: Path) -> None:
    first, second = ids(folder, "niah")
    place = f"outputs/contextcliff/{second}"
    asked = (f"action.baseline={first}", f"action.candidates=[{place},{place}/report.json]")
    run(folder, *COMPARE, "task=niah", *asked, "action.name=picked")
    assert [one["run_id"] for one in comparison(folder, "picked")["runs"]] == [first, second]


@pytest.mark.parametrize("broken", ["{}", '{"configuration": ["task.trials"]}'])
def test_a_manifest_that_cannot_be_read_costs_only_the_parameters(folder: Path, broken: str) -> None:
    first, _ = ids(folder, "niah")
    (folder / "outputs" / "contextcliff" / first / "manifest.json").write_text(broken)
    ended = contextcliff(*COMPARE, "task=niah", cwd=folder)
    assert ended.returncode == 0
    named = f"warning: outputs/contextcliff/{first}/manifest.json is damaged; its run's configuration is not known\n"
    assert ended.stderr == (named if broken != "{}" else "")
    parameters = next(one for one in comparison(folder)["runs"] if one["run_id"] == first)["parameters"]
    assert "task.trials" not in parameters
    assert parameters["run"] == first


def test_runs_of_writing_are_decided_by_healthy_rounds_and_every_measure_is_tested_pair_by_pair(folder: Path) -> None:
    told = " ".join(run(folder, *COMPARE, "task=continuation").split())
    found = comparison(folder)
    (candidate,) = found["candidates"]
    decision = candidate["decision"]
    assert (decision["quantity"], decision["overall"]["n_pairs"]) == ("healthy", 4)
    names = {one["measure"]: one for one in found["measure_differences"]}
    assert set(names) == {one["measure"] for one in found["measures"]}
    assert {one["candidate"] for one in names.values()} == {candidate["name"]}
    # Four pairs can show nothing at 95%, and no figure claims more than that.
    assert {one["shown"] for one in names.values()} == {None}
    assert all(one["p_worse"] >= 1 / 16 for one in names.values() if one["worse"])
    n = sum(one["p_worse"] is not None for one in names.values())
    assert f"pair by pair: of {n} measures tested none is shown to be worse or better." in told
    assert f"corrected by Holm over {n} tests;" in told
    page = (folder / "outputs/contextcliff/comparisons/comparison/comparison.md").read_text(encoding="utf-8")
    assert "| measure | better | unit | baseline | candidate | difference | interval |" in page


@pytest.mark.slow
def test_prose_of_ours_and_of_context_tester_stands_together(folder: Path) -> None:
    first, _ = ids(folder, "continuation")
    run(
        folder,
        *COMPARE,
        *DRAWN,
        "task=continuation",
        f"action.baseline={first}",
        "action.candidates=[old/glm,old/detailed.csv]",
    )
    found = comparison(folder)
    assert [one["tool"] for one in found["runs"]] == ["contextcliff", "Context-Tester", "Context-Tester"]
    assert found["runs"][1]["parameters"]["sampling.temperature"] == "0.8"
    assert len({one["name"] for one in found["runs"]}) == 3
    cloze = next(measure for measure in found["measures"] if measure["measure"] == "cloze_score")
    assert len(cloze["ranges"]) == 3
    assert cloze["winner"] is None
    assert "different rules" in cloze["reason"]
    assert any("was measured by Context-Tester" in note for note in found["notes"])
    assert [one["verdict"] for one in found["candidates"]] == [None, None]
    assert {one["reason"] for one in found["candidates"]} == {
        "since runs of Context-Tester have no pairs with others: they are described, not decided"
    }
    assert found["measure_differences"] == []
    assert any("different texts" in note for note in found["notes"])
    assert {"comparison.html", "writing_core.png", "writing_measures.png"} <= written(folder)


@pytest.mark.slow
def test_texts_are_measured_anew_by_the_familiar_words_of_the_task(folder: Path) -> None:
    first, _ = ids(folder, "continuation")
    words = folder / "private" / "few.txt"
    words.parent.mkdir()
    words.write_text("the\ntide\n", encoding="utf-8")
    asked = (f"action.baseline={first}", "action.candidates=[old/glm]", "action.remeasure=true")
    run(folder, *COMPARE, "task=continuation", *asked, "action.name=default")
    run(folder, *COMPARE, "task=continuation", *asked, f"task.word_list={words}", "action.name=few")
    unfamiliar = {name: measure(folder, "pct_unfamiliar_words", name) for name in ("default", "few")}
    ranges = {name: found["ranges"][1] for name, found in unfamiliar.items()}
    # Of the words of those texts nearly all are neither of the two.
    assert ranges["default"]["high"] < 0.5 < ranges["few"]["low"]
    assert "rules" not in unfamiliar["default"]["reason"]
    assert unfamiliar["few"]["winner"] is None
    assert "familiar words by the Dale-Chall list; familiar words by few.txt" in unfamiliar["few"]["reason"]
    notes = comparison(folder, "few")["notes"]
    assert any("measured by our rules, familiar words by few.txt" in note for note in notes)
    assert "private" not in json.dumps(comparison(folder, "few"))


def changed(folder: Path, run_id: str, file: str, **changes: Any) -> None:
    """Change what a run's file says, in its dictionary `writing` or `configuration`."""
    path = folder / "outputs" / "contextcliff" / run_id / file
    found = json.loads(path.read_text(encoding="utf-8"))
    found["writing" if file == "report.json" else "configuration"] |= changes
    path.write_text(json.dumps(found), encoding="utf-8")


@pytest.mark.slow
def test_runs_from_different_points_are_told_what_a_point_depends_on(folder: Path) -> None:
    first, _ = ids(folder, "continuation")
    changed(folder, first, "report.json", continuation_point=1)
    run(folder, *COMPARE, "task=continuation")
    (note,) = (note for note in comparison(folder)["notes"] if "different points" in note)
    assert note.endswith("runs with the same text, tokenizer, longest context and task.max_tokens share theirs")


@pytest.mark.slow
def test_a_run_of_another_task_is_in_the_table_and_not_in_the_writing(folder: Path) -> None:
    runs = [*ids(folder, "continuation"), ids(folder, "niah")[0]]
    asked = (f"action.baseline={runs[0]}", f"action.candidates=[{','.join(runs[1:])}]")
    run(folder, *COMPARE, "task=continuation", *asked)
    found = comparison(folder)
    assert len(found["runs"]) == 3
    assert all(len(measure["ranges"]) <= 2 for measure in found["measures"])
    assert any("left out of the writing part" in note for note in found["notes"])
    assert any("different lengths" in note for note in found["notes"])


def test_an_unreadable_report_is_passed_over_unless_it_is_asked_for(folder: Path) -> None:
    broken = folder / "outputs" / "contextcliff" / "niah-broken"
    broken.mkdir()
    (broken / "report.json").write_text("{}")
    run(folder, *COMPARE, "task=niah")
    assert len(comparison(folder)["runs"]) == 2
    assert "can't be read as a report of this version" in refused(
        folder, "action.baseline=niah-broken", f"action.candidates=[{broken}]"
    )


def test_fewer_than_two_runs_are_refused_with_the_way_out(tmp_path: Path, folder: Path) -> None:
    assert "outputs/contextcliff holds 0 runs of task=niah; a comparison takes two" in refused(tmp_path)
    first, second = ids(folder, "niah")
    assert refused(folder, f"action.candidates=[{first}]") == (
        f"error: action.candidates=[{first}]: candidates of what? give action.baseline=RUN too\n"
    )
    shutil.rmtree(folder / "outputs" / "contextcliff" / second)
    assert "outputs/contextcliff holds 1 run of task=niah; a comparison takes two" in refused(folder, "task=niah")


def test_a_run_that_stopped_is_compared_by_what_it_has_and_said_to_have_stopped(folder: Path) -> None:
    first, second = ids(folder, "niah")
    home = folder / "outputs" / "contextcliff" / first
    report = json.loads((home / "report.json").read_text(encoding="utf-8"))
    (home / "report.json").write_text(json.dumps({**report, "partial": True}), encoding="utf-8")
    lines = (home / "samples.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (home / "samples.jsonl").write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
    run(folder, *COMPARE, "task=niah", f"action.baseline={first}", f"action.candidates=[{second}]")
    made = comparison(folder)
    name = next(one["name"] for one in made["runs"] if one["run_id"] == first)
    assert f"{name} stopped before its end: lengths may be missing" in made["notes"]
    assert made["candidates"][0]["decision"]["overall"]["n_pairs"] == len(lines) // 2


def test_a_baseline_is_no_candidate_of_its_own(folder: Path) -> None:
    first, second = ids(folder, "niah")
    place = f"outputs/contextcliff/{first}"
    asked = (f"action.baseline={first}", f"action.candidates=[{second},{place}]")
    assert refused(folder, *asked) == f"error: action.candidates: {first} is the baseline itself; name other runs\n"


NOWHERE = ("action.baseline=nowhere", "action.candidates=[old/glm]")
NEITHER = ("action.baseline=old/glm", "action.candidates=[old]")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (NOWHERE, "action.baseline: nowhere is not in outputs/contextcliff; give a run id"),
        (NEITHER, "action.candidates: old is neither a run of ours nor one of Context-Tester"),
        (("action.name=../up",), "action.name=../up: names a folder"),
        (("action.margin=5",), "action.margin=5: must be less than 1"),
        (("action.gate_on_unknown=true",), "action.gate_on_unknown=true: widens a gate that is off; add action.gate"),
    ],
)
def test_what_is_no_run_is_refused(folder: Path, asked: tuple[str, ...], told: str) -> None:
    assert told in refused(folder, *asked)


def test_no_store_is_opened(folder: Path) -> None:
    (folder / "outputs" / "state.db").write_bytes(b"not a database")
    run(folder, *COMPARE, "task=niah")
