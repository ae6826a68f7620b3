"""Reports by another rule from the command line: nothing is replaced, nothing is mixed, and MLflow has both."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.commands import SIMULATED, comparison, folders, refused, run

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
        f"error: action.candidates: judged by different rules: {strict} by analysis.threshold=0.9; {quantised} by "
        "analysis.threshold=0.8; judge each by the same with action=analyze analysis.threshold=VALUE, and name the "
        "folders that it prints\n"
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
