"""What of a report becomes metrics, tags and parameters."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from contextcliff.tracking.metrics import measurements, parameters, tags, valid_key
from tests.simulated_reports import findings_in
from tests.tracking.tracking_runs import report


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


def test_parameters_are_cut_at_the_limit_and_never_collide() -> None:
    made = parameters({"a b:c": "1", "a b?c": "2", "long": "x" * 7000})
    assert made == {"a b_c": "1", "a b_c_2": "2", "long": "x" * 6000}


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "/etc", "a//b", "wrong needle!", "ü/é", "k" * 300])
def test_any_name_becomes_a_key_that_mlflow_takes(name: str) -> None:
    from mlflow.utils.validation import _validate_metric, _validate_param

    _validate_metric(valid_key(name), 1.0, 0, 0)
    _validate_param(valid_key(name), "x")
