"""`action=compare` from the command line: which runs it finds, what it decides and says of them, what it refuses."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.commands import DRAWN, SIMULATED, comparison, contextcliff, refused, run
from tests.writing.made_context_tester import drawn_rounds, figures, result_folder, table, table_row

NEEDLES = ("task=niah", "dataset=synthetic", *SIMULATED)
PROSE = (
    *("task=continuation", "task.rounds=2", "task.max_tokens=128", "task.start_context=512", "task.max_context=1024"),
    *SIMULATED,
)
COMPARE = ("action=compare", "reporting.progress=false", "tracking=none", "reporting.figures=false")
FILES = {"comparison.html", "comparison.json", "comparison.md", "comparison.csv"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two needle runs, two continuation runs, and what Context-Tester left beside them. The store is of no use."""
    folder = tmp_path_factory.mktemp("compare")
    for policy in ("none", "q8_0"):
        run(folder, *NEEDLES, "task.trials=1", f"kv_policy={policy}")
        run(folder, *PROSE, f"kv_policy={policy}")
    result_folder(folder / "old" / "glm", drawn_rounds([512, 1024]), original=figures(cloze=25.0, diversity=0.6))
    rows = [table_row(tokens, number=n, cloze_score=20.0 + n) for tokens in (1024, 512) for n in (1, 2)]
    table(folder / "old" / "detailed.csv", rows)
    (folder / "outputs" / "state.db").write_bytes(b"not a database")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "work")
    return tmp_path / "work"


def ids(folder: Path, task: str) -> list[str]:
    return sorted(path.parent.name for path in (folder / "outputs").glob(f"*/{task}-*/report.json"))


def written(folder: Path) -> set[str]:
    return {path.name for path in (folder / "outputs/contextcliff/comparisons/comparison").iterdir()}


def test_by_default_the_runs_of_the_task_are_compared_and_no_store_is_opened(folder: Path) -> None:
    told = run(folder, *COMPARE, *DRAWN, "task=niah")
    found = comparison(folder)
    assert sorted(one["run_id"] for one in found["runs"]) == ids(folder, "niah")
    assert sorted(one["name"].rpartition(" · ")[2] for one in found["runs"]) == ["f16", "q8_0"]
    assert found["measures"] == []
    assert "COMPARISON" in told
    assert written(folder) == {*FILES, "curves.png", "differences.png", "memory.png"}
    run(folder, *COMPARE, "task=niah")
    assert written(folder) == FILES


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
    asked = (f"action.baseline={first}", "action.candidates=[old/glm,old/detailed.csv]")
    run(folder, *COMPARE, *DRAWN, "task=continuation", *asked)
    found = comparison(folder)
    assert [one["tool"] for one in found["runs"]] == ["contextcliff", "Context-Tester", "Context-Tester"]
    assert found["runs"][1]["parameters"]["sampling.temperature"] == "0.8"
    assert len({one["name"] for one in found["runs"]}) == 3
    cloze = next(measure for measure in found["measures"] if measure["measure"] == "cloze_score")
    assert (len(cloze["ranges"]), cloze["winner"]) == (3, None)
    assert "different rules" in cloze["reason"]
    assert any("was measured by Context-Tester" in note for note in found["notes"])
    assert [one["verdict"] for one in found["candidates"]] == [None, None]
    assert {one["reason"] for one in found["candidates"]} == {
        "since runs of Context-Tester have no pairs with others: they are described, not decided"
    }
    assert found["measure_differences"] == []
    assert any("different texts" in note for note in found["notes"])
    assert {"comparison.html", "writing_core.png", "writing_measures.png"} <= written(folder)


def test_an_unreadable_report_is_passed_over_unless_it_is_asked_for(folder: Path) -> None:
    broken = folder / "outputs" / "contextcliff" / "niah-broken"
    broken.mkdir()
    (broken / "report.json").write_text("{}")
    run(folder, *COMPARE, "task=niah")
    assert len(comparison(folder)["runs"]) == 2
    assert "can't be read as a report of this version" in refused(
        folder, *COMPARE, "action.baseline=niah-broken", f"action.candidates=[{broken}]"
    )


def test_what_can_not_be_compared_is_one_line_with_the_way_out(folder: Path, tmp_path: Path) -> None:
    first, second = ids(folder, "niah")
    pairs = {
        ("nowhere", "old/glm"): "action.baseline: nowhere is not in outputs/contextcliff; give a run id",
        ("old/glm", "old"): "action.candidates: old is neither a run of ours nor one of Context-Tester",
        (first, f"{second},outputs/contextcliff/{first}"): (
            f"action.candidates: {first} is the baseline itself; name other runs"
        ),
    }
    for (baseline, candidates), told in pairs.items():
        line = refused(folder, *COMPARE, f"action.baseline={baseline}", f"action.candidates=[{candidates}]")
        assert line.startswith(told)
    assert refused(folder, *COMPARE, f"action.candidates=[{first}]") == (
        f"action.candidates=[{first}]: candidates of what? give action.baseline=RUN too"
    )
    assert "holds 0 runs of task=niah; a comparison takes two" in refused(tmp_path, *COMPARE)
    shutil.rmtree(folder / "outputs" / "contextcliff" / second)
    assert "outputs/contextcliff holds 1 run of task=niah; a comparison takes two" in refused(
        folder, *COMPARE, "task=niah"
    )


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of a good model, labelled `equal`, and then a sweep of that model and a bad one."""
    folder = tmp_path_factory.mktemp("verdicts")
    asked = (*NEEDLES, "task.lengths=[512,1024,2048]", "task.trials=4")
    run(folder, *asked, "label=equal", "engine.cliff_tokens=9000")
    run(folder, *asked, "engine.cliff_tokens=9000,700", "reporting.published=[nolima:gpt-4o]")
    return folder


def compared(folder: Path, *overrides: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    ended = contextcliff(*COMPARE, *overrides, cwd=folder)
    assert ended.returncode == code, ended.stderr
    return ended


def test_without_runs_the_jobs_of_the_latest_sweep_are_taken_and_a_worse_one_closes_the_gate(sweep: Path) -> None:
    ended = compared(sweep, "action.gate=true", code=3)
    found = comparison(sweep)
    assert [one["parameters"]["engine.cliff_tokens"] for one in found["runs"]] == ["9000", "700"]
    assert found["baseline"] == found["runs"][0]["name"]
    assert [one["verdict"] for one in found["candidates"]] == ["worse"]
    assert ended.stderr.startswith("error: action.gate=true: against ")
    assert " is worse, -" in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert "is worse than" in " ".join(ended.stdout.split())


def test_an_equal_candidate_opens_the_gate_and_the_wider_one_by_what_the_pairs_can_rule_out(sweep: Path) -> None:
    asked = ("action.baseline='label=equal'", "action.candidates=['engine.cliff_tokens=9000']", "action.gate=true")
    wider = "action.gate_on_unknown=true"
    compared(sweep, *asked, "action.name=equal", "action.margin=0.1", wider)
    (found,) = comparison(sweep, "equal")["candidates"]
    assert (found["verdict"], found["decision"]["overall"]["mean"]) == ("not_worse", 0.0)
    compared(sweep, *asked, "action.name=equal", "action.margin=0.01")
    ended = compared(sweep, *asked, "action.name=equal", "action.margin=0.01", wider, code=3)
    assert "may be worse, 0.0 points" in ended.stderr


def test_runs_are_found_by_what_they_are(sweep: Path) -> None:
    searches = "['engine.cliff_tokens=700','engine.cliff_tokens=9000']"
    compared(sweep, "action.baseline='label=equal'", f"action.candidates={searches}", "action.name=found")
    found = comparison(sweep, "found")
    cliffs = [one["parameters"]["engine.cliff_tokens"] for one in found["runs"]]
    assert (cliffs, found["runs"][0]["parameters"]["label"]) == (["9000", "700", "9000"], "equal")
    assert found["candidates"][0]["verdict"] == "worse"
    baseline = "action.baseline='label=equal'"
    assert refused(sweep, *COMPARE, baseline, "action.candidates=['kv_policy=q2 task=niah']") == (
        "action.candidates=kv_policy=q2 task=niah: matches no run of outputs/contextcliff; kv_policy there: f16, none; "
        "task there: niah"
    )
    assert refused(sweep, *COMPARE, baseline, "action.candidates=['label=equal']") == (
        "action.candidates=[label=equal]: finds the baseline alone; name other runs"
    )


def test_published_figures_stand_in_every_table_and_are_decided_by_none(sweep: Path) -> None:
    (sweep / "mine.csv").write_text("model,length,score,source\nOurs,4096,0.5,our page\n", encoding="utf-8")
    console = compared(sweep, "action.published=[ruler:gpt-4-1106-preview,mine.csv]").stdout
    data, place = comparison(sweep), sweep / "outputs" / "contextcliff" / "comparisons" / "comparison"
    markdown, page = ((place / f"comparison.{end}").read_text("utf-8") for end in ("md", "html"))
    assert "PUBLISHED FIGURES (never tested against, never paired)" in console
    assert [curve["model"] for curve in data["published"]] == ["GPT-4-1106-preview", "Ours"]
    assert data["published"][1]["points"] == [{"tokens": 4096, "score": 0.5}]
    assert "| published: Ours (mine) | - | not tested | 0.500 | 4,096 |" in markdown
    assert "published: GPT-4-1106-preview (RULER)" in page
    compared(sweep, "reporting.published=[nolima:gpt-4o]")
    of_reporting = comparison(sweep)
    assert [of_reporting[key] for key in ("candidates", "runs")] == [data[key] for key in ("candidates", "runs")]
    assert [curve["model"] for curve in of_reporting["published"]] == ["GPT-4o"]
