"""Engine `llamacpp`: llama.cpp's own server inside this process, asked over loopback.

The wheel `xllamacpp` has the server compiled in, so that a GGUF file runs without a compiler and without another
program. Streaming, prefix cache, token counts and errors are those of any llama.cpp server.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from contextcliff.engines.engine import Deployment, Download, OnToken, Served
from contextcliff.engines.kept_model import taken
from contextcliff.engines.llamacpp_cache import SlotStates
from contextcliff.engines.openai.exchange import Api, Request, Slots, exchange
from contextcliff.engines.openai.http import async_client, client
from contextcliff.engines.openai.server_access import ApiKey
from contextcliff.engines.openai.server_tokens import LlamaServerTokenizer, TokenServer
from contextcliff.errors import ConfigError, RunError
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model, Rope
from contextcliff.models.sampling import Sampling
from contextcliff.models.trained_positions import of_gguf
from contextcliff.records.generation import Generation
from contextcliff.records.kv_cache import GIB, CacheInUse, DeviceMemory
from contextcliff.records.positions import Positions
from contextcliff.records.sample import Prompt, Sample
from contextcliff.settings import NonNegativeInt, PositiveFloat, PositiveInt, settings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_LOOPBACK = "127.0.0.1"
_QUIET = -1
_CONTEXT_STEP = 256
_LARGEST_BATCH = 2048
"""llama.cpp's `n_batch`, which a physical batch never exceeds."""
_API_LINES: Mapping[tuple[Api, bool], str] = {
    ("chat", True): "asked by chat, in the chat template of the weights",
    ("chat", False): (
        "asked by chat in llama.cpp's fallback, ChatML: the weights have no chat template; engine.api=auto asks them "
        "in plain text"
    ),
    ("completions", True): "asked by completions, in plain text: the chat template of the weights is not used",
    ("completions", False): "asked by completions, in plain text: the weights have no chat template",
}
"""The report's line, by the API that is used and whether the weights have a chat template."""
CLOSE: Mapping[str, str] = {"Connection": "close"}
"""Headers of every request: llama.cpp's HTTP server may close a kept connection while a request is on its way."""


@settings
class LlamaCpp:
    """llama.cpp, embedded. `threads=None` uses all cores; `gpu_layers=-1` offloads every layer that it can."""

    concurrency: PositiveInt = 1
    """Server slots. On few cores one slot is fastest, and it keeps the whole prefix cache together."""
    tokens_in_flight: PositiveInt | None = None
    """Most tokens, prompts and answers together, of all requests in flight; each slot has a cache of its own."""
    speculation: NonNegativeInt | None = 0
    """Samples that a search asks ahead of its decisions; None: four times `concurrency`."""
    prefix_cache: bool = True
    """Whether a prompt goes on from what a slot holds of its beginning; else every prompt is computed whole."""
    timeout_s: PositiveFloat = 600.0
    """Longest silence in seconds; the prefill of a long prompt is silent."""
    max_retries: NonNegativeInt = 3
    threads: PositiveInt | None = None
    gpu_layers: int = -1
    batch_tokens: PositiveInt = 512
    """Prompt tokens that are computed in one batch."""
    api: Literal["auto", "chat", "completions"] | None = "auto"
    """`chat` sends prompts in a chat template, `completions` as plain text, for base models. `auto` (or None) is
    `completions` where the weights have no template."""

    name: ClassVar[str] = "llamacpp"
    is_paid: ClassVar[bool] = True
    computes_here: ClassVar[bool] = True

    def identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        kv_policy.require_engine(self.name)
        return {
            "engine": self.name,
            "weights": model.gguf.identity,
            "kv": kv_policy.identity(),
            "template": dict(model.template_arguments),
            **model.rope.identity(),
            # Absent for chat: so the keys of older stores, from before there was a choice, stay valid.
            **({"api": "completions"} if self.api_for(model) == "completions" else {}),
            # What is computed anew differs in the last bits from what is kept: with a cache is how it always was.
            **({} if self.prefix_cache else {"prefix_cache": False}),
        }

    def api_for(self, model: Model) -> Api:
        """The API that prompts of this model go to; chat, while weights that have to be downloaded are not here."""
        if self.api == "chat" or self.api == "completions":
            return self.api
        return "completions" if model.gguf.has_chat_template() is False else "chat"

    def cache_policy(self, policy: KVPolicy) -> KVPolicy:
        return policy

    @property
    def window_batch(self) -> int:
        """`batch_tokens`, up to llama.cpp's own bound."""
        return min(self.batch_tokens, _LARGEST_BATCH)

    def memory(self) -> DeviceMemory:
        """The GPU with the most memory, where this build has one and layers go to it; else the machine's."""
        import xllamacpp

        kinds = xllamacpp.ggml_backend_dev_type
        devices = xllamacpp.get_device_info()
        host = [each for each in devices if each["type"] == kinds.GGML_BACKEND_DEVICE_TYPE_CPU]
        others = [each for each in devices if each not in host and each["memory_total"] > 0] if self.gpu_layers else []
        largest = max(others or host, key=lambda each: int(each["memory_total"]))
        return DeviceMemory(name=str(largest["description"]), gib=int(largest["memory_total"]) / GIB)

    def settle(self, model: Model) -> Model:
        """Fetch the weights: whether they have a chat template decides on the API."""
        model.gguf.check_reachable()
        model.gguf.fetch()
        return model

    def download(self, model: Model) -> Download | None:
        """The GGUF file, where it is in a hub repository and not on this machine yet."""
        if model.gguf.is_at_hand():
            return None
        return Download(name=model.gguf.identity, gib=model.gguf.remote_gib())

    @asynccontextmanager
    async def open(self, deployment: Deployment) -> AsyncIterator[LlamaCppSession]:
        """Load the GGUF and serve it on a free loopback port under a random key."""
        import openai

        if deployment.context_tokens is None:
            raise ConfigError("model.context_window: the embedded engine has to know it; give model.context_window=N")
        weights = deployment.model.gguf.fetch()
        api = self.api_for(deployment.model)
        slot_tokens = -(-deployment.context_tokens // _CONTEXT_STEP) * _CONTEXT_STEP
        with taken(
            self._loaded_key(weights, deployment),
            lambda: self._load(weights, deployment, slot_tokens),
            close=_Loaded.close,
            size=slot_tokens,
        ) as loaded:
            address, key = loaded.server.listening_address, loaded.key
            async with openai.AsyncOpenAI(
                api_key=key.value,
                base_url=f"{address}/v1",
                max_retries=0,
                timeout=self.timeout_s,
                http_client=async_client(timeout_s=self.timeout_s, connections=self.concurrency),
                default_headers=CLOSE,
            ) as connection:
                with (
                    client(timeout_s=self.timeout_s) as http,
                    client(timeout_s=self.timeout_s, asks_again=True) as asking,
                ):
                    # A job begins with empty slots, whatever the one before it left in them.
                    loaded.states.erase(http, address, key.value, slots=self.concurrency)
                    yield LlamaCppSession(
                        client=connection,
                        model=deployment.model,
                        api=api,
                        tokenizer=LlamaServerTokenizer(
                            name=f"llamacpp:{weights.name}",
                            server=TokenServer(
                                http=asking,
                                root=address,
                                key=key,
                                model=weights.name,
                                api=api,
                                template_arguments=deployment.model.template_arguments,
                            ),
                        ),
                        timeout_s=self.timeout_s,
                        prefix_cache=self.prefix_cache,
                        slots=Slots(self.concurrency if self.concurrency > 1 and self.prefix_cache else 0),
                        cache=loaded.states.read_back(http, address, key.value),
                        positions=of_gguf(weights),
                    )

    def _loaded_key(self, weights: Path, deployment: Deployment) -> tuple[object, ...]:
        """What a loaded model is determined by, but for its length."""
        file, policy = weights.stat(), deployment.kv_policy
        return (
            "llamacpp",
            str(weights.resolve()),
            (file.st_mtime_ns, file.st_size),
            (self.concurrency, self.batch_tokens, self.gpu_layers, self.threads),
            (policy.key_type, policy.value_type),
            deployment.model.rope,
        )

    def _load(self, weights: Path, deployment: Deployment, slot_tokens: int) -> _Loaded:
        key, states = ApiKey(value=secrets.token_urlsafe(32)), SlotStates()

        def adjust(params: Any) -> None:
            import xllamacpp

            policy = deployment.kv_policy
            params.n_ctx = slot_tokens * self.concurrency
            params.n_parallel = self.concurrency
            params.n_ubatch = self.batch_tokens
            params.n_gpu_layers = self.gpu_layers
            params.cache_type_k = _ggml_type(policy.key_type)
            params.cache_type_v = _ggml_type(policy.value_type)
            _scale_positions(params, deployment.model.rope)
            states.tell(params)
            if policy.is_quantised:
                # llama.cpp supports a quantised V with flash attention only.
                params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
            # No second prompt cache: the slots' own suffice for sorted prompts, and memory stays flat.
            params.cache_ram_mib = 0
            params.fit_params = False  # a context that does not fit is an error, and not silently made shorter
            if self.threads is not None:
                params.cpuparams.n_threads = self.threads

        try:
            server = loopback_server(
                weights,
                key,
                adjust,
                what=f"with a context of {slot_tokens:,} tokens",
                way_out="; is it a model that this llama.cpp knows, and is there memory for it?",
            )
        except BaseException:
            states.close()
            raise
        return _Loaded(server=server, key=key, states=states)


@dataclass(kw_only=True, slots=True)
class _Loaded:
    """A server with its model; `server` is None once it is closed."""

    server: Any
    key: ApiKey
    states: SlotStates

    def close(self) -> None:
        """Close the port and free the model, which the last reference to the server does."""
        self.server = None
        self.states.close()


@dataclass(frozen=True, kw_only=True, slots=True)
class LlamaCppSession:
    """A loaded model."""

    client: AsyncOpenAI
    model: Model
    api: Api
    tokenizer: LlamaServerTokenizer
    timeout_s: float
    prefix_cache: bool
    slots: Slots
    cache: CacheInUse | None
    """Read back from the server."""
    positions: Positions | None
    """As the weights' header has them."""

    @property
    def served(self) -> Served:
        """Which API is used; name and window are the configuration's."""
        line = _API_LINES[self.api, self.model.gguf.has_chat_template() is not False]
        plain = self.api == "completions"
        return Served(
            lines=(line,), plain=plain, cache=self.cache, positions=self.positions, slots=self.slots.count or None
        )

    async def generate(
        self, sample: Sample, prompt: Prompt, sampling: Sampling, on_token: OnToken | None = None
    ) -> Generation:
        """Send the prompt with every sampler named, so that no default of the server applies."""
        template = {"chat_template_kwargs": dict(self.model.template_arguments)} if self.api == "chat" else {}
        with self.slots.one_for(prompt) as slot:
            return await exchange(
                self.client,
                Request(
                    model=self.model.name or "embedded",
                    prompt=prompt,
                    built_tokens=sample.built_tokens,
                    fields={
                        "temperature": sampling.temperature,
                        "top_p": sampling.top_p,
                        "max_tokens": sampling.generated_tokens,
                        "seed": sample.seed if sampling.seed is None else sampling.seed,
                        "top_k": sampling.top_k,
                        "min_p": sampling.min_p,
                        "repeat_penalty": sampling.repetition_penalty,
                        "cache_prompt": self.prefix_cache,
                        **template,
                        **slot,
                    },
                    api=self.api,
                ),
                timeout_s=self.timeout_s,
                on_token=on_token,
            )


def loopback_server(weights: Path, key: ApiKey, adjust: Callable[[Any], None], *, what: str, way_out: str = "") -> Any:
    """A llama.cpp server (`xllamacpp.Server`) of `weights` on a free port of 127.0.0.1, opened by `key`, silent.

    `adjust` sets its further parameters. The last reference to the server closes the port and frees the model. Raises
    `RunError` where the weights can't be loaded; `what` says as what, or with what.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames = [_LOOPBACK]
    params.port = 0
    params.api_keys = [key.value]
    params.warmup = False
    params.ui = False
    params.verbosity = _QUIET
    adjust(params)
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise RunError(f"llama.cpp can't load {weights} {what}: {error}{way_out}") from error


def _scale_positions(params: Any, rope: Rope) -> None:
    import xllamacpp

    if rope.type is not None:
        types = xllamacpp.llama_rope_scaling_type
        params.rope_scaling_type = getattr(types, f"LLAMA_ROPE_SCALING_TYPE_{rope.type.upper()}")
    if rope.factor is not None:
        params.rope_freq_scale = 1.0 / rope.factor
    if rope.base is not None:
        params.rope_freq_base = rope.base


def _ggml_type(name: str) -> Any:
    import xllamacpp

    return getattr(xllamacpp.ggml_type, f"GGML_TYPE_{name.upper()}")
