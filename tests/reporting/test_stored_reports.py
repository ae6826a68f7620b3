"""Reports that are read again: of which schema they are, and in which folder a report by another rule goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextcliff.records.report import Report
from contextcliff.reporting import stored_reports as stored
from contextcliff.reporting.figures import comparable_runs, draw_curves
from contextcliff.reporting.schema import flatten
from tests.make import known
from tests.simulated_reports import edited, simulated

RUN = simulated().run.run_id


def judged(threshold: str, *, run_id: str = RUN, created_at: str = "2026-11-01T10:00:00", **more: str) -> Report:
    return edited(
        simulated(), run_id=run_id, created_at=created_at, judged_by={"analysis.threshold": threshold, **more}
    )


def saved(report: Report, folder: Path, *, schema: int = 1) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    flat = {**flatten(report), "schema_version": schema}
    (folder / "report.json").write_text(json.dumps(flat), encoding="utf-8")
    return folder


def put(report: Report, experiment: Path) -> str:
    """Write it where it goes; the folder's name."""
    return saved(report, stored.folder_of(report, experiment=experiment)).name


@pytest.mark.parametrize("broken", ["", "{", "[]", "null", "{}", '{"schema_version": 1}', "[" * 50_000])
def test_what_is_no_report_is_refused(tmp_path: Path, broken: str) -> None:
    (tmp_path / "report.json").write_text(broken)
    with pytest.raises(stored.UnreadableReport, match="can't be read as a report of this version; make it anew with"):
        stored.read_report(tmp_path / "report.json")


def test_what_earlier_versions_found_and_this_one_does_not_is_passed_over(tmp_path: Path) -> None:
    positions = {"trained_tokens": 1_024, "source": "given", "scaling": "", "factor": None}
    told = {"trained_tokens": 1_024, "positions": positions, "longest_tokens": 2_048}
    earlier = {
        "text_effect": {"correlation": 0.3, "lengths": []},
        "extrapolation": {**told, "within": None, "fails_at_tokens": 2_048, "lengths": []},
    }
    file = tmp_path / "report.json"
    file.write_text(json.dumps({**flatten(simulated()), **earlier}), encoding="utf-8")
    again = flatten(stored.read_report(file))
    assert again["extrapolation"] == told
    assert "text_effect" not in again


def test_what_is_passed_over_is_counted_and_named(tmp_path: Path) -> None:
    saved(simulated(), tmp_path / "good")
    saved(simulated(), tmp_path / "newer", schema=3)
    found, passed_over = stored.stored_reports(tmp_path)
    assert [stored.folder.name for stored in found] == ["good"]
    assert stored.told_passed_over(passed_over) == (
        f"left out: {tmp_path}/newer/report.json is of schema 3, this ContextCliff reads 1: upgrade, or make it anew "
        "with action=analyze"
    )
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "report.json").write_text("{")
    told = stored.told_passed_over(stored.stored_reports(tmp_path)[1])
    assert told.startswith(f"left out: 2 reports, the first of them {tmp_path}/broken/report.json can't be read")


def test_the_first_rule_has_the_runs_own_folder_and_another_one_a_folder_beside_it(tmp_path: Path) -> None:
    assert [put(judged(threshold), tmp_path) for threshold in ("0.8", "0.9", "0.8", "0.9", "0.5")] == [
        RUN, f"{RUN}-threshold-0.9", RUN, f"{RUN}-threshold-0.9", f"{RUN}-threshold-0.5",
    ]  # fmt: skip
    # Those that look alike in a folder's name are numbered.
    lists = [judged("0.8", **{"task.word_list": path}) for path in ("None", "/a/words.txt", "/b/words.txt")]
    names = [RUN, f"{RUN}-word_list-words.txt", f"{RUN}-word_list-words.txt-2"]
    assert [put(report, tmp_path / "lists") for report in (*lists, *lists)] == [*names, *names]


def test_a_report_of_a_newer_schema_is_not_replaced_and_a_damaged_one_is(tmp_path: Path) -> None:
    saved(judged("0.8"), tmp_path / RUN, schema=2)
    assert put(judged("0.8"), tmp_path) == f"{RUN}-schema-1"
    (tmp_path / RUN / "report.json").write_text("{")
    assert put(judged("0.8"), tmp_path) == RUN


def test_a_report_of_an_earlier_version_is_replaced_by_the_same_threshold(tmp_path: Path) -> None:
    saved(edited(simulated(), judged_by={}), tmp_path / RUN)
    assert stored.folder_of(judged("0.9"), experiment=tmp_path).name == f"{RUN}-threshold-0.9"
    assert stored.folder_of(judged("0.8"), experiment=tmp_path).name == RUN


def test_runs_of_one_task_texts_and_rule_are_drawn_together_each_once(tmp_path: Path) -> None:
    for day, (run_id, threshold) in enumerate([(RUN, "0.8"), (RUN, "0.9"), ("b", "0.9"), ("b", "0.8"), ("c", "0.8")]):
        made = judged(threshold, run_id=run_id, created_at=f"2026-11-0{day + 1}T10:00:00")
        put(edited(made, model=f"model-{run_id}"), tmp_path)
    for threshold, runs in (("0.8", [RUN, "b", "c"]), ("0.9", [RUN, "b"])):
        this = edited(judged(threshold), model=f"model-{RUN}")
        drawn = list(comparable_runs(this, beside=stored.stored_reports(tmp_path)[0]).values())
        assert sorted(report.run.run_id for report in drawn) == sorted(runs)
        assert {report.run.judged_by["analysis.threshold"] for report in drawn} == {threshold}
    others = {
        "task": edited(this, run_id="other", task="another"),
        "texts": edited(this, run_id="o", dataset="another"),
    }
    for name, other in others.items():
        saved(other, tmp_path / name)
    beside, _ = stored.stored_reports(tmp_path)
    assert len(comparable_runs(this, beside=beside)) == 2
    assert known(draw_curves(this, folder=tmp_path, dpi=50, beside=beside)).name == f"runs-{this.run.task}.png"
