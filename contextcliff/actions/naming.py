"""What a run is called, and by what it is judged: the model that is meant, and the keys that change a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace

from contextcliff.actions.action import Invocation
from contextcliff.actions.override_keys import as_typed
from contextcliff.analysis.judged_by import Rule
from contextcliff.annotation.embedder import Embedder
from contextcliff.annotation.judge import Judge
from contextcliff.engines.engine import ServerEngine
from contextcliff.errors import ConfigError, RunError
from contextcliff.execution.store import Store, StoredRun
from contextcliff.seeding import digest_of
from contextcliff.tasks.task import UNJUDGED, Task

_NAMES_SHOWN = 20


def settled(invocation: Invocation, store: Store) -> Invocation:
    """The invocation with the model that will answer, so that two models of one address are two runs.

    May fetch weights and ask the server. Raises `ConfigError`, `RunError`.
    """
    model = invocation.engine.settle(invocation.model)
    if model.name is None or model.name == invocation.model.name:
        return invocation
    # Runs of before this was asked have no model in their names: one of the same model goes on.
    before = run_of(invocation, store)
    if before is not None and before.facts.model == model.name:
        return invocation
    return _named(invocation, model.name)


def require_the_same(asked: Invocation, settled: Invocation) -> None:
    """Raise `RunError` where the server has another model by now: a run may have waited long for its turn."""
    now = asked.engine.settle(asked.model).name
    if now != settled.model.name and settled.model.name is not None:
        raise RunError(
            f"the server has another model now, {now} and not {settled.model.name}; the same command runs that one"
        )


def stored(invocation: Invocation, store: Store) -> Invocation:
    """The invocation with the model whose run is stored, found without a server.

    Raises `ConfigError` where runs of several models are.
    """
    engine = invocation.engine
    if not isinstance(engine, ServerEngine) or not engine.needs_served_name(invocation.model):
        return invocation
    candidates = [_named(invocation, name) for name in store.models()]
    by_name = {str(each.model.name): each for each in candidates if run_of(each, store) is not None}
    before = run_of(invocation, store)
    if before is not None:
        by_name.setdefault(before.facts.model, invocation)
    if len(by_name) > 1:
        shown = ", ".join(sorted(by_name)[:_NAMES_SHOWN])
        raise ConfigError(
            f"model.name: {store.file} holds runs of this configuration by several models; choose one with "
            f"model.name=NAME: {shown}"
        )
    return next(iter(by_name.values()), invocation)


def run_of(invocation: Invocation, store: Store) -> StoredRun | None:
    """The stored run of a configuration, also where its options were called otherwise then."""
    identity = invocation.identify()
    return store.run(identity.run_id) or store.same_run(identity.fingerprint, label=invocation.label)


def _named(invocation: Invocation, name: str) -> Invocation:
    """As if the name had been given: the command that repeats the run gives it."""
    return replace(
        invocation,
        model=replace(invocation.model, name=name),
        parameters={**invocation.parameters, "model.name": name},
        overrides=(*invocation.overrides, f"model.name={as_typed(name)}"),
    )


_BINS, _BINNING = "analysis.bins", "analysis.binning"
_BASELINE = "analysis.baseline_tokens"
_RELATIVE = "analysis.relative_to_baseline"
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
            _embedding(invocation.embedder) if invocation.task.traits.embeds_texts else {},
        )
        for key, value in part.items()
    }


def _analysis(invocation: Invocation, run: StoredRun) -> Mapping[str, object]:
    task = invocation.task
    rule: dict[str, object] = {f"analysis.{key}": value for key, value in invocation.analysis.judging().items()}
    if rule[_RELATIVE] is None:
        rule[_RELATIVE] = task.traits.relative_by_default
    if run.facts.drawn is not None:
        rule |= {_BINS: run.facts.drawn.bins, _BINNING: run.facts.drawn.binning}
    idle = {*([_BINS, _BINNING] if task.traits.designed_lengths else []), *([] if rule[_RELATIVE] else [_BASELINE])}
    return {key: value for key, value in rule.items() if key not in idle}


def _task(task: Task) -> Mapping[str, object]:
    asked = {*task.identity(), *task.traits.idle, *UNJUDGED}
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
