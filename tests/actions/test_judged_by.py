"""By what an invocation judges: every setting that changes a report and is in no fingerprint, and no other."""

from __future__ import annotations

from dataclasses import fields

import pytest

from contextcliff.actions.action import Invocation
from contextcliff.actions.analyse import rule_of_invocation
from contextcliff.composing import conf_dir
from contextcliff.execution.store import StoredRun
from contextcliff.records.report import RunFacts
from tests import compositions

JUDGE = ("judge=llm", "engine@judge.engine=simulated", "judge.model.name=j")
VECTORS = ("task=continuation", "embedding=openai", "embedding.base_url=http://127.0.0.1:9/v1")
RELATIVE = "analysis.relative_to_baseline=true"
TASKS = sorted(file.stem for file in (conf_dir() / "task").glob("*.yaml"))


def built(*overrides: str) -> Invocation:
    return compositions.built("engine=simulated", *overrides)


def rule(*overrides: str, drawn: tuple[int, str] | None = None) -> dict[str, str]:
    facts = RunFacts(model="m", engine="e", context_window=8192, tokenizer="words", dataset="text", drawn=drawn)
    run = StoredRun(run_id="run", fingerprint="f", label="", facts=facts)
    return dict(rule_of_invocation(built(*overrides), run))


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
        (("task=qa",), ("task=qa", "analysis.bins=3")),
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
    assert built(*first).identify().fingerprint == built(*second).identify().fingerprint


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_every_key_of_a_task_asks_or_judges(task: str) -> None:
    invocation = built(f"task={task}")
    asked, judging = set(invocation.task.identity()), {key.removeprefix("task.") for key in rule(f"task={task}")}
    keys = {field.name for field in fields(invocation.task)}
    assert keys - asked - judging == {"save_contexts", "like"} | (keys & set(invocation.task.traits.idle))
    assert not keys & asked & judging


def test_a_key_of_the_analysis_is_in_the_rule_by_itself() -> None:
    told = {key.removeprefix("analysis.") for key in rule("task=qa") if key.startswith("analysis.")}
    assert told == {field.name for field in fields(built().analysis)} - {"require_cap"}


def test_drawn_bins_are_those_of_the_run_whatever_the_analysis_asks() -> None:
    drawn = (5, "fixed")
    assert rule("task=qa", "analysis.bins=10", drawn=drawn)["analysis.bins"] == "5"
