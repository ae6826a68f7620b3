"""The KV cache of a run: its policy, its size, where it lives, and what the engine said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

GIB = 2**30
AS_STARTED = "as started (not checked)"
"""What stands for the policy of a server that somebody else has started, where nobody says what it has."""
_UNCHOSEN = "none"


def shown_policy(name: str, *, key_type: str, value_type: str, as_started: bool) -> str:
    """The name of a cache's policy in reports: where none was chosen its format, `f16`."""
    if as_started:
        return AS_STARTED
    formats = key_type if key_type == value_type else f"{key_type}-{value_type}"
    return formats if name == _UNCHOSEN else name


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheInUse:
    """What an engine says of the cache that it has, read back from it."""

    key_type: str
    value_type: str
    bytes_per_token: float | None
    """Of the whole cache over the tokens that it stands for, those that were evicted included; None: not told."""
    tokens: int | None
    """Those tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedLayers:
    """Layers of one size, one behind another."""

    n_layers: int
    bytes_per_token: float
    """Of one layer, under the policy: a budget below 1 counts its share."""
    window: int | None = None
    """Tokens that a sliding window keeps; None: all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceMemory:
    """Memory that a model can have."""

    name: str
    gib: float


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheFacts:
    """The cache of one run, as the store keeps it."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = {"allow_inf_nan": False}

    policy: str
    """Its name in run ids; `none` where none was chosen."""
    key_type: str
    value_type: str
    option: str = ""
    """The option of `conf/kv_policy/` that it is, or was before keys changed it."""
    evicts: bool = False
    budget: float = 1.0
    """Share of the positions that is kept."""
    sees_question: bool = False
    """Whether an eviction has read the question."""
    declared: bool = False
    """Whether the policy is what somebody says of a server."""
    layers: tuple[CachedLayers, ...] = ()
    """By the model's metadata; empty where they are not at hand."""
    weights_gib: float | None = None
    """Size of the weights' file."""
    device: DeviceMemory | None = None
    """Where the model ran here; None: on a server, or nowhere."""
    in_use: CacheInUse | None = None
    as_started: bool = False
    """Whether nobody says with what cache somebody else has started the server."""

    @property
    def shown(self) -> str:
        return shown_policy(self.policy, key_type=self.key_type, value_type=self.value_type, as_started=self.as_started)

    @property
    def bytes_per_token(self) -> float | None:
        """Bytes that one more token takes where no sliding window is full; None where the layers are not known."""
        return sum(each.n_layers * each.bytes_per_token for each in self.layers) if self.layers else None

    def gib(self, tokens: int) -> float | None:
        if not self.layers:
            return None
        return sum(_bytes(each, tokens) for each in self.layers) / GIB


def _bytes(layers: CachedLayers, tokens: int) -> float:
    kept = tokens if layers.window is None else min(tokens, layers.window)
    return layers.n_layers * layers.bytes_per_token * kept
