"""By what runs are judged: every setting that changes a report, and runs by different rules side by side."""

from __future__ import annotations

import shutil
from dataclasses import fields
from pathlib import Path

import pytest

from contextcliff.actions.action import Invocation
from contextcliff.actions.analyse import rule_of_invocation
from contextcliff.composing import conf_dir
from contextcliff.execution.store import StoredRun
from contextcliff.records.report import RunFacts
from tests import compositions
from tests.commands import SIMULATED, comparison, folders, refused, run

JUDGE = ("judge=llm", "engine@judge.engine=simulated", "judge.model.name=j")
VECTORS = ("task=continuation", "embedding=openai", "embedding.base_url=http://127.0.0.1:9/v1")
RELATIVE = "analysis.relative_to_baseline=true"
TASKS = sorted(file.stem for file in (conf_dir() / "task").glob("*.yaml"))


def invocation_of(*overrides: str) -> Invocation:
    return compositions.built("engine=simulated", *overrides)


def rule(*overrides: str, drawn: tuple[int, str] | None = None) -> dict[str, str]:
    facts = RunFacts(model="m", engine="e", context_window=8192, tokenizer="words", dataset="text", drawn=drawn)
    run = StoredRun(run_id="run", fingerprint="f", label="", facts=facts)
    return dict(rule_of_invocation(invocation_of(*overrides), run))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((), ("analysis.relative_to_baseline=false",)),
        ((), ("analysis.bins=3", "analysis.binning=fixed")),
        ((), ("analysis.baseline_tokens=600",)),
        ((), ("analysis.require_cap=600",)),
        ((), ("task.save_contexts=true", "reporting.dpi=90", "budget.tokens=9", "engine.concurrency=9")),
        ((), ("tracking=none", "label=another", "task.trials=9", "kv_policy=q8_0", "model=qwen")),
        (("task.trials=4",), ("task.trials=4", "task.max_trials=99", "task.resolution=9")),
        (JUDGE, (*JUDGE, "judge.engine.concurrency=3")),
        (VECTORS, (*VECTORS, "embedding.batch=3", "embedding.timeout_s=9")),
    ],
)
def test_what_changes_no_judgement_is_the_same_rule(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    assert rule(*first) == rule(*second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((), ("analysis.threshold=0.9",)),
        ((), ("analysis.confidence=0.9",)),
        ((), (RELATIVE,)),
        ((RELATIVE,), (RELATIVE, "analysis.baseline_tokens=600")),
        (("task=qa",), ("task=qa", "analysis.bins=4")),
        (("task=qa",), ("task=qa", "task.metric=em")),
        (("task=continuation",), ("task=continuation", "task.min_tokens_fraction=0.5")),
        ((), JUDGE),
        (JUDGE, (*JUDGE, "judge.right_from=5")),
        (JUDGE, (*JUDGE, "judge.rubric=briefly")),
        (JUDGE, (*JUDGE, "judge.engine.ceiling=0.5")),
        (("task=continuation",), VECTORS),
        (VECTORS, (*VECTORS, "embedding.model=another")),
    ],
)
def test_what_changes_a_judgement_is_another_rule(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    assert rule(*first) != rule(*second)
    assert invocation_of(*first).identify().fingerprint == invocation_of(*second).identify().fingerprint


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_every_key_of_a_task_asks_or_judges(task: str) -> None:
    invocation = invocation_of(f"task={task}")
    asked, judging = set(invocation.task.identity()), {key.removeprefix("task.") for key in rule(f"task={task}")}
    keys = {field.name for field in fields(invocation.task)}
    beside = {"save_contexts", "like", "longest_pairs", *invocation.task.traits.idle}
    assert keys - asked - judging == beside & keys
    assert not keys & asked & judging


def test_a_key_of_the_analysis_is_in_the_rule_by_itself() -> None:
    told = {key.removeprefix("analysis.") for key in rule("task=qa") if key.startswith("analysis.")}
    assert told == {field.name for field in fields(invocation_of().analysis)} - {"require_cap"}


def test_drawn_bins_are_those_of_the_run_whatever_the_analysis_asks() -> None:
    drawn = (5, "fixed")
    assert rule("task=qa", "analysis.bins=10", drawn=drawn)["analysis.bins"] == "5"


QUICK = ("dataset=synthetic", "task.lengths=[512,1024]", "task.trials=1", "reporting.dpi=50")
NEEDLES = (*SIMULATED, *QUICK)
COMPARE = ("action=compare", "reporting.progress=false", "reporting.dpi=50", "tracking=none")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs by one rule, and the first of them by another as well."""
    folder = tmp_path_factory.mktemp("made")
    run(folder, *NEEDLES, "kv_policy=none,q8_0,q4_0")
    run(folder, *NEEDLES, "action=analyze", "kv_policy=none", "analysis.threshold=0.9")
    shutil.rmtree(folder / "outputs" / "contextcliff" / "sweeps")  # else its jobs are compared, whatever came later
    return folder


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> tuple[Path, list[str]]:
    """A copy of it, and the folders' names: that of the other rule is the second."""
    shutil.copytree(made, tmp_path / "work")
    return tmp_path / "work", folders(made)


@pytest.mark.slow
def test_runs_that_are_judged_by_different_rules_are_judged_again_by_the_baselines(
    runs: tuple[Path, list[str]],
) -> None:
    folder, (_, strict, quantised, _) = runs
    before = (folder / "outputs" / "contextcliff" / quantised / "report.json").read_bytes()
    run(folder, *COMPARE, f"action.baseline={strict}", f"action.candidates=[{quantised}]")
    found = comparison(folder)
    assert [one["judged_by"]["analysis.threshold"] for one in found["runs"]] == ["0.9", "0.9"]
    assert found["notes"][0] == (
        f"{quantised} was judged again by analysis.threshold=0.9, as {quantised}-threshold-0.9: one rule for all"
    )
    assert (folder / "outputs" / "contextcliff" / quantised / "report.json").read_bytes() == before


@pytest.mark.slow
def test_runs_by_different_rules_without_their_answers_are_refused_with_the_way_out(
    runs: tuple[Path, list[str]],
) -> None:
    folder, (_, strict, quantised, _) = runs
    for file in (folder / "outputs").glob("state.db*"):
        file.rename(folder / file.name)
    assert refused(folder, *COMPARE, f"action.baseline={strict}", f"action.candidates=[{quantised}]") == (
        f"action.candidates: judged by different rules: {strict} by analysis.threshold=0.9; {quantised} by "
        "analysis.threshold=0.8; judge each by the same with action=analyze analysis.threshold=VALUE, and name the "
        "folders that it prints"
    )
    for file in folder.glob("state.db*"):
        file.rename(folder / "outputs" / file.name)
    run(folder, *NEEDLES, "action=analyze", "kv_policy=q4_0", "analysis.threshold=0.9")
    run(folder, *COMPARE, f"action.baseline={strict}", f"action.candidates=[{quantised}-threshold-0.9]")
    assert [one["judged_by"]["analysis.threshold"] for one in comparison(folder)["runs"]] == ["0.9", "0.9"]


def test_of_each_run_the_report_by_its_own_rule_is_compared(runs: tuple[Path, list[str]]) -> None:
    folder, (first, _, *others) = runs
    run(folder, *COMPARE)
    assert sorted(one["source"] for one in comparison(folder)["runs"]) == [first, *others]


@pytest.mark.slow
def test_a_comparison_of_other_runs_has_another_folder_and_the_same_runs_their_own(
    runs: tuple[Path, list[str]],
) -> None:
    folder, (first, _, second, third) = runs
    comparisons = folder / "outputs" / "contextcliff" / "comparisons"

    def asked(baseline: str, candidate: str) -> tuple[str, ...]:
        return (*COMPARE, f"action.baseline={baseline}", f"action.candidates=[{candidate}]")

    for baseline, candidate in ((first, second), (second, third), (second, first), (second, third)):
        name = "comparison-2" if candidate == third else "comparison"
        told = run(folder, *asked(baseline, candidate))
        assert told.rstrip().endswith(f"outputs/contextcliff/comparisons/{name}")
        assert comparison(folder, name)["name"] == name
    for candidate in (second, third):  # a name is that of the last one that was given it
        run(folder, *asked(first, candidate), "action.name=caches")
    assert [one["run_id"] for one in comparison(folder, "caches")["runs"]] == [first, third]
    assert sorted(path.name for path in comparisons.iterdir()) == ["caches", "comparison", "comparison-2"]
