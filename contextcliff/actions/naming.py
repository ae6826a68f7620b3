"""What a run is called, and by what it is judged: the model that is meant, and the keys that change a report."""

from __future__ import annotations

from dataclasses import asdict, fields, replace

from contextcliff.actions.action import Invocation
from contextcliff.actions.override_keys import as_typed
from contextcliff.analysis.judged_by import Rule
from contextcliff.errors import ConfigError, RunError
from contextcliff.execution.store import Store, StoredRun
from contextcliff.seeding import digest_of
from contextcliff.tasks.task import UNJUDGED

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
    known = invocation.engine.known(invocation.model)
    if known is None or known.model is not None:
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
    task, judge, embedder = invocation.task, invocation.judge, invocation.embedder
    rule: dict[str, object] = {f"analysis.{key}": value for key, value in invocation.analysis.judging().items()}
    if rule[_RELATIVE] is None:
        rule[_RELATIVE] = task.traits.relative_by_default
    if run.facts.drawn is not None:
        rule |= {_BINS: run.facts.drawn.bins, _BINNING: run.facts.drawn.binning}
    idle = [*([_BINS, _BINNING] if task.traits.designed_lengths else []), *([] if rule[_RELATIVE] else [_BASELINE])]
    rule = {key: value for key, value in rule.items() if key not in idle}
    asked = {*task.identity(), *task.traits.idle, *UNJUDGED}
    rule |= {f"task.{key}": value for key, value in asdict(task).items() if key not in asked}
    rule["task.judge"] = None
    if judge is not None:
        respondent, own = judge.respondent(), [each.name for each in fields(judge)]
        rule["task.judge"] = judge.model.name or judge.engine.name
        rule |= {f"task.judge.{key}": getattr(judge, key) for key in own if key not in ("model", "engine")}
        # The identity has an address in it, and an address may have a password.
        digest = digest_of(dict(respondent.identity), asdict(respondent.sampling))
        rule["task.judge.respondent"] = digest[:_DIGEST_SHOWN]
    if task.traits.embeds_texts:
        rule["task.embedding"] = None if embedder is None else embedder.name
        if embedder is not None:
            rule["task.embedding.vectors"] = digest_of(dict(embedder.identity()))[:_DIGEST_SHOWN]
    return {key: str(value) for key, value in rule.items()}
