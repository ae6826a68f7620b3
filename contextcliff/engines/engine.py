"""What an engine has to do: say what determines its answers, open, generate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from contextcliff.records.prompt import Prompt
from contextcliff.records.sample import Sample
from contextcliff.text.tokens import Tokenizer

OnToken = Callable[[str], None]
"""Takes the words of an answer as they come, piece by piece."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployment:
    """A model made ready under a KV policy.

    `context_tokens` is the longest prompt plus its answer; None where only the server knows its window.
    """

    model: Model
    kv_policy: KVPolicy
    context_tokens: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Download:
    """A file that has to be fetched first; `gib` None where its size is not to be had."""

    name: str
    gib: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """What was detected: the model's name and window as the server tells them, and lines for the record."""

    model: str | None = None
    window: int | None = None
    told: tuple[str, ...] = ()
    plain: bool = False
    """Whether prompts go as plain text, without a chat template."""


class Session(Protocol):
    """An engine with its model loaded."""

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The model's own tokenizer; None where the server has none to ask."""
        ...

    @property
    def served(self) -> Served:
        """What the server tells of itself."""
        ...

    async def generate(
        self, sample: Sample, prompt: Prompt, sampling: Sampling, on_token: OnToken | None = None
    ) -> Generation:
        """Answer one prompt. Raises `EngineFault` where there is no answer and the model is not to blame.

        `sample` is for engines that simulate; an engine with a model in it sends `prompt` alone. `on_token` is called
        with the answer's words as they stream in; those of an answer that then breaks off are void.
        """
        ...


class Engine(Protocol):
    """One way to run a model; a dataclass in `conf/engine/`."""

    @property
    def name(self) -> str:
        """Name in reports."""
        ...

    @property
    def concurrency(self) -> int:
        """Requests in flight at once."""
        ...

    @property
    def max_retries(self) -> int:
        """Further tries after a transport fault."""
        ...

    def identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        """What of engine, weights and policy determines the answers: the store's key holds it.

        Loads and contacts nothing. Raises `ConfigError` for weights that are absent and for a policy
        that this engine can't carry out.
        """
        ...

    def download(self, model: Model) -> Download | None:
        """What opening this model would fetch from the network; None where all is at hand. Fetches nothing."""
        ...

    def settle(self, model: Model) -> Model:
        """The model as it will answer: with its weights on this machine, or under the name that its server tells.

        May fetch and contact, and is called before anything is named or locked. Raises `ConfigError`, `RunError`.
        """
        ...

    def open(self, deployment: Deployment) -> AbstractAsyncContextManager[Session]:
        """Load the model, or connect to where it is served."""
        ...


@runtime_checkable
class ServerEngine(Engine, Protocol):
    """An engine whose models run elsewhere."""

    def check(self) -> None:
        """Raise `ConfigError` for a key that is missing where the host wants one; contacts nothing."""
        ...

    def asks_name(self, model: Model) -> bool:
        """Whether only the server knows which model answers, so that `settle` has to ask it."""
        ...

    def known(self, model: Model) -> Served | None:
        """What is known of a model without contacting its server; None where only the server tells name or window."""
        ...

    @property
    def tells_more(self) -> bool:
        """Whether the server may have a tokenizer to ask; a provider's host has none."""
        ...
