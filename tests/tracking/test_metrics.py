"""What of a report becomes metrics, tags and parameters, and that a run as its folder tells it is the same upload."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from contextcliff.findings.finding import FinishedRun
from contextcliff.records.report import Report
from contextcliff.reporting.files import write_report_files
from contextcliff.reporting.schema import flatten
from contextcliff.tracking import metrics
from contextcliff.tracking.metrics import LEFT_OUT, digest, measurements, numbers_of, parameters, tags, valid_key
from contextcliff.tracking.mlflow import tracked_of
from contextcliff.tracking.tracker import TrackingError
from tests.golden.test_shown_reports import REPORTS
from tests.simulated_reports import edited, findings_in, simulated
from tests.tracking.tracking_runs import report
from tests.valid_reports import SCHEMA_FILE


def test_what_was_not_measured_is_not_logged() -> None:
    one, two, three = report().analysis.bins
    made = report(
        bins=(one, replace(two, mean=None), replace(three, mean=math.nan)),
        half_life=replace(findings_in(report()).half_life, tokens=None, ci_high=None, ci_low=2100),
        position=replace(findings_in(report()).position, pattern=None, p_value=None),
        judgement=None,
        usage=replace(report().usage, usd=None),
        caps={**report().analysis.caps, "half_life": None},
    )
    points = {each.key: (each.step, each.value) for each in measurements(made)}
    assert [each.step for each in measurements(made) if each.key == "by_length/score"] == [512]
    assert points["half_life/ci_low"] == (0, 2100)
    absent = ("half_life/tokens", "position/p_value", "judge/disagreement", "took/usd", "caps/half_life")
    assert not points.keys() & set(absent)


def test_tags_tell_the_option_that_was_chosen_from_its_kind_and_the_rule_that_judged() -> None:
    made = tags(
        report(
            task="niah_static", task_kind="niah", dataset="essays_ja", dataset_kind="essays", texts="潮待の記録係",
            judged_by={"analysis.threshold": "0.9", "task.judge.rubric": "rate it " * 20},
        )
    )  # fmt: skip
    assert (made["task"], made["task_kind"]) == ("niah_static", "niah")
    assert (made["dataset"], made["dataset_kind"], made["texts"]) == ("essays_ja", "essays", "潮待の記録係")
    assert json.loads(made["contextcliff.rule"]) == {"analysis.threshold": "0.9", "task.judge.rubric": "08488137"}


def test_parameters_have_valid_keys_and_are_cut_at_the_limit() -> None:
    assert parameters({"a b:c": "1", "long": "x" * 7000}) == {"a b_c": "1", "long": "x" * 6000}


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "/etc", "a//b", "wrong needle!", "ü/é", "k" * 300])
def test_any_name_becomes_a_key_that_mlflow_takes(name: str) -> None:
    from mlflow.utils.validation import _validate_metric, _validate_param

    _validate_metric(valid_key(name), 1.0, 0, 0)
    _validate_param(valid_key(name), "x")


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of each value below objects and lists, of a list the first alone."""
    if isinstance(value, dict | list) and value:
        for key in value if isinstance(value, dict) else [0]:
            yield from leaves(value[key], (*path, key))
    else:
        yield path


def filled(schema: Any, definitions: Any, values: Iterator[int]) -> Any:
    """Something that has every field of a JSON Schema, with a number of its own in each place for a number."""
    schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    schema = next((each for each in schema.get("anyOf", ()) if each.get("type") != "null"), schema)
    if "$ref" in schema:
        return filled(schema, definitions, values)
    if "properties" in schema:
        return {key: filled(inner, definitions, values) for key, inner in schema["properties"].items()}
    if isinstance(inner := schema.get("additionalProperties"), dict):
        return {"one": filled(inner, definitions, values)}
    if inner := schema.get("prefixItems") or schema.get("items"):
        return [filled(each, definitions, values) for each in (inner if isinstance(inner, list) else [inner])]
    return next(values) if re.search("integer|number|const", str(schema.get("type", "") or [*schema])) else "text"


def test_every_number_of_a_report_is_a_metric_or_left_out_for_a_reason() -> None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    flat = filled(schema, schema["$defs"], count(1000))
    kept = {number for point in numbers_of(flat) for number in (point.value, point.step)}
    lacking = set()
    for path in leaves(flat):
        value: Any = flat
        for key in path:
            value = value[key]
        if isinstance(value, int) and value not in kept and path[-1] != "depth":  # which is part of a name, or a step
            lacking.add(".".join(str(key) for key in path if key != 0))
    assert {each for each in lacking if not each.startswith(tuple(LEFT_OUT))} == set()
    assert {each for each in LEFT_OUT if not any(name.startswith(each) for name in lacking)} == set()


@pytest.mark.parametrize("name", REPORTS)
def test_no_two_numbers_of_a_report_share_a_name_and_a_step(name: str) -> None:
    found = Counter((valid_key(each.key), each.step) for each in numbers_of(flatten(REPORTS[name]())))
    assert {place for place, n in found.items() if n > 1} == set()


def test_everything_in_a_report_is_in_its_digest_but_how_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = REPORTS["everything"]()
    flat, before, same = flatten(made), digest(made), set()
    for path in leaves(flat):
        changed: Any = deepcopy(flat)
        inner = changed
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = "something else"
        monkeypatch.setattr(metrics, "flatten", lambda _, changed=changed: changed)
        if digest(made) == before:
            same.add(".".join(map(str, path)))
    assert same == {"created_at", "command", "next_command", "stopped", "usage.wall_s", "counts.reused"}


def written(folder: Path, report: Report) -> Path:
    run = FinishedRun(report=report, scored=(), parameters={})
    write_report_files(run, manifest={"configuration": {"task.trials": "4"}}, folder=folder / "run", figures=False)
    return folder / "run"


@pytest.mark.parametrize("name", [*REPORTS, "a broken text"])
def test_a_report_that_is_read_back_is_the_same_upload(name: str, tmp_path: Path) -> None:
    before = edited(simulated(), texts="\udc80 and \u2028") if name == "a broken text" else REPORTS[name]()
    after = tracked_of(written(tmp_path, before)).report
    assert (digest(after), tags(after), measurements(after)) == (digest(before), tags(before), measurements(before))


def test_parameters_samples_and_name_come_from_the_files(tmp_path: Path) -> None:
    folder = written(tmp_path, simulated())
    (folder / "samples.jsonl").write_text('{"sample_id": "a", "score": 1.0}\n', encoding="utf-8")
    found = tracked_of(folder)
    assert (found.parameters, found.folder) == ({"task.trials": "4"}, folder)
    assert found.samples == [{"sample_id": "a", "score": 1.0}]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        *(
            ("samples.jsonl", f"{{}}\n{line}\n", "samples.jsonl line 2 is no sample")
            for line in ("[]", "{", "[" * 50_000)
        ),
        ("samples.jsonl", 3 << 30, "samples.jsonl: is larger than 2,048 MiB"),
        ("manifest.json", None, "manifest.json: No such file or directory"),
        ("report.json", '{"schema_version": 2}', "report.json is of schema 2, this ContextCliff reads 1: upgrade, or"),
    ],
)
def test_a_file_that_is_damaged_large_or_away_is_named(
    name: str, content: str | int | None, told: str, tmp_path: Path
) -> None:
    file = written(tmp_path, simulated()) / name
    file.unlink()
    if isinstance(content, int):
        file.touch()
        os.truncate(file, content)
    elif content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(TrackingError) as raised:
        tracked_of(file.parent)
    assert str(raised.value).startswith(f"{file.parent}/{told}")
