"""`action=gather`: the answers and runs of several output folders come together, and the tracker gets what it lacks."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from contextcliff.reporting import data_files, run_folders
from tests.commands import QUIET, SIMULATED, contextcliff, folders, run

ASKED = ("dataset=synthetic", "task.lengths=[512,1024]", "task.trials=1")
RUN = (*SIMULATED, *ASKED)
ANALYZE = ("action=analyze", *QUIET)
TRACKED = ("engine=simulated", "reporting.progress=false", "reporting.console=none", "reporting.figures=false", *ASKED)
CREATED = "2026-01-01T00:00:00+00:00"
GATHER = ("action=gather", "tracking=none")


def answers(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "outputs" / "state.db")) as store:
        found: int = store.execute("SELECT count(*) FROM generations").fetchone()[0]
    return found


def uploads(folder: Path) -> list[tuple[str, str, str]]:
    """Every MLflow run of a report: its experiment, the folder that it was made of, and its status."""
    with closing(sqlite3.connect(folder / "mlruns" / "mlflow.db")) as store:
        return store.execute(
            "SELECT experiments.name, tags.value, runs.status FROM runs JOIN experiments USING (experiment_id) "
            "JOIN tags USING (run_uuid) WHERE tags.key = 'contextcliff.folder' "
            "AND runs.lifecycle_stage = 'active' ORDER BY 1, 2"
        ).fetchall()


def files(folder: Path) -> dict[str, bytes]:
    """Everything that lies in the run folders of an output folder."""
    root = folder / "outputs"
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.startswith("state.db") and "/.new-" not in str(path)
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two machines' output folders: each has a run of its own, and one that both began."""
    folder = tmp_path_factory.mktemp("machines")
    for name, policy in (("a", "none,q8_0"), ("b", "none,q4_0")):
        run(folder / name, *RUN, f"kv_policy={policy}")
    for file in folder.glob("*/outputs/*/*/report.json"):  # neither is newer
        file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), "created_at": CREATED}), "utf-8")
    return folder


@pytest.fixture
def machines(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "machines")
    (tmp_path / "machines" / "here").mkdir()
    return tmp_path / "machines"


def test_answers_and_runs_of_other_output_folders_come_into_this_one_once(machines: Path) -> None:
    here = machines / "here"
    told = run(here, *GATHER, f"action.stores=[{machines}/a/outputs,../b/outputs]")
    assert folders(here) == sorted({*folders(machines / "a"), *folders(machines / "b")})
    assert answers(here) == answers(machines / "a") + answers(machines / "b") // 2
    lines = [line.split() for line in told.splitlines()]
    assert ["store", "runs", "new", "answers", "new", "folders", "copied"] in lines
    assert ["../b/outputs", "2", "1", "44", "22", "1"] in lines
    assert "TRACKING nothing: tracking=none keeps no runs" in told
    before = files(here)
    told = run(here, *GATHER, "action.stores=[../b/outputs]")
    assert files(here) == before
    assert ["../b/outputs", "2", "0", "44", "0", "0"] in [line.split() for line in told.splitlines()]


@pytest.mark.slow
def test_a_newer_report_takes_the_place_of_an_older_by_the_same_rule_and_lies_beside_one_by_another(
    machines: Path,
) -> None:
    here, name = machines / "here", folders(machines / "a")[0]
    run(here, *GATHER, "action.stores=[../a/outputs]")
    foreign = machines / "a" / "outputs" / "contextcliff"
    theirs = foreign / name / "report.json"
    ours = here / "outputs" / "contextcliff" / name / "report.json"
    for created, copied in (("2001-01-01T00:00:00+00:00", False), ("2999-01-01T00:00:00+00:00", True)):
        theirs.write_text(json.dumps({**json.loads(theirs.read_text("utf-8")), "created_at": created}), "utf-8")
        run(here, *GATHER, "action.stores=[../a/outputs]")
        assert (json.loads(ours.read_text("utf-8"))["created_at"] == created) is copied
    run(machines / "a", *ANALYZE, f"run={name}", "analysis.threshold=0.9")
    shutil.rmtree(foreign / name)
    (foreign / f"{name}-threshold-0.9").rename(foreign / name)
    run(here, *GATHER, "action.stores=[../a/outputs]")
    assert f"{name}-threshold-0.9" in folders(here)


@pytest.mark.parametrize("writes", [0, 4, 9])
def test_a_gather_that_was_killed_can_be_repeated(machines: Path, writes: int) -> None:
    from contextcliff.actions.gather import Gather
    from tests.compositions import built

    def gather(into: Path) -> None:
        from dataclasses import replace

        action = Gather(stores=(str(machines / "a" / "outputs"), str(machines / "b" / "outputs")))
        asked = built("action=gather", "tracking=none", "reporting.console=none")
        action(replace(asked, output_dir=into / "outputs"))

    (machines / "whole").mkdir()
    gather(machines / "whole")
    child = os.fork()
    if child == 0:
        done, copying = 0, data_files.replacing

        def dying(path: Path) -> object:
            nonlocal done
            if done == writes:
                os._exit(9)
            done += 1
            return copying(path)

        try:
            vars(run_folders)["replacing"] = dying  # this process ends here
            gather(machines / "here")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    gather(machines / "here")
    assert files(machines / "here") == files(machines / "whole")
    assert answers(machines / "here") == answers(machines / "whole")


def test_links_and_hidden_files_of_another_folder_are_not_followed_and_not_copied(machines: Path) -> None:
    (machines / "secret").write_text("mine", encoding="utf-8")
    foreign = machines / "a" / "outputs" / "contextcliff"
    name = folders(machines / "a")[0]
    (foreign / name / "link.txt").symlink_to(machines / "secret")
    (foreign / name / "figures").symlink_to(machines)
    (foreign / name / ".half.tmp").write_text("x", encoding="utf-8")
    (foreign / "linked-run").symlink_to(foreign / name)
    (machines / "a" / "outputs" / "linked").symlink_to(foreign)
    here = machines / "here"
    run(here, *GATHER, "action.stores=[../a/outputs]")
    assert folders(here) == [each for each in folders(machines / "a") if each != "linked-run"]
    assert sorted(path.name for path in (here / "outputs").iterdir()) == ["contextcliff", "state.db"]
    assert sorted(path.name for path in (here / "outputs" / "contextcliff" / name).iterdir()) == [
        *("config.yaml", "evidence.jsonl.gz", "manifest.json", "report.html", "report.json", "report.md"),
        "samples.jsonl",
    ]


def test_a_run_that_is_none_is_left_out_and_told_and_no_other(machines: Path) -> None:
    first, second = folders(machines / "a")
    foreign = machines / "a" / "outputs" / "contextcliff"
    shutil.copytree(foreign / first, foreign / "outside")
    file = foreign / "outside" / "report.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), "run_id": "../../outside"}), "utf-8")
    with (foreign / first / "contexts.jsonl.gz").open("wb") as large:
        large.truncate(3 << 30)
    told = run(machines / "here", *GATHER, "action.stores=[../a/outputs]")
    place = "../a/outputs/contextcliff/outside"
    assert f"  left out: {place}/report.json: its run id is no name of a folder" in told.splitlines()
    assert "contexts.jsonl.gz: is 3.0 GiB; files of up to 2 GiB are read, give a part of it" in told
    assert folders(machines / "here") == [second]
    assert not (machines / "outside").exists()


@pytest.mark.parametrize(
    ("stores", "told"),
    [
        (
            "[../nothing]",
            "action.stores: ../nothing has no state.db; give output folders, each with its state.db and its runs",
        ),
        ("[../a/outputs,outputs]", "action.stores: outputs is output_dir itself; name other output folders"),
    ],
)  # fmt: skip
def test_what_is_no_other_output_folder_is_refused_before_anything_is_merged(
    machines: Path, stores: str, told: str
) -> None:
    here = machines / "here"
    shutil.copytree(machines / "b" / "outputs", here / "outputs")
    before = files(here), answers(here)
    ended = contextcliff(*GATHER, f"action.stores={stores}", cwd=here)
    assert (ended.returncode, ended.stderr) == (2, f"error: {told}\n")
    assert (files(here), answers(here)) == before


@pytest.mark.slow
def test_runs_that_the_tracker_lacks_are_uploaded_once_each_into_its_experiment(tmp_path: Path) -> None:
    run(tmp_path, *RUN, "kv_policy=none,q8_0")
    run(tmp_path, *RUN, "tracking.experiment=second", "seed=1")
    plain, other = folders(tmp_path), folders(tmp_path, "second")
    told = run(tmp_path, "action=gather")
    assert told.splitlines()[0] == "TRACKING 3 uploaded, 0 there already, 0 failed"
    expected = sorted([*(("contextcliff", name, "FINISHED") for name in plain), ("second", *other, "FINISHED")])
    assert [each for each in uploads(tmp_path) if each[0] != "Default"] == expected
    told = run(tmp_path, "action=gather", "tracking.experiment=second")
    assert told == "TRACKING 0 uploaded, 1 there already, 0 failed\n"
    assert run(tmp_path, "action=gather") == "TRACKING 0 uploaded, 3 there already, 0 failed\n"
    assert [each for each in uploads(tmp_path) if each[0] != "Default"] == expected


def test_a_server_that_is_away_is_one_line_and_the_warning_of_a_run_names_the_command_that_uploads_it(
    tmp_path: Path,
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        away = f"tracking.uri=http://127.0.0.1:{probe.getsockname()[1]}"
    ended = contextcliff(*TRACKED, away, "output_dir=kept", cwd=tmp_path)
    assert ended.returncode == 0
    first, last = ended.stderr.splitlines()
    assert first.startswith(f"warning: can't track in {away.partition('=')[2]}: ")
    assert first.endswith("; the run goes on, and is uploaded at its end")
    command = f"python -m contextcliff action=gather {away} output_dir=kept"
    assert last.endswith(f"are complete; upload them later with: {command}")
    ended = contextcliff(*command.split()[3:], cwd=tmp_path)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert ended.stderr.startswith(
        f"error: 1 of 1 runs could not be uploaded: can't track in {away.partition('=')[2]}: "
    )
    assert ended.stderr.endswith("; the same command uploads them later\n")
    assert ended.stdout.splitlines()[0] == "TRACKING 0 uploaded, 0 there already, 1 failed"
