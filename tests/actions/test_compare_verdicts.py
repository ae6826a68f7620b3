"""Verdicts and gates from the command line, and which runs a comparison takes by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import SIMULATED, comparison, contextcliff

NEEDLES = ("task=niah", "dataset=synthetic", "task.lengths=[512,1024,2048]", "task.trials=4", *SIMULATED)
QUIET = ("reporting.progress=false", "tracking=none", "reporting.figures=false", "reporting.console=none")
COMPARE = ("action=compare", "reporting.progress=false", "tracking=none", "reporting.figures=false")


def run(folder: Path, *overrides: str, code: int = 0) -> Any:
    ended = contextcliff(*overrides, cwd=folder)
    assert ended.returncode == code, ended.stderr
    return ended


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of a good model, labelled `equal`, and then a sweep of that model and a bad one."""
    folder = tmp_path_factory.mktemp("verdicts")
    run(folder, *NEEDLES, *QUIET, "label=equal", "engine.cliff_tokens=9000")
    run(folder, *NEEDLES, *QUIET, "engine.cliff_tokens=9000,700")
    return folder


def good_and_equal(folder: Path) -> tuple[str, str]:
    """The arguments that decide the labelled run against the good one of the sweep."""
    files = folder.glob("outputs/*/niah-*/report.json")
    reports = {path.parent.name: json.loads(path.read_text("utf-8")) for path in files}
    by_cap = sorted(reports, key=lambda name: reports[name]["safe_cap"]["tokens"] or 0)
    labels = {reports[name]["label"]: name for name in by_cap}  # of the two without a label the better one
    return f"action.baseline={labels['']}", f"action.candidates=[{labels['equal']}]"


def test_without_runs_the_jobs_of_the_latest_sweep_are_taken_and_its_first_is_the_baseline(sweep: Path) -> None:
    run(sweep, *COMPARE)
    found = comparison(sweep)
    assert [one["parameters"]["engine.cliff_tokens"] for one in found["runs"]] == ["9000", "700"]
    assert found["baseline"] == found["runs"][0]["name"]
    assert [one["verdict"] for one in found["candidates"]] == ["worse"]


def test_the_gate_is_closed_by_a_worse_candidate_when_everything_is_written(sweep: Path) -> None:
    ended = run(sweep, *COMPARE, "action.gate=true", code=3)
    assert ended.stderr.startswith("error: action.gate=true: against ")
    assert " is worse, -" in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert "is worse than" in " ".join(ended.stdout.split())
    assert comparison(sweep)["candidates"][0]["verdict"] == "worse"


def test_the_gate_is_open_for_an_equal_candidate(sweep: Path) -> None:
    asked = (*good_and_equal(sweep), "action.margin=0.1", "action.name=equal")
    run(sweep, *COMPARE, *asked, "action.gate=true", "action.gate_on_unknown=true")
    (found,) = comparison(sweep, "equal")["candidates"]
    assert (found["verdict"], found["decision"]["overall"]["mean"]) == ("not_worse", 0.0)


def test_a_margin_that_the_pairs_cannot_rule_out_closes_the_wider_gate(sweep: Path) -> None:
    asked = (*good_and_equal(sweep), "action.margin=0.01", "action.name=narrow")
    run(sweep, *COMPARE, *asked, "action.gate=true")
    ended = run(sweep, *COMPARE, *asked, "action.gate=true", "action.gate_on_unknown=true", code=3)
    assert "may be worse, 0.0 points" in ended.stderr


def test_runs_are_found_by_what_they_are(sweep: Path) -> None:
    asked = (
        "action.baseline='label=equal'",
        "action.candidates=['engine.cliff_tokens=700','engine.cliff_tokens=9000']",
    )
    run(sweep, *COMPARE, *asked, "action.name=found")
    found = comparison(sweep, "found")
    cliffs = [one["parameters"]["engine.cliff_tokens"] for one in found["runs"]]
    assert (cliffs, found["runs"][0]["parameters"]["label"]) == (["9000", "700", "9000"], "equal")
    assert found["candidates"][0]["verdict"] == "worse"


def test_a_search_that_finds_nothing_says_what_there_is(sweep: Path) -> None:
    asked = ("action.baseline='label=equal'", "action.candidates=['kv_policy=q2 task=niah']")
    ended = run(sweep, *COMPARE, *asked, code=2)
    assert ended.stderr == (
        "error: action.candidates=kv_policy=q2 task=niah: matches no run of outputs/contextcliff; kv_policy there: "
        "f16, none; task there: niah\n"
    )


def test_a_search_that_finds_the_baseline_alone_is_refused(sweep: Path) -> None:
    asked = ("action.baseline='label=equal'", "action.candidates=['label=equal']")
    ended = run(sweep, *COMPARE, *asked, code=2)
    assert ended.stderr == "error: action.candidates=[label=equal]: finds the baseline alone; name other runs\n"


@pytest.mark.slow
def test_a_repeated_sweep_is_the_latest_one_again(sweep: Path) -> None:
    run(sweep, *NEEDLES, *QUIET, "engine.cliff_tokens=700,9000")
    run(sweep, *COMPARE)
    assert [one["verdict"] for one in comparison(sweep)["candidates"]] == ["better"]
