"""Which model a configuration without a model name means: the one that the server reports, or that of a stored run."""

from __future__ import annotations

import re
from dataclasses import replace

from contextcliff.actions.action import Invocation
from contextcliff.engines.engine import ServerEngine
from contextcliff.errors import ConfigError, RunError
from contextcliff.execution.store import Store, StoredRun

_PLAIN_VALUE = re.compile(r"(?!(?:true|false|null|none|nan|inf|yes|no|on|off)$)[A-Za-z/][\w./:@+-]*", re.IGNORECASE)
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
    value = name if _PLAIN_VALUE.fullmatch(name) else "'" + name.replace("'", r"\'") + "'"
    return replace(
        invocation,
        model=replace(invocation.model, name=name),
        parameters={**invocation.parameters, "model.name": name},
        overrides=(*invocation.overrides, f"model.name={value}"),
    )
