"""`task.like`: a run that asks what another rests on, decides by its own samples alone, and pairs with each of them."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.commands import SIMULATED, contextcliff, kept, refused, reports

SEARCH = (
    *("dataset=synthetic", "task.lengths=[200,400,800]", "task.depths=[0.0,0.5,1.0]", "task.max_trials=60"),
    "task.controls=true",
)
MODEL = (*SIMULATED, *SEARCH, "engine.cliff_tokens=700", "engine.quantised_shift=1.0")
BASELINE = (*MODEL, "kv_policy=none")
CANDIDATE = (*MODEL, "kv_policy=q4_0")
RUNS = Path("outputs") / "contextcliff"


def run(folder: Path, *overrides: str) -> dict[str, Any]:
    """The report of a run of this configuration."""
    folder.mkdir(exist_ok=True)
    before = {report["run_id"]: report for report in reports(folder)}
    done = contextcliff(*overrides, cwd=folder)
    assert done.returncode == 0, done.stderr
    (report,) = [report for report in reports(folder) if before.get(report["run_id"]) != report]
    return report


def lines(folder: Path, report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    text = (folder / RUNS / report["run_id"] / "samples.jsonl").read_text("utf-8")
    return {line["sample_id"]: line for line in map(json.loads, text.splitlines())}


def judged(report: dict[str, Any]) -> Any:
    return {key: report[key] for key in ("safe_cap", "caps", "zones", "bins", "search", "fingerprint", "run_id")}


def counts(report: dict[str, Any]) -> dict[str, int]:
    return {key: report["counts"][key] for key in ("planned", "completed", "unscored", "controls")}


def replays(report: dict[str, Any]) -> list[str]:
    return [note for note in report["notes"] if "task.like" in note]


def generations(folder: Path) -> int:
    return kept(folder / "outputs" / "state.db")


def prompts(folder: Path, report: dict[str, Any]) -> dict[str, str]:
    return {name: line["prompt_sha256"] for name, line in lines(folder, report).items()}


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the baseline's run."""
    folder = tmp_path_factory.mktemp("baseline")
    run(folder, *BASELINE)
    return folder


@pytest.fixture
def beside(tmp_path: Path, baseline: Path) -> tuple[Path, str]:
    """A copy of it, and the baseline's run id."""
    folder = tmp_path / "beside"
    shutil.copytree(baseline, folder)
    return folder, reports(folder)[0]["run_id"]


@pytest.mark.parametrize("how", ["engine.speculation=0", pytest.param("engine.concurrency=32", marks=pytest.mark.slow)])
def test_a_candidate_asks_all_that_the_baseline_rests_on_and_decides_as_if_it_did_not(
    tmp_path: Path, beside: tuple[Path, str], how: str
) -> None:
    folder, name = beside
    (first,) = reports(folder)
    alone = run(tmp_path / "alone", *CANDIDATE, how)
    paired = run(folder, *CANDIDATE, how, f"task.like={name}")
    assert judged(paired) == judged(alone)
    if how == "engine.speculation=0":  # what is asked ahead depends on when answers come
        assert counts(paired) == counts(alone)
    refined = {each["asked_tokens"] for each in first["bins"]} - {200, 400, 800}
    assert refined - {each["asked_tokens"] for each in alone["bins"]}
    assert prompts(folder, paired).items() >= prompts(folder, first).items()
    apart = {name for name, line in lines(folder, paired).items() if line["replayed"]}
    assert prompts(folder, paired).keys() - apart == prompts(tmp_path / "alone", alone).keys()
    assert paired["counts"]["replayed"] == len(apart) > 0
    assert sum(each["n_samples"] + each["n_unscored"] for each in paired["bins"]) == paired["counts"]["planned"]
    assert replays(alone) == []
    assert replays(paired) == [
        f"{len(apart)} samples were asked to stay paired with {name} (task.like): no decision and no figure here rests "
        "on them; samples.jsonl has them marked as replayed, and comparisons use them"
    ]


@pytest.mark.slow
def test_pairs_at_the_safe_cap_are_asked_until_they_settle_it_and_count_in_no_report(tmp_path: Path) -> None:
    equal = (*SIMULATED, *SEARCH, "engine.cliff_tokens=700", "engine.quantised_shift=0.0", "engine.concurrency=4")
    pairs = "task.longest_pairs=120"
    alone = run(tmp_path, *equal, "kv_policy=none")
    first = run(tmp_path, *equal, "kv_policy=none", pairs)
    assert judged(first) == judged(alone)
    candidate = run(tmp_path, *equal, "kv_policy=q4_0", pairs, f"task.like={first['run_id']}")
    before = generations(tmp_path)
    worse = (*(each for each in equal if "shift" not in each), "engine.quantised_shift=0.5", "kv_policy=q4_0")
    for overrides in ((*equal, "kv_policy=q4_0"), (*equal, "kv_policy=none")):  # what is stored is not asked again
        like = () if "kv_policy=none" in overrides else (f"task.like={first['run_id']}",)
        assert contextcliff(*overrides, pairs, *like, cwd=tmp_path).returncode == 0
    assert generations(tmp_path) == before
    at_cap = max(n for n in Counter(line["context_tokens"] for line in lines(tmp_path, first).values()).values())
    asked = first["counts"]["replayed"]
    assert at_cap == 120 > asked > candidate["counts"]["replayed"] > 0
    assert contextcliff("action=compare", *equal, cwd=tmp_path).returncode == 0
    (decided,) = json.loads((tmp_path / RUNS / "comparisons" / "comparison" / "comparison.json").read_text("utf-8"))[
        "candidates"
    ]
    assert (decided["verdict"], 78 <= decided["decision"]["longest"]["n_pairs"] <= 90) == ("not_worse", True)
    fallen = run(tmp_path, *worse, pairs, f"task.like={first['run_id']}")
    assert fallen["counts"]["replayed"] < 60


@pytest.mark.slow
def test_a_replay_that_is_stored_costs_nothing_and_an_analysis_asks_nothing(beside: tuple[Path, str]) -> None:
    folder, name = beside
    like = f"task.like={name}"
    first = run(folder, *CANDIDATE, like)
    before = generations(folder)
    for again in ((), ("action=analyze",)):
        assert contextcliff(*CANDIDATE, like, *again, cwd=folder).returncode == 0
        (report,) = [each for each in reports(folder) if each["run_id"] == first["run_id"]]
        assert (judged(report), lines(folder, report)) == (judged(first), lines(folder, first))
        assert (replays(report), counts(report)) == (replays(first), counts(first))
        assert report["counts"]["reused"] == report["counts"]["planned"]
    assert generations(folder) == before


ASKS, PROMPTS = "asks something else: ", "{n} of its {n} prompts are other ones here: "
DIFFERING = {
    "task.depths=[0.0,1.0]": f"{ASKS}task.depths=[0.0, 0.5, 1.0] there and [0.0, 1.0] here; give the same",
    "task.trials=4": f"{ASKS}task.trials=auto there and 4 here; give the same",
    "task=niah_multi": "is a run of another task: task=niah there and niah_multi here; give the same task",
    "seed=7": f"{PROMPTS}seed=0 there and 7 here; give the same, or take another run",
    "dataset=essays": f"{PROMPTS}dataset=synthetic there and essays here; give the same, or take another run",
}


@pytest.mark.slow
@pytest.mark.parametrize("override", DIFFERING)
def test_what_differs_between_two_runs_is_said(beside: tuple[Path, str], override: str) -> None:
    folder, name = beside
    (first,) = reports(folder)
    before = generations(folder)
    told = DIFFERING[override].format(n=first["counts"]["planned"])
    assert refused(folder, *CANDIDATE, override, f"task.like={name}") == f"task.like={name}: {told}"
    assert generations(folder) == before
