"""The KV cache of a configured model, from the metadata that lie on this machine. Downloads nothing."""

from __future__ import annotations

from contextcliff.errors import ConfigError
from contextcliff.kv.architecture import GIB, Architecture
from contextcliff.kv.gguf_architecture import read_architecture
from contextcliff.kv.hub_architecture import architecture_of_hub
from contextcliff.models.model import Model


def architecture_of(model: Model) -> Architecture | None:
    """From the model's GGUF file, else from its hub repository's configuration; None where neither is here."""
    try:
        described = read_architecture(model.gguf.fetch()) if model.gguf.is_at_hand() else None
    except ConfigError:  # a model of a server names no weights
        described = None
    if described is None and model.hub is not None:
        return architecture_of_hub(model.hub)
    return described


def weights_gib(model: Model) -> float | None:
    """Size of the model's GGUF file in GiB; None where it is not here."""
    try:
        return model.gguf.fetch().stat().st_size / GIB if model.gguf.is_at_hand() else None
    except ConfigError:
        return None
