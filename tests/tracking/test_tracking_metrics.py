"""What of a report becomes metrics, tags and parameters."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from contextcliff.records.analysis import Zone
from contextcliff.records.report import Report
from contextcliff.tracking.metrics import digest, measurements, parameters, tags, valid_key
from tests.tracking.tracking_runs import LENGTHS, bin_at, report


def points(made: Report, key: str) -> list[tuple[int, float]]:
    return [(each.step, each.value) for each in measurements(made) if each.key == key]


def test_a_length_figure_has_one_point_for_each_length_at_its_tokens() -> None:
    assert points(report(), "score") == [(512, 1.0), (1024, 0.95), (4096, 0.4)]
    assert [step for step, _ in points(report(), "latency_ms_median")] == list(LENGTHS)


@pytest.mark.parametrize(
    "key",
    [
        *("score", "score_ci_low", "score_ci_high", "score_tested_low", "failure_rate", "std"),
        *("n_samples", "n_unscored", "ttft_ms_median", "latency_ms_median"),
        *("failure.empty", "failure.wrong-needle"),
    ],
)
def test_every_length_figure_is_there(key: str) -> None:
    assert [step for step, _ in points(report(), key)] == list(LENGTHS)


def test_a_failure_that_a_length_does_not_show_is_a_zero_there() -> None:
    assert points(report(), "failure.wrong-needle") == [(512, 0), (1024, 1), (4096, 10)]
    assert points(report(), "failure.empty") == [(512, 0), (1024, 0), (4096, 2)]


def test_a_run_figure_has_one_point() -> None:
    assert points(report(), "safe_cap_tokens") == [(0, 1024)]
    assert points(report(), "safe_cap_fraction") == [(0, 0.125)]
    assert points(report(), "mean_score") == [(0, 0.78)]
    assert points(report(), "computed_prompt_tokens") == [(0, 600)]
    assert points(report(), "caps.writing") == [(0, 512)]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("half_life_tokens", 3000),
        ("half_life_ci_low", 2100),
        ("half_life_ci_high", 5200),
        ("half_life_lsq", 3300),
        ("position_p_value", 0.004),
        ("judge_disagreement", 0.1),
        ("judge_mean_rating", 7.5),
    ],
)
def test_every_finding_that_is_a_number_is_a_figure_of_the_run(key: str, value: float) -> None:
    assert points(report(), key) == [(0, value)]


def test_the_controls_have_a_point_for_each_length_that_has_them() -> None:
    assert points(report(), "control_ceiling") == [(512, 1.0), (4096, 0.9)]
    assert points(report(), "control_floor") == [(512, 0.0)]


def test_what_was_not_measured_is_not_logged() -> None:
    found = report().half_life
    made = report(
        bins=(bin_at(512, 1.0), bin_at(1024, None), bin_at(2048, math.nan)),
        half_life=replace(found, tokens=None, ci_high=None),
        position=replace(report().position, pattern=None, p_value=None),
        judgement=None,
    )
    assert points(made, "score") == [(512, 1.0)]
    assert points(made, "half_life_tokens") == []
    assert points(made, "half_life_ci_low") == [(0, 2100)]
    assert points(made, "position_p_value") == []
    assert points(made, "judge_disagreement") == []
    assert points(made, "usd") == []
    assert points(made, "caps.half_life") == []


def test_tags_name_what_runs_are_filtered_by() -> None:
    made = tags(report(partial=True, label="before the fix"))
    assert made["contextcliff.run_id"] == "qwen-niah-f16-1a2b"
    assert made["contextcliff.label"] == "before the fix"
    assert (made["model"], made["kv_policy"], made["verdict"]) == ("qwen", "none", "cliff")
    assert made["partial"] == "true"
    assert made["position_pattern"] == "primacy"


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


def test_a_position_that_was_not_tested_is_no_tag() -> None:
    assert "position_pattern" not in tags(report(position=replace(report().position, pattern=None)))


@pytest.mark.parametrize(
    "changes",
    [
        {"fingerprint": "other"},
        {"partial": True},
        {"successes": 46},
        {"bins": report().analysis.bins[:2]},
        {"zones": (Zone(name="stable", min_tokens=512, max_tokens=4096),)},
        {"safe_cap": replace(report().analysis.safe_cap, tokens=512)},
        {"half_life": replace(report().half_life, ci_low=2000)},
        {"half_life_lsq": None},
        {"profile": ()},
        {"position": replace(report().position, p_value=0.005)},
        {"guide": replace(report().guide, advice=())},
        {"facets": ()},
        {"controls": report().controls[:1]},
        {"judgement": None},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_the_digest_follows_what_the_report_says(changes: dict[str, object]) -> None:
    assert digest(report("same-run", **changes)) != digest(report("same-run"))


def test_the_digest_ignores_when_and_how_the_report_was_made() -> None:
    assert digest(report(created_at="2027-01-01T00:00:00Z", command="other")) == digest(report())


def test_parameters_are_cut_at_the_limit_and_never_collide() -> None:
    made = parameters({"a b:c": "1", "a b?c": "2", "long": "x" * 7000})
    assert made["a b_c"] == "1"
    assert made["a b_c_2"] == "2"
    assert len(made["long"]) == 6000


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "/etc", "a//b", "wrong needle!", "ü/é", "k" * 300])
def test_any_name_becomes_a_key_that_mlflow_takes(name: str) -> None:
    from mlflow.utils.validation import _validate_metric, _validate_param

    _validate_metric(valid_key(name), 1.0, 0, 0)
    _validate_param(valid_key(name), "x")
