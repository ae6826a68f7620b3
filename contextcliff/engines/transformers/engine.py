"""Engine `transformers`: Hugging Face models in this process, on the CPU or a GPU, with any press of kvpress.

It needs the extra `hf`. Requests in flight together are computed as one batch where the policy allows it and memory
does, and one after another elsewhere. Torch is imported when a model is opened."""

from __future__ import annotations

import asyncio
import os
import platform
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from contextcliff.engines.engine import Deployment, InProcess, OnToken, Served, taken
from contextcliff.engines.transformers import loading
from contextcliff.errors import ConfigError, EngineFault, one_line
from contextcliff.kv.policy import CacheType, KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.models.weights import Gguf
from contextcliff.records.generation import Generation
from contextcliff.records.kv_cache import GIB, DeviceMemory
from contextcliff.records.sample import Prompt, Sample
from contextcliff.settings import PositiveInt, settings
from contextcliff.text.tokenizers import HubTokenizer

if TYPE_CHECKING:
    from contextcliff.engines.transformers.decoding import Decoder, Request

Dtype = Literal["float32", "bfloat16", "float16"]
_AS_CACHED: Mapping[Dtype, CacheType] = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}
_READS_WEIGHTS = "ObservedAttentionPress"
"""The press that reads the attention weights, which only eager attention computes as a matrix."""
_LONGEST_DETAIL = 200


@settings
class Transformers(InProcess):
    """A model of transformers, and evictions of its cache by kvpress. `concurrency` prompts are computed together."""

    weights: Literal["auto", "gguf", "hub"] = "auto"
    """The model's GGUF file, its numbers unpacked to `dtype`, or `model.hub`, a repository or folder. `auto` is the
    GGUF file where the model names one: the same weights as engine=llamacpp has."""
    device: str = "auto"
    """`cpu`, `cuda` or `cuda:0`; `auto` is the GPU where there is one."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """What it computes in; `auto` is float32 on the CPU and bfloat16 on a GPU."""
    attention: Literal["auto", "sdpa", "eager"] = "auto"
    """`auto` is torch's fused attention, and eager for the press that needs its weights: its memory grows with the
    prompt's length squared."""
    trust_remote_code: bool | str = False
    """The name of a repository, equal to `model.hub`, whose Python files may run. Never all."""
    attention_entropy: bool = False
    """Whether each answer comes with the attention entropy of its prompt's last tokens, by layer."""
    entropy_positions: PositiveInt = 16
    threads: PositiveInt | None = None

    name: ClassVar[str] = "transformers"

    def identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        kv_policy.require_engine(self.name)
        return {
            **self.own_identity(model, kv_policy),
            "dtype": self._dtype(),  # and not the device
            **({"attention": "eager"} if self._attention(kv_policy) == "eager" else {}),
            # An answer that was stored without it is asked again.
            **({"attention_entropy": self.entropy_positions} if self.attention_entropy else {}),
        }

    @property
    def cache_type(self) -> CacheType:
        return _AS_CACHED[self._dtype()]

    @property
    def memory(self) -> DeviceMemory:
        import torch

        device = torch.device(loading.usable_device(self.device))
        if device.type == "cuda":
            properties = torch.cuda.get_device_properties(device)
            return DeviceMemory(name=str(properties.name), gib=properties.total_memory / GIB)
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return DeviceMemory(name=f"memory of this machine ({platform.machine()})", gib=total / GIB)

    def settle(self, model: Model) -> Model:
        _require_for(self.weights_of(model))
        return super().settle(model)

    @asynccontextmanager
    async def open(self, deployment: Deployment) -> AsyncIterator[TransformersSession]:
        model, policy = deployment.model, deployment.kv_policy
        weights = self.weights_of(model)
        _require_for(weights, *(["kvpress"] if policy.evicts else []))
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="transformers") as thread:
            fetched = weights.fetch()
            setup = loading.Setup(
                device=loading.usable_device(self.device),
                dtype=self._dtype(),
                attention=self._attention(policy),
                rope=model.rope,
                runs_code=self.trust_remote_code is not False,
            )
            # One whose attention is measured computes it otherwise, and goes to no other job.
            key = object() if self.attention_entropy else ("transformers", str(fetched), setup)
            with taken(
                key, lambda: thread.submit(loading.load, fetched, setup).result(), close=lambda _: loading.free_memory()
            ) as loaded:
                session = await asyncio.get_running_loop().run_in_executor(
                    thread, lambda: self._session(deployment, thread, loaded, fetched, setup)
                )
                try:
                    yield session
                finally:
                    session.decoder.close()

    def _session(
        self, deployment: Deployment, thread: Executor, loaded: loading.Loaded, fetched: Path, setup: loading.Setup
    ) -> TransformersSession:
        import torch

        from contextcliff.engines.transformers.decoding import Decoder

        if self.threads is not None:
            torch.set_num_threads(self.threads)
        model, policy = deployment.model, deployment.kv_policy
        plain = self.api_for(model) == "completions"
        if not plain and not loaded.tokenizer.chat_template:
            raise ConfigError(
                "engine.api=chat: the weights have no chat template; engine.api=auto asks them in plain text"
            )
        shown = fetched.name if fetched.is_file() else model.hub
        asked = "in plain text" if plain else "in the chat template of the weights"
        line = f"{shown} by transformers on {setup.device} in {setup.dtype}, {setup.attention} attention, asked {asked}"
        tokenizer = HubTokenizer(
            name=f"transformers:{shown}",
            tokenizer=loaded.tokenizer,
            template_arguments=model.template_arguments,
            plain=plain,
        )
        positions = self.entropy_positions if self.attention_entropy else 0
        decoder = Decoder(loaded, policy, prefix_cache=self.prefix_cache, entropy_positions=positions)
        window = model.context_window or loaded.window
        return TransformersSession(
            decoder=decoder,
            tokenizer=tokenizer,
            began=Served(window=window, lines=(line,), plain=plain, positions=loaded.positions),
            thread=thread,
            batch=self.concurrency if decoder.can_batch else 1,
        )

    def weights_of(self, model: Model) -> Gguf | loading.HubWeights:
        runs_code = self.trust_remote_code is not False
        if runs_code and self.trust_remote_code != model.hub:
            raise ConfigError(
                f"engine.trust_remote_code={self.trust_remote_code}: has to name the repository whose code may run, "
                f"model.hub={model.hub or 'null'}"
            )
        if self.weights == "gguf" or (self.weights == "auto" and model.gguf.is_named):
            return model.gguf
        if model.hub is None:
            raise ConfigError(
                f"engine.weights={self.weights}: this model names no weights; give model.hub=OWNER/NAME or a folder"
                f"{'' if self.weights == 'hub' else ', or a file with model.gguf.path=FILE.gguf'}"
            )
        return loading.HubWeights(name=str(Path(model.hub).expanduser()), runs_code=runs_code)

    def _attention(self, policy: KVPolicy) -> str:
        if self.attention != "auto":
            return self.attention
        return "eager" if policy.press == _READS_WEIGHTS else "sdpa"

    def _dtype(self) -> Dtype:
        if self.dtype != "auto":
            return self.dtype
        device = self.device
        if device == "auto":
            loading.require()
            device = loading.usable_device(device)
        return "bfloat16" if device.startswith("cuda") else "float32"


def _require_for(weights: Gguf | loading.HubWeights, *further: str) -> None:
    loading.require(*(["gguf"] if isinstance(weights, Gguf) else []), *further)


@dataclass(kw_only=True, slots=True)
class TransformersSession:
    """A loaded model that answers in a thread of its own: one prompt after another, or several at once."""

    decoder: Decoder
    tokenizer: HubTokenizer
    began: Served
    thread: Executor
    batch: int
    """Most prompts that are computed together; fewer where that took too much memory."""
    _out_of_memory: int | None = None
    """Tokens of the shortest prompt that did not fit into memory."""
    _waiting: deque[Request] = field(default_factory=deque)

    @property
    def served(self) -> Served:
        return replace(self.began, cache=self.decoder.cache_in_use)

    async def generate(
        self, sample: Sample, prompt: Prompt, sampling: Sampling, on_token: OnToken | None = None
    ) -> Generation:
        """Answer one prompt; none as long as one that ran out of memory, which would take as long to fail."""
        loop, cancelled = asyncio.get_running_loop(), threading.Event()

        def emit(text: str) -> None:
            if on_token is not None and not cancelled.is_set():
                loop.call_soon_threadsafe(on_token, text)

        try:
            request = await loop.run_in_executor(
                self.thread, lambda: self._queued(sample, prompt, sampling, emit, lambda: not cancelled.is_set())
            )
            await loop.run_in_executor(self.thread, self._answer_some)
            return await asyncio.wrap_future(request.generation)
        finally:
            cancelled.set()

    def _queued(
        self,
        sample: Sample,
        prompt: Prompt,
        sampling: Sampling,
        emit: Callable[[str], None],
        may_go_on: Callable[[], bool],
    ) -> Request:
        from contextcliff.engines.transformers.decoding import Request, prompt_tokens

        tokens, context = prompt_tokens(self.tokenizer, sample, prompt, splits=self.decoder.splits)
        most, window = sampling.generated_tokens, self.began.window
        if window is not None:
            if len(tokens) >= window:
                raise EngineFault("overflow", f"the prompt has {len(tokens):,} tokens, and the window {window:,}")
            most = min(most, window - len(tokens))
        request = Request(
            tokenizer=self.tokenizer,
            tokens=tokens,
            context=context,
            sampling=sampling,
            seed=sample.seed if sampling.seed is None else sampling.seed,
            max_tokens=most,
            emit=emit,
            may_go_on=may_go_on,
            device=self.decoder.device,
        )
        self._waiting.append(request)
        return request

    def _answer_some(self) -> None:
        """Answer those that have waited longest, as many as are computed at once; nothing where none waits any more."""
        asked: list[Request] = []
        while self._waiting and len(asked) < self.batch:
            request = self._waiting.popleft()
            if not request.may_go_on():
                continue
            if self._out_of_memory is not None and len(request.tokens) >= self._out_of_memory:
                why = f"a prompt of {self._out_of_memory:,} tokens did not fit into memory"
                request.generation.set_exception(EngineFault("oom", why))
            else:
                asked.append(request)
        if asked:
            self._compute(asked)

    def _compute(self, asked: Sequence[Request]) -> None:
        try:
            for request, generation in zip(asked, self.decoder.answers(asked), strict=True):
                request.generation.set_result(generation)
            return
        except CancelledError:
            for request in asked:
                request.generation.cancel()
            return
        # A press may refuse a prompt with an assertion, and torch with any of these.
        except (RuntimeError, MemoryError, AssertionError, ValueError, IndexError) as error:
            detail = one_line(str(error), longest=_LONGEST_DETAIL) or type(error).__name__
            ran_out = loading.is_out_of_memory(error)
        # Outside of the handler: its traceback holds the tensors.
        self.decoder.forget()
        if ran_out:
            loading.free_memory()
        if ran_out and len(asked) > 1:
            half = len(asked) // 2
            self.batch = min(self.batch, half)
            self._compute(asked[:half])
            self._compute(asked[half:])
            return
        for request in asked:
            fault = EngineFault("bad_request", f"torch or the press failed: {detail}")
            if ran_out:
                self._out_of_memory = len(request.tokens)
                fault = EngineFault("oom", f"a prompt of {self._out_of_memory:,} tokens: {detail}")
            request.generation.set_exception(fault)
