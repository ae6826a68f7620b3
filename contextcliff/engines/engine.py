"""What an engine is: it identifies what determines its answers, opens a model, and generates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from contextcliff.kv.policy import CacheType, KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.models.weights import Weights
from contextcliff.records.generation import Generation
from contextcliff.records.kv_cache import CacheInUse, DeviceMemory
from contextcliff.records.positions import Positions
from contextcliff.records.sample import Prompt, Sample
from contextcliff.settings import Count, NonNegativeInt, PositiveInt, settings
from contextcliff.text.tokens import Tokenizer

T = TypeVar("T")
Api = Literal["chat", "completions"]
OnToken = Callable[[str], None]
"""Called with each piece of an answer's text as it arrives."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployment:
    """A model to open under a KV policy."""

    model: Model
    kv_policy: KVPolicy
    context_tokens: int | None
    """The longest prompt plus its answer; None if only the server knows its window."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """What the server says of itself: its model, that model's window in tokens, and lines for the report."""

    model: str | None = None
    window: int | None = None
    lines: tuple[str, ...] = ()
    plain: bool = False
    """Whether prompts are sent as plain text, without a chat template."""
    cache: CacheInUse | None = None
    """The KV cache as measured; None if unknown."""
    positions: Positions | None = None
    slots: int | None = None
    """Prompts that it keeps computed, each in a slot that answers one request at a time; None if unknown."""


class Session(Protocol):
    """An engine with its model loaded."""

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The model's own tokenizer; None if the server offers none."""

    @property
    def served(self) -> Served:
        """What the server says of itself; empty for an engine without a server."""

    async def generate(
        self, sample: Sample, prompt: Prompt, sampling: Sampling, on_token: OnToken | None = None
    ) -> Generation:
        """Answer `prompt`, the only thing that is sent. Raises `EngineFault` if the model is not to blame. `on_token`
        gets thoughts and text piece by piece; if the call then raises, what it got is to be dropped."""


@settings
class Engine(ABC):
    """One way to run a model, with the settings that all have. One of your own gives `name`, `identity` and `open`."""

    concurrency: Count = 1
    """Most requests in flight at once."""
    tokens_in_flight: PositiveInt | None = None
    """Most tokens, prompts and answers together, of all requests in flight: a cache that overflows fails them."""
    speculation: NonNegativeInt | None = None
    """Samples that a search asks ahead of its decisions; None: one less than `concurrency`."""
    prefix_cache: bool = True
    """Whether a prompt goes on from what is computed of its beginning already; else each is computed whole."""
    max_retries: NonNegativeInt = 0
    """How often a request is repeated after a fault of the transport."""

    is_paid: ClassVar[bool] = True
    """Whether tokens cost what `model.price` says."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name in reports."""

    @property
    def is_remote(self) -> bool:
        """Whether somebody else has started the server that has the model."""
        return False

    @property
    def computes_here(self) -> bool:
        """Whether the model runs on this machine because of the run, so that the machine's load is the run's."""
        return not self.is_remote

    @property
    def may_have_tokenizer(self) -> bool:
        """Whether a session may count tokens."""
        return True

    @property
    def memory(self) -> DeviceMemory | None:
        """The memory of the device that the model would run on here. Loads nothing."""
        return None

    @property
    def cache_type(self) -> CacheType:
        """What a cache of 16 bits holds: the type that the model computes in."""
        return "f16"

    @property
    def window_batch(self) -> int | None:
        """Tokens of a batch that a layer with a sliding window keeps beside its window; None if unknown."""
        return None

    @abstractmethod
    def identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        """What determines the answers, part of the store's key. Contacts nothing. Raises `ConfigError`."""

    def check(self) -> None:  # noqa: B027 - most need no key
        """Raise `ConfigError` where the host needs an API key and none is set. Contacts nothing."""

    def known(self, model: Model) -> Served | None:  # noqa: ARG002 - most have no server
        """Name and window of a server as the configuration tells them."""
        return None

    def download(self, model: Model) -> tuple[str, float | None] | None:  # noqa: ARG002 - most engines fetch nothing
        """What opening this model would download, and its size in GiB if known. Downloads nothing itself."""
        return None

    def settle(self, model: Model) -> Model:
        """The model with its weights on this machine and its name. May download, and contact the server."""
        return model

    @abstractmethod
    def open(self, deployment: Deployment) -> AbstractAsyncContextManager[Session]:
        """Load the model, or connect to the server that has it."""


@settings
class InProcess(Engine):
    """An engine that loads the weights in this process."""

    api: Literal["auto", "chat", "completions"] = "auto"
    """`chat` sends prompts in a chat template, `completions` as plain text, for base models. `auto` is `completions`
    where the weights have no template."""

    @abstractmethod
    def weights_of(self, model: Model) -> Weights:
        """Where the weights come from. Raises `ConfigError` where the model names none."""

    def api_for(self, model: Model) -> Api:
        """The API that prompts of this model go to; chat, while weights that have to be downloaded are not here."""
        if self.api == "auto":
            return "completions" if self.weights_of(model).has_chat_template() is False else "chat"
        return self.api

    def settle(self, model: Model) -> Model:
        self.weights_of(model).fetch()
        return model

    def download(self, model: Model) -> tuple[str, float | None] | None:
        weights = self.weights_of(model)
        return None if weights.is_at_hand() else (weights.identity, weights.remote_gib())

    def own_identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        """What of the identity all such engines have."""
        return {
            "engine": self.name,
            "weights": self.weights_of(model).identity,
            "kv": kv_policy.identity(),
            "template": dict(model.template_arguments),
            **model.rope.identity(),
            # Absent for chat: so the keys of older stores, from before there was a choice, stay valid.
            **({"api": "completions"} if self.api_for(model) == "completions" else {}),
            # What is computed anew differs in the last bits from what is kept: with a cache is how it always was.
            **({} if self.prefix_cache else {"prefix_cache": False}),
        }


class _Process:
    """What stays loaded in this process between the jobs of a sweep: one model, since memory may hold no second."""

    keeping = False
    kept: tuple[Hashable, int, Any, Callable[[Any], None]] | None = None
    """Key and size of the model, the model, and what closes it."""


def _drop() -> None:
    kept, _Process.kept = _Process.kept, None
    if kept is not None:
        *_, model, close = kept
        close(model)


@contextmanager
def models_kept() -> Iterator[None]:
    """Inside the block a model stays loaded when its job ends."""
    before, _Process.keeping = _Process.keeping, True
    try:
        yield
    finally:
        _Process.keeping = before
        if not before:
            _drop()


@contextmanager
def taken(key: Hashable, load: Callable[[], T], *, close: Callable[[T], None], size: int = 0) -> Iterator[T]:
    """The model that is kept under this key and is at least of this size, or one that is loaded now."""
    kept = _Process.kept
    if kept is not None and kept[0] == key and kept[1] >= size:
        _Process.kept = None
        _, size, model, _ = kept
    else:
        _drop()
        model = load()
    try:
        yield model
    except BaseException:
        close(model)
        raise
    if _Process.keeping:
        _Process.kept = (key, size, model, close)
    else:
        close(model)
