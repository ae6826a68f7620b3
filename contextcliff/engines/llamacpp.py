"""Engine `llamacpp`: llama.cpp's own server inside this process, spoken to over loopback.

`xllamacpp` brings the server as a wheel, so that a GGUF file runs without a compiler and without
another program; what is measured (streaming, prefix cache, token counts, errors) is what a
llama.cpp server anywhere would answer.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contextcliff.engines.chat import ChatRequest, stream_chat
from contextcliff.engines.engine import Deployment
from contextcliff.errors import RunError
from contextcliff.kv.policy import KVPolicy
from contextcliff.models import Model
from contextcliff.records import Generation, Prompt, Sample
from contextcliff.sampling import Sampling
from contextcliff.settings import NonNegativeInt, PositiveFloat, PositiveInt, settings

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

_LOOPBACK = "127.0.0.1"
_QUIET = -1
_CONTEXT_STEP = 256


@settings
class LlamaCpp:
    """llama.cpp embedded. `threads=None` takes all cores; `gpu_layers=-1` offloads all where it can."""

    concurrency: PositiveInt = 1
    """Server slots. On few cores one slot is fastest, and it keeps the whole prefix cache together."""
    timeout_s: PositiveFloat = 600.0
    """Longest silence, a long prompt's prefill included."""
    max_retries: NonNegativeInt = 3
    threads: PositiveInt | None = None
    gpu_layers: int = -1
    batch_tokens: PositiveInt = 512
    """Prompt tokens that are computed at once."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return "llamacpp"

    def identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        """Weights by content, and the cache's types."""
        return {
            "engine": self.name,
            "weights": model.gguf.identity,
            "kv": [kv_policy.key_type, kv_policy.value_type],
            "template": dict(model.template_arguments),
        }

    @asynccontextmanager
    async def open(self, deployment: Deployment) -> AsyncIterator[LlamaCppSession]:
        """Load the GGUF and serve it on a free loopback port under a random key."""
        import openai

        weights = deployment.model.gguf.fetch()
        key = secrets.token_urlsafe(32)
        server = self._serve(weights, key, deployment)
        base_url = f"{server.listening_address}/v1"
        arguments: dict[str, Any] = {
            "api_key": key,
            "base_url": base_url,
            "max_retries": 0,
            "timeout": self.timeout_s,
            # llama.cpp's HTTP server closes kept connections under a request that is on its way.
            "default_headers": {"Connection": "close"},
        }
        with openai.OpenAI(**arguments) as plain:
            async with openai.AsyncOpenAI(**arguments) as client:
                yield LlamaCppSession(
                    client=client,
                    model=deployment.model,
                    tokenizer=LlamaCppTokenizer(
                        client=plain,
                        name=f"llamacpp:{weights.name}",
                        template_arguments=deployment.model.template_arguments,
                    ),
                    timeout_s=self.timeout_s,
                )
        del server  # the last reference closes the port and frees the model

    def _serve(self, weights: Path, key: str, deployment: Deployment) -> Any:  # xllamacpp has no types
        import xllamacpp

        policy = deployment.kv_policy
        slot_tokens = -(-deployment.context_tokens // _CONTEXT_STEP) * _CONTEXT_STEP
        params = xllamacpp.CommonParams()
        params.model.path = str(weights)
        params.hostnames = [_LOOPBACK]
        params.port = 0
        params.api_keys = [key]
        params.n_ctx = slot_tokens * self.concurrency
        params.n_parallel = self.concurrency
        params.n_ubatch = self.batch_tokens
        params.n_gpu_layers = self.gpu_layers
        params.cache_type_k = _ggml_type(policy.key_type)
        params.cache_type_v = _ggml_type(policy.value_type)
        if policy.is_quantised:
            # llama.cpp reads a quantised V through its flash attention only.
            params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
        params.cache_ram_mib = 0  # the slots' own caches serve the sorted prompts; memory stays flat
        params.fit_params = False  # a context that doesn't fit is an error, never silently a shorter one
        params.warmup = False
        params.ui = False
        params.verbosity = _QUIET
        if self.threads is not None:
            params.cpuparams.n_threads = self.threads
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise RunError(
                f"llama.cpp can't load {weights} with a context of {slot_tokens:,} tokens: {error}; "
                "is it a model that this llama.cpp knows, and is there memory for it?"
            ) from error


@dataclass(frozen=True, kw_only=True, slots=True)
class LlamaCppTokenizer:
    """The model's own tokenizer and chat template, asked of the server."""

    client: OpenAI
    name: str
    template_arguments: Mapping[str, bool | int | str]

    def starts(self, text: str) -> Sequence[int]:
        """Character offset of every token of `text`, without the tokens that a server would add."""
        answer = self._post("/tokenize", {"content": text, "add_special": False, "with_pieces": True})
        return piece_starts(text, [token["piece"] for token in answer["tokens"]])

    def count_prompt(self, prompt: Prompt) -> int:
        """Tokens of the prompt in the model's chat template."""
        messages = [{"role": "user", "content": prompt.user}]
        if prompt.system is not None:
            messages.insert(0, {"role": "system", "content": prompt.system})
        request = {"messages": messages, "chat_template_kwargs": dict(self.template_arguments)}
        framed = self._post("/apply-template", request)["prompt"]
        return len(self._post("/tokenize", {"content": framed, "add_special": True, "parse_special": True})["tokens"])

    def _post(self, path: str, body: Mapping[str, object]) -> Any:
        server = str(self.client.base_url).removesuffix("/v1/")
        return json.loads(self.client.post(f"{server}{path}", cast_to=str, body=body))


@dataclass(frozen=True, kw_only=True, slots=True)
class LlamaCppSession:
    """A loaded model."""

    client: AsyncOpenAI
    model: Model
    tokenizer: LlamaCppTokenizer
    timeout_s: float

    async def generate(self, sample: Sample, prompt: Prompt, sampling: Sampling) -> Generation:
        """Send the prompt; every sampler is named, since a server's defaults are its own."""
        return await stream_chat(
            self.client,
            ChatRequest(
                model=self.model.name,
                prompt=prompt,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                max_tokens=sampling.max_tokens,
                seed=sample.seed if sampling.seed is None else sampling.seed,
                fields={
                    "top_k": sampling.top_k,
                    "min_p": sampling.min_p,
                    "repeat_penalty": sampling.repetition_penalty,
                    "cache_prompt": True,
                    "chat_template_kwargs": dict(self.model.template_arguments),
                },
            ),
            timeout_s=self.timeout_s,
        )


def piece_starts(text: str, pieces: Sequence[str | Sequence[int]]) -> list[int]:
    """Where each token begins in `text`, in characters.

    A piece is text, or a list of bytes where the token ends inside a character; such a character
    belongs to the token that begins it. Raises `ValueError` where the pieces aren't the text.
    """
    encoded = [piece.encode() if isinstance(piece, str) else bytes(piece) for piece in pieces]
    if b"".join(encoded) != text.encode():
        raise ValueError("the server's tokens do not add up to the text that it was given")
    character_of: Sequence[int] = range(len(text))
    if not text.isascii():
        character_of = [index for index, character in enumerate(text) for _ in character.encode()]
    starts: list[int] = []
    offset = 0
    for piece in encoded:
        starts.append(character_of[offset])
        offset += len(piece)
    return starts


def _ggml_type(name: str) -> Any:
    import xllamacpp

    return getattr(xllamacpp.ggml_type, f"GGML_TYPE_{name.upper()}")
