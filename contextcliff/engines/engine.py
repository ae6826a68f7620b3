"""What an engine is: it identifies what determines its answers, opens a model, and generates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from contextcliff.records.kv_cache import CacheInUse, DeviceMemory
from contextcliff.records.positions import Positions
from contextcliff.records.sample import Prompt, Sample
from contextcliff.text.tokens import Tokenizer

OnToken = Callable[[str], None]
"""Called with each piece of an answer's text as it arrives."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployment:
    """A model to open under a KV policy.

    `context_tokens` is the longest prompt plus its answer, in tokens; None where only the server knows its window.
    """

    model: Model
    kv_policy: KVPolicy
    context_tokens: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Download:
    """A file that has to be downloaded first; `gib` is its size, None where that is unknown."""

    name: str
    gib: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """What the server says of itself: the model's name, its window in tokens, and lines for the report."""

    model: str | None = None
    window: int | None = None
    lines: tuple[str, ...] = ()
    plain: bool = False
    """Whether prompts are sent as plain text, without a chat template."""
    cache: CacheInUse | None = None
    """The KV cache, where the engine tells what it has, or could measure it by now."""
    positions: Positions | None = None
    """The positions that the model was trained on, where weights or server tell."""
    slots: int | None = None
    """Prompts that it keeps computed, each in a slot that answers one request at a time; None if unknown."""


class Session(Protocol):
    """An engine with its model loaded."""

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The model's own tokenizer; None where the server offers none."""

    @property
    def served(self) -> Served:
        """What the server says of itself; empty for an engine without a server."""

    async def generate(
        self, sample: Sample, prompt: Prompt, sampling: Sampling, on_token: OnToken | None = None
    ) -> Generation:
        """Answer one prompt. Raises `EngineFault` where there is no answer and the model is not to blame.

        An engine with a model sends `prompt` alone; `sample` is there for engines that simulate. `on_token` gets the
        answer's text piece by piece; if the call then raises, what it got is to be dropped.
        """


class Engine(Protocol):
    """One way to run a model; a dataclass in `conf/engine/`."""

    @property
    def name(self) -> str:
        """Name in reports."""

    @property
    def concurrency(self) -> int:
        """Most requests in flight at once."""

    @property
    def tokens_in_flight(self) -> int | None:
        """Most tokens, prompts and answers together, of all requests in flight; None: no limit."""

    @property
    def speculation(self) -> int | None:
        """Samples that a search may ask ahead of its decisions; None: four times `concurrency`."""

    @property
    def max_retries(self) -> int:
        """How often a request is repeated after a fault of the transport."""

    def identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        """What determines the answers: engine, weights and policy. It is part of the store's key.

        Loads nothing and contacts nothing. Raises `ConfigError` for weights that are absent and for a policy that
        this engine can't apply.
        """

    def cache_policy(self, policy: KVPolicy) -> KVPolicy:
        """The policy in the formats that the cache will have: `f16` may stand for what a model computes in."""

    @property
    def window_batch(self) -> int | None:
        """Tokens of a batch that a layer with a sliding window has room for beside its window, as in llama.cpp.

        None if the engine keeps no more than the window, or if that is unknown.
        """

    @property
    def is_paid(self) -> bool:
        """Whether tokens cost what `model.price` says."""

    @property
    def computes_here(self) -> bool:
        """Whether the model runs on this machine because of the run, so that the machine's load is the run's."""

    def memory(self) -> DeviceMemory | None:
        """The memory of the device that the model would run on here; None for a server's. Loads nothing."""

    def download(self, model: Model) -> Download | None:
        """What opening this model would download; None where nothing is missing. Downloads nothing itself."""

    def settle(self, model: Model) -> Model:
        """The model with its weights on this machine, and with its name where only the server knows that.

        Called before the run is named or locked; may download and contact the server. Raises `ConfigError`, `RunError`.
        """

    def open(self, deployment: Deployment) -> AbstractAsyncContextManager[Session]:
        """Load the model, or connect to the server that has it."""


@runtime_checkable
class ServerEngine(Engine, Protocol):
    """An engine whose models run on a server."""

    def check(self) -> None:
        """Raise `ConfigError` where the host needs an API key and none is set. Contacts nothing."""

    def needs_served_name(self, model: Model) -> bool:
        """Whether the configuration names no model, so that `settle` has to ask the server for its name."""

    def configured(self, model: Model) -> Served | None:
        """Name and window by the configuration alone; None where one of them has to come from the server."""

    @property
    def starts_server(self) -> bool:
        """Whether the server is up only while the engine is open."""

    @property
    def may_have_tokenizer(self) -> bool:
        """Whether the server may offer a tokenizer; a provider's host never does."""
