"""Engine `transformers`: Hugging Face models in this process, on the CPU or a GPU, with any press of kvpress.

It needs the extra `hf`. Requests in flight together are computed as one batch where the policy allows it and memory
does, and one after another elsewhere.
"""

from __future__ import annotations

import os
import platform
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from contextcliff.engines.engine import Deployment, Download, Engine, Served, taken
from contextcliff.engines.openai.exchange import Api
from contextcliff.engines.transformers.hub_weights import HubWeights
from contextcliff.engines.transformers.loading import Loaded, Setup, free_memory, load, require
from contextcliff.errors import ConfigError
from contextcliff.kv.policy import CacheType, KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.weights import Gguf
from contextcliff.records.kv_cache import GIB, DeviceMemory
from contextcliff.settings import NonNegativeInt, PositiveInt, settings
from contextcliff.text.tokenizers import HubTokenizer

if TYPE_CHECKING:
    from contextcliff.engines.transformers.hf_session import TransformersSession

Dtype = Literal["float32", "bfloat16", "float16"]
_AS_CACHED: Mapping[Dtype, CacheType] = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}
_EAGER_PRESSES = frozenset({"ObservedAttentionPress"})
"""Presses that read the attention weights, which only eager attention computes as a matrix."""


@settings
class Transformers(Engine):
    """A model of transformers, and evictions of its cache by kvpress."""

    weights: Literal["auto", "gguf", "hub"] = "auto"
    """The model's GGUF file, its numbers unpacked to `dtype`, or `model.hub`, a repository or folder. `auto` is the
    GGUF file where the model names one: the same weights as engine=llamacpp has."""
    device: str = "auto"
    """`cpu`, `cuda` or `cuda:0`; `auto` is the GPU where there is one."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """What it computes in; `auto` is float32 on the CPU and bfloat16 on a GPU."""
    attention: Literal["auto", "sdpa", "eager"] = "auto"
    """`auto` is torch's fused attention, and eager for presses that need its weights: its memory grows with the
    prompt's length squared."""
    trust_remote_code: bool | str = False
    """The name of a repository, equal to `model.hub`, whose Python files may run. Never all."""
    prefix_cache: bool = True
    """Whether what the last prompt or its context has in common with the next is kept; else all is computed anew."""
    attention_entropy: bool = False
    """Whether each answer comes with the attention entropy of its prompt's last tokens, by layer."""
    entropy_positions: PositiveInt = 16
    """Of how many last tokens."""
    threads: PositiveInt | None = None
    """CPU threads; None: all cores."""
    api: Literal["auto", "chat", "completions"] | None = "auto"
    """`chat` asks in the chat template of the weights, `completions` in plain text. `auto` (or None) is `completions`
    where they have none."""
    concurrency: PositiveInt = 1
    """Requests in flight: as many prompts are computed together, of a policy that neither evicts nor quantises."""
    speculation: NonNegativeInt | None = 0
    name: ClassVar[str] = "transformers"

    def __post_init__(self) -> None:
        if self.trust_remote_code is True:
            raise ValueError(
                "engine.trust_remote_code=true: code is never trusted whatever the model; name the repository whose "
                "code may run, the one that model.hub names"
            )

    def identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        """Weights, the type that is computed in, how prompts are sent, and the policy. Not the device."""
        kv_policy.require_engine(self.name)
        eager = self._attention(kv_policy) == "eager"
        return {
            "engine": self.name,
            "weights": self._weights(model).identity,
            "dtype": self._dtype(),
            "kv": kv_policy.identity(),
            "template": dict(model.template_arguments),
            **model.rope.identity(),
            **({"attention": "eager"} if eager else {}),
            # An answer that was stored without it is asked again.
            **({"attention_entropy": self.entropy_positions} if self.attention_entropy else {}),
            **({"api": "completions"} if self.api_for(model) == "completions" else {}),
            **({} if self.prefix_cache else {"prefix_cache": False}),
        }

    def api_for(self, model: Model) -> Api:
        """The API that prompts of this model go to; chat, while weights that have to be downloaded are not here."""
        if self.api == "chat" or self.api == "completions":
            return self.api
        return "completions" if self._weights(model).has_chat_template() is False else "chat"

    @property
    def cache_type(self) -> CacheType:
        return _AS_CACHED[self._dtype()]

    @property
    def memory(self) -> DeviceMemory:
        import torch

        device = torch.device(self._device())
        if device.type == "cuda":
            properties = torch.cuda.get_device_properties(device)
            return DeviceMemory(name=str(properties.name), gib=properties.total_memory / GIB)
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return DeviceMemory(name=f"memory of this machine ({platform.machine()})", gib=total / GIB)

    def settle(self, model: Model) -> Model:
        """Fetch the weights. Raises `ConfigError` where the extra `hf` is not installed."""
        self._require(model)
        weights = self._weights(model)
        if isinstance(weights, Gguf):
            weights.check_reachable()
        weights.fetch()
        return model

    def download(self, model: Model) -> Download | None:
        """The weights, where they are not on this machine yet."""
        weights = self._weights(model)
        at_hand = weights.is_at_hand() if isinstance(weights, Gguf) else weights.folder_at_hand() is not None
        return None if at_hand else Download(name=weights.identity, gib=weights.remote_gib())

    @asynccontextmanager
    async def open(self, deployment: Deployment) -> AsyncIterator[TransformersSession]:
        """Load the model, and try the policy's press on it."""
        self._require(deployment.model, deployment.kv_policy)
        import asyncio

        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="transformers") as thread:
            loop = asyncio.get_running_loop()
            fetched = self._weights(deployment.model).fetch()
            setup = Setup(
                device=self._device(),
                dtype=self._dtype(),
                attention=self._attention(deployment.kv_policy),
                rope=deployment.model.rope,
                runs_code=self.trust_remote_code is not False,
            )
            # One whose attention is measured has hooks of its own, and goes to no other job.
            key = object() if self.attention_entropy else ("transformers", str(fetched), setup)
            with taken(
                key, lambda: thread.submit(load, fetched, setup).result(), close=lambda _: free_memory()
            ) as loaded:
                session = await loop.run_in_executor(
                    thread, lambda: self._session(deployment, thread, loaded, fetched, setup)
                )
                try:
                    yield session
                finally:
                    session.decoder.forget()

    def _session(
        self, deployment: Deployment, thread: ThreadPoolExecutor, loaded: Loaded, fetched: Path, setup: Setup
    ) -> TransformersSession:
        import torch

        from contextcliff.engines.transformers import entropy, eviction
        from contextcliff.engines.transformers.decoding import Decoder
        from contextcliff.engines.transformers.hf_session import TransformersSession

        if self.threads is not None:
            torch.set_num_threads(self.threads)
        model, policy = deployment.model, deployment.kv_policy
        press = eviction.eviction(policy)
        plain = self._is_plain(model, loaded)
        if press is not None:
            eviction.check(press, loaded.model, policy)
            eviction.fit_masks(loaded.model)
        meter = entropy.EntropyMeter(loaded.model, positions=self.entropy_positions) if self.attention_entropy else None
        decoder = Decoder(
            loaded=loaded, policy=policy, dtype=setup.dtype, eviction=press, prefix_cache=self.prefix_cache, meter=meter
        )
        window = model.context_window or loaded.window
        shown = fetched.name if fetched.is_file() else model.hub
        template = "in plain text" if plain else "in the chat template of the weights"
        return TransformersSession(
            decoder=decoder,
            tokenizer=HubTokenizer(
                name=f"transformers:{shown}",
                tokenizer=loaded.tokenizer,
                template_arguments=model.template_arguments,
                plain=plain,
            ),
            began=Served(
                window=window,
                lines=(
                    f"{shown} by transformers on {setup.device} in {setup.dtype}, "
                    f"{setup.attention} attention, asked {template}",
                ),
                plain=plain,
                positions=loaded.positions,
            ),
            window=window,
            thread=thread,
            batch=self.concurrency,
        )

    def _is_plain(self, model: Model, loaded: Loaded) -> bool:
        if self.api_for(model) == "completions":
            return True
        if not loaded.tokenizer.chat_template:
            raise ConfigError(
                "engine.api=chat: the weights have no chat template; engine.api=auto asks them in plain text"
            )
        return False

    def _require(self, model: Model, policy: KVPolicy | None = None) -> None:
        packages = ["gguf"] if isinstance(self._weights(model), Gguf) else []
        if policy is not None and policy.evicts:
            packages.append("kvpress")
        require(self.name, *packages)

    def _weights(self, model: Model) -> Gguf | HubWeights:
        """Where the weights come from. Raises `ConfigError` where the model names none of that kind."""
        self._check_trust(model)
        if self.weights == "gguf" or (self.weights == "auto" and model.gguf.is_named):
            return model.gguf
        if model.hub is None:
            raise ConfigError(
                f"engine.weights={self.weights}: this model names no weights; give model.hub=OWNER/NAME or a folder"
                f"{'' if self.weights == 'hub' else ', or a file with model.gguf.path=FILE.gguf'}"
            )
        return HubWeights(name=str(Path(model.hub).expanduser()), runs_code=self.trust_remote_code is not False)

    def _check_trust(self, model: Model) -> None:
        if self.trust_remote_code is not False and self.trust_remote_code != model.hub:
            raise ConfigError(
                f"engine.trust_remote_code={self.trust_remote_code}: has to name the repository whose code may run, "
                f"model.hub={model.hub or 'null'}"
            )

    def _attention(self, policy: KVPolicy) -> str:
        if self.attention != "auto":
            return self.attention
        return "eager" if policy.press in _EAGER_PRESSES else "sdpa"

    def _device(self) -> str:
        import torch

        if self.device == "auto":
            return "cuda" if torch.cuda.is_available() else "cpu"
        try:
            device = torch.device(self.device)
        except RuntimeError as error:
            raise ConfigError(f"engine.device={self.device}: no such device; give cpu, cuda or cuda:0") from error
        if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
            raise ConfigError(
                f"engine.device={self.device}: torch sees {torch.cuda.device_count()} GPUs here; give cpu or auto"
            )
        return self.device

    def _dtype(self) -> Dtype:
        """What it computes in; answers depend on it."""
        if self.dtype != "auto":
            return self.dtype
        if self.device == "auto":
            require(self.name)
        device = self._device() if self.device == "auto" else self.device
        return "bfloat16" if device.startswith("cuda") else "float32"
