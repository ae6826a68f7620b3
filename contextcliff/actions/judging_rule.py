"""By what an invocation judges the answers of a run: all that changes a report and is in no fingerprint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass

from contextcliff.actions.action import Invocation
from contextcliff.analysis.judged_by import Rule
from contextcliff.annotation.embedder import Embedder
from contextcliff.annotation.judge import Judge
from contextcliff.execution.store import StoredRun
from contextcliff.seeding import digest_of
from contextcliff.tasks.task import Task

_BINS, _BINNING = "analysis.bins", "analysis.binning"
_BASELINE = "analysis.baseline_tokens"
_RELATIVE = "analysis.relative_to_baseline"
_WRITTEN_BESIDE = "save_contexts"
"""The one key of a task that neither asks nor judges."""
_DIGEST_SHOWN = 12


def rule_of_invocation(invocation: Invocation, run: StoredRun) -> Rule:
    """Every key of the analysis that counts for this task, those of the task that its identity leaves out, judge and
    embedder.

    Bins that documents were drawn for are those of the run: no analysis draws again.
    """
    return {
        key: str(value)
        for part in (
            _analysis(invocation, run),
            _task(invocation.task),
            _judge(invocation.judge),
            _embedding(invocation.embedder) if invocation.task.embeds_texts else {},
        )
        for key, value in part.items()
    }


def _analysis(invocation: Invocation, run: StoredRun) -> Mapping[str, object]:
    task = invocation.task
    rule: dict[str, object] = {f"analysis.{key}": value for key, value in asdict(invocation.analysis).items()}
    if rule[_RELATIVE] is None:
        rule[_RELATIVE] = task.relative_by_default
    if run.facts.drawn is not None:
        rule |= {_BINS: run.facts.drawn.bins, _BINNING: run.facts.drawn.binning}
    idle = {*([_BINS, _BINNING] if task.designed_lengths else []), *([] if rule[_RELATIVE] else [_BASELINE])}
    return {key: value for key, value in rule.items() if key not in idle}


def _task(task: Task) -> Mapping[str, object]:
    if not is_dataclass(task) or isinstance(task, type):
        return {}
    asked = {*task.identity(), _WRITTEN_BESIDE}
    return {f"task.{key}": value for key, value in asdict(task).items() if key not in asked}


def _judge(judge: Judge | None) -> Mapping[str, object]:
    if judge is None:
        return {"task.judge": None}
    respondent = judge.respondent()
    own = {field.name: getattr(judge, field.name) for field in fields(judge) if field.name not in ("model", "engine")}
    return {
        "task.judge": judge.model.name or judge.engine.name,
        **{f"task.judge.{key}": value for key, value in own.items()},
        # The identity has an address in it, and an address may have a password.
        "task.judge.respondent": digest_of(dict(respondent.identity), asdict(respondent.sampling))[:_DIGEST_SHOWN],
    }


def _embedding(embedder: Embedder | None) -> Mapping[str, object]:
    if embedder is None:
        return {"task.embedding": None}
    return {
        "task.embedding": embedder.name,
        "task.embedding.vectors": digest_of(dict(embedder.identity()))[:_DIGEST_SHOWN],
    }
