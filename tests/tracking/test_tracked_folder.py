"""A run as its folder tells it is the run that was tracked when it ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextcliff.findings.finding import FinishedRun
from contextcliff.records.report import Report
from contextcliff.reporting.files import write_report_files
from contextcliff.reporting.schema import flatten
from contextcliff.tracking.metrics import digest, measurements, tags
from contextcliff.tracking.mlflow import tracked_of
from contextcliff.tracking.tracker import TrackingError
from tests.reporting.made_reports import search_report
from tests.simulated_reports import NOTHING_SCORED, PARTIAL, edited, simulated
from tests.tracking.test_digest import whole_report

REPORTS = {
    "every field": whole_report(),
    "a search": search_report(),
    "partial": simulated(PARTIAL),
    "nothing scored": simulated(NOTHING_SCORED),
    "a broken text": edited(simulated(), texts="\udc80 and \u2028"),
}


def written(folder: Path, report: Report) -> Path:
    run = FinishedRun(report=report, scored=(), parameters={})
    manifest = {"configuration": {"task.trials": "4"}}
    write_report_files(run, manifest=manifest, folder=folder / "run", figures=False)
    return folder / "run"


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_that_is_read_back_is_the_same_upload(name: str, tmp_path: Path) -> None:
    before = REPORTS[name]
    after = tracked_of(written(tmp_path, before)).report
    assert json.dumps(flatten(after)) == json.dumps(flatten(before))
    assert digest(after) == digest(before)
    assert tags(after) == tags(before)
    assert measurements(after) == measurements(before)


def test_parameters_samples_and_name_come_from_the_files(tmp_path: Path) -> None:
    folder = written(tmp_path, simulated())
    (folder / "samples.jsonl").write_text('{"sample_id": "a", "score": 1.0}\n', encoding="utf-8")
    found = tracked_of(folder)
    assert found.parameters == {"task.trials": "4"}
    assert found.samples == [{"sample_id": "a", "score": 1.0}]
    assert found.folder == folder


@pytest.mark.parametrize("line", ["[]", "{", "[" * 50_000])
def test_a_line_that_is_no_sample_is_named(tmp_path: Path, line: str) -> None:
    folder = written(tmp_path, simulated())
    (folder / "samples.jsonl").write_text(f"{json.dumps({})}\n{line}\n", encoding="utf-8")
    with pytest.raises(TrackingError) as told:
        tracked_of(folder)
    assert str(told.value) == f"{folder}/samples.jsonl line 2 is no sample; make it anew with action=analyze"


def test_a_folder_that_lacks_a_file_or_has_one_of_another_version_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path, simulated())
    report = folder / "report.json"
    report.write_text(report.read_text("utf-8").replace('"schema_version": 1', '"schema_version": 2'), "utf-8")
    with pytest.raises(TrackingError, match=r"report\.json is of schema 2, this ContextCliff reads 1: upgrade, or"):
        tracked_of(folder)
    (folder / "manifest.json").unlink()
    with pytest.raises(TrackingError) as told:
        tracked_of(folder)
    assert str(told.value) == (
        f"{folder}/manifest.json: No such file or directory; make it anew with action=analyze run={folder}"
    )


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    folder = written(tmp_path, simulated())
    with (folder / "samples.jsonl").open("wb") as file:
        file.truncate(3 << 30)
    with pytest.raises(TrackingError, match=r"samples\.jsonl: is larger than 2,048 MiB"):
        tracked_of(folder)
