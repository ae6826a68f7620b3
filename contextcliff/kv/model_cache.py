"""The KV cache of a configured model, from the metadata that lie on this machine. Downloads nothing."""

from __future__ import annotations

from contextcliff.errors import ConfigError
from contextcliff.kv.architecture import Architecture
from contextcliff.kv.gguf_architecture import read_architecture
from contextcliff.kv.hub_architecture import architecture_of_hub
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.records.kv_cache import GIB, CacheFacts, DeviceMemory


def cache_facts(
    model: Model, policy: KVPolicy, device: DeviceMemory | None = None, *, shown: str | None = None
) -> CacheFacts:
    """What is known of the cache before the model is loaded. `model.memory_gib` goes before what the device has.

    `shown` is the policy's name in reports, where `policy` has other formats than the one that was asked for.
    """
    architecture = architecture_of(model)
    given = None if model.memory_gib is None else DeviceMemory(name="", gib=model.memory_gib)
    return CacheFacts(
        policy=shown or policy.shown,
        option=policy.name,
        key_type=policy.key_type,
        value_type=policy.value_type,
        evicts=policy.evicts,
        budget=policy.budget,
        sees_question=policy.sees_question,
        declared=policy.declared,
        layers=() if architecture is None else architecture.cached(policy),
        weights_gib=_weights_gib(model),
        device=given or device,
    )


def architecture_of(model: Model) -> Architecture | None:
    """From the model's GGUF file, else from its hub repository's configuration; None where neither is here."""
    try:
        described = read_architecture(model.gguf.fetch()) if model.gguf.is_at_hand() else None
    except ConfigError:  # a model of a server names no weights
        described = None
    if described is None and model.hub is not None:
        return architecture_of_hub(model.hub)
    return described


def _weights_gib(model: Model) -> float | None:
    """Size of the model's GGUF file; None where it is not here."""
    try:
        return model.gguf.fetch().stat().st_size / GIB if model.gguf.is_at_hand() else None
    except ConfigError:
        return None
