"""`task.like`: a run that asks what another rests on, decides by its own samples alone, and pairs with each of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.commands import SIMULATED, contextcliff, kept, plan_of, refused, reports
from tests.compositions import built

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


def refusal(folder: Path, *overrides: str) -> str:
    return refused(folder, *overrides).removeprefix("error: ").rstrip("\n")


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


def planned(folder: Path, *overrides: str) -> dict[str, Any]:
    done = contextcliff(*overrides, "action=plan", cwd=folder)
    assert done.returncode == 0, done.stderr
    return plan_of(folder)


@pytest.mark.slow
def test_a_plan_counts_what_will_be_replayed(beside: tuple[Path, str]) -> None:
    folder, name = beside
    model = (*CANDIDATE, "engine.law=flat", "engine.ceiling=1.0", "engine.speculation=0")
    own, both = planned(folder, *model), planned(folder, *model, f"task.like={name}")
    (first,) = [report for report in reports(folder) if report["run_id"] == name]
    note = (
        f"task.like: the decisions of {name} rest on {first['counts']['planned']} samples; the figures count those of "
        "them that are not stored and that this run would not ask by itself"
    )
    assert note in both["notes"]
    assert both["least"]["samples"] > own["least"]["samples"]
    assert both["samples"] > own["samples"]
    assert both["most"]["samples"] >= own["most"]["samples"]
    report = run(folder, *model, f"task.like={name}")
    assert both["least"]["samples"] == report["counts"]["planned"] + report["counts"]["replayed"]
    assert report["usage"]["prompt_tokens"] <= both["most"]["prompt_tokens"]
    after = planned(folder, *model, f"task.like={name}")
    assert (after["least"]["samples"], after["samples"]) == (0, 0)


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
    assert refusal(folder, *CANDIDATE, override, f"task.like={name}") == f"task.like={name}: {told}"
    assert generations(folder) == before


def test_what_is_no_run_to_stay_paired_with_is_refused(tmp_path: Path) -> None:
    plain, like = built(*BASELINE), built(*BASELINE, "task.like=another")
    assert plain.identify() == like.identify()
    assert refusal(tmp_path, *CANDIDATE, "task.like=niah-nobody") == (
        "task.like=niah-nobody: is no run: neither a folder with a report.json nor a run id in outputs/contextcliff; "
        "give one of these, or first in a sweep"
    )
    assert refusal(tmp_path, *CANDIDATE, "task.like=first") == (
        "task.like=first: names the first job of a sweep, and this is none; give a run id of this experiment or a "
        "run's folder, or leave it out"
    )
    assert refusal(tmp_path, *CANDIDATE, "task.like=''") == "task.like=: must not be empty"
    assert refusal(tmp_path, *SIMULATED, "task=qa", "task.pilot=2", "task.like=a-run") == (
        "task.like=a-run: task.pilot=2 asks what its own pilot points to; two runs ask the same with task.pilot=0"
    )
