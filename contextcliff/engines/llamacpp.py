"""Engine `llamacpp`: llama.cpp's own server inside this process, asked over loopback.

The wheel `xllamacpp` has the server compiled in, so that a GGUF file runs without a compiler and without another
program. Streaming, prefix cache, token counts and errors are those of any llama.cpp server."""

from __future__ import annotations

import secrets
import struct
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import httpx2

from contextcliff.engines.engine import Api, Deployment, InProcess, Served, taken
from contextcliff.engines.openai.http import Address, client, connection
from contextcliff.engines.openai.session import OpenAISession, Slots
from contextcliff.engines.openai.tokens import LlamaServerTokenizer, TokenServer
from contextcliff.errors import ConfigError, RunError
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.trained_positions import of_gguf
from contextcliff.models.weights import Gguf
from contextcliff.records.kv_cache import GIB, CacheInUse, DeviceMemory
from contextcliff.settings import Count, Int, NonNegativeInt, PositiveFloat, PositiveInt, settings

_QUIET = -1
_CONTEXT_STEP = 256
_LARGEST_BATCH = 2048
_API_LINES: Mapping[tuple[Api, bool], str] = {
    ("chat", True): "asked by chat, in the chat template of the weights",
    ("chat", False): (
        "asked by chat in llama.cpp's fallback, ChatML: the weights have no chat template; engine.api=auto asks them "
        "in plain text"
    ),
    ("completions", True): "asked by completions, in plain text: the chat template of the weights is not used",
    ("completions", False): "asked by completions, in plain text: the weights have no chat template",
}
_SAMPLERS = {**{name: name for name in ("top_p", "seed", "top_k", "min_p")}, "repetition_penalty": "repeat_penalty"}
"""All of them, so that no default of the server applies."""
CLOSE: Mapping[str, str] = {"Connection": "close"}
"""Headers of every request: llama.cpp's HTTP server may close a kept connection while a request is on its way."""


@settings
class LlamaCpp(InProcess):
    """llama.cpp, embedded. `threads=None` uses all cores; `gpu_layers=-1` offloads every layer that it can."""

    concurrency: Count = 1
    """Server slots. On few cores one slot is fastest, and it keeps the whole prefix cache together."""
    timeout_s: PositiveFloat = 600.0
    """Longest silence in seconds; the prefill of a long prompt is silent."""
    max_retries: NonNegativeInt = 3
    threads: PositiveInt | None = None
    gpu_layers: Int = -1
    batch_tokens: PositiveInt = 512

    name: ClassVar[str] = "llamacpp"

    def identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        kv_policy.require_engine(self.name)
        return self.own_identity(model, kv_policy)

    def weights_of(self, model: Model) -> Gguf:
        return model.gguf

    @property
    def window_batch(self) -> int:
        return min(self.batch_tokens, _LARGEST_BATCH)

    @property
    def memory(self) -> DeviceMemory:
        """The GPU with the most memory, where this build has one and layers go to it; else the machine's."""
        import xllamacpp

        kinds = xllamacpp.ggml_backend_dev_type
        devices = xllamacpp.get_device_info()
        host = [each for each in devices if each["type"] == kinds.GGML_BACKEND_DEVICE_TYPE_CPU]
        others = [each for each in devices if each not in host and each["memory_total"] > 0] if self.gpu_layers else []
        largest = max(others or host, key=lambda each: int(each["memory_total"]))
        return DeviceMemory(name=str(largest["description"]), gib=int(largest["memory_total"]) / GIB)

    @asynccontextmanager
    async def open(self, deployment: Deployment) -> AsyncIterator[OpenAISession]:
        if deployment.context_tokens is None:
            raise ConfigError("model.context_window: the embedded engine has to know it; give model.context_window=N")
        model, weights = deployment.model, deployment.model.gguf.fetch()
        api, template = self.api_for(model), dict(model.template_arguments)
        file, policy = weights.stat(), deployment.kv_policy
        key = (
            "llamacpp",
            (str(weights.resolve()), file.st_mtime_ns, file.st_size),
            (self.concurrency, self.batch_tokens, self.gpu_layers, self.threads),
            (policy.key_type, policy.value_type, model.rope),
        )
        slot_tokens = -(-deployment.context_tokens // _CONTEXT_STEP) * _CONTEXT_STEP
        with ExitStack() as ended:
            load = partial(_Loaded, self, weights, deployment, slot_tokens)
            loaded = ended.enter_context(taken(key, load, size=slot_tokens, close=_Loaded.close))
            requests = self.concurrency
            address = Address(url=f"{loaded.server.listening_address}/v1", key=loaded.key)
            http = ended.enter_context(client(address, timeout_s=self.timeout_s))
            async with connection(address, timeout_s=self.timeout_s, requests=requests, headers=CLOSE) as asked:
                # A job begins with empty slots, whatever the last one left in them.
                for slot in range(requests):
                    _post(http, f"/slots/{slot}?action=erase")
                counts = TokenServer(
                    http=http, address=address, model=weights.name, api=api, template_arguments=template
                )
                yield OpenAISession(
                    client=asked,
                    address=address,
                    model=model.name or "embedded",
                    began=Served(
                        lines=(_API_LINES[api, model.gguf.has_chat_template() is not False],),
                        plain=api == "completions",
                        cache=read_back(http, Path(loaded.folder.name)),
                        positions=of_gguf(weights),
                    ),
                    tokenizer=LlamaServerTokenizer(name=f"llamacpp:{weights.name}", server=counts),
                    timeout_s=self.timeout_s,
                    sampler_names=_SAMPLERS,
                    fields={
                        "cache_prompt": self.prefix_cache,
                        **({"chat_template_kwargs": template} if api == "chat" else {}),
                    },
                    slots=Slots(requests if requests > 1 and self.prefix_cache else 0),
                )


class _Loaded:
    def __init__(self, engine: LlamaCpp, weights: Path, deployment: Deployment, slot_tokens: int) -> None:
        self.key = secrets.token_urlsafe(32)
        self.folder = TemporaryDirectory(prefix="contextcliff-slot-")
        policy = deployment.kv_policy

        def adjust(params: Any) -> None:
            import xllamacpp

            params.n_ctx = slot_tokens * engine.concurrency
            params.n_parallel = engine.concurrency
            params.n_ubatch = engine.batch_tokens
            params.n_gpu_layers = engine.gpu_layers
            params.cache_type_k = getattr(xllamacpp.ggml_type, f"GGML_TYPE_{policy.key_type.upper()}")
            params.cache_type_v = getattr(xllamacpp.ggml_type, f"GGML_TYPE_{policy.value_type.upper()}")
            rope = deployment.model.rope
            if rope.type is not None:
                name = f"LLAMA_ROPE_SCALING_TYPE_{rope.type.upper()}"
                params.rope_scaling_type = getattr(xllamacpp.llama_rope_scaling_type, name)
            if rope.factor is not None:
                params.rope_freq_scale = 1.0 / rope.factor
            if rope.base is not None:
                params.rope_freq_base = rope.base
            params.slot_save_path = f"{self.folder.name}/"
            if policy.is_quantised:
                # llama.cpp supports a quantised V with flash attention only.
                params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
            # No second prompt cache: the slots' own suffice for sorted prompts, and memory stays flat.
            params.cache_ram_mib = 0
            params.fit_params = False  # a context that does not fit is an error, and not silently made shorter
            if engine.threads is not None:
                params.cpuparams.n_threads = engine.threads

        what = f"with a context of {slot_tokens:,} tokens"
        try:
            self.server = loopback_server(weights, self.key, adjust, what=what)
        except BaseException:
            self.folder.cleanup()
            raise

    def close(self) -> None:
        """Close the port and free the model: the last reference to the server does."""
        self.server = None
        self.folder.cleanup()


def loopback_server(weights: Path, key: str, adjust: Callable[[Any], None], *, what: str) -> Any:
    """A llama.cpp server (`xllamacpp.Server`) on a free port of 127.0.0.1, opened by `key`. Raises `RunError`."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.warmup = False
    params.ui = False
    params.verbosity = _QUIET
    adjust(params)
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        way_out = "is it a model that this llama.cpp knows, and is there memory for it?"
        raise RunError(f"llama.cpp can't load {weights} {what}: {error}; {way_out}") from error


# llama.cpp tells its KV cache nowhere but in its log, with a line for every request. The state that it saves of a slot
# has it: after headers that change between versions come, for the keys of every layer and then the values, the format
# as a 32-bit number, the bytes of a token as a 64-bit one, and the row itself (`llama_kv_cache::state_write_data` in
# its `src/llama-kv-cache.cpp`). The rows are recognised by ending where the file ends.
_ROW = struct.Struct("<iQ")
_STEP, _LONGEST_HEADER = 4, 4096
_TOKEN = 2
"""Asked alone; no chat template begins with it, so that no prompt goes on from it."""
_STATE = "cache"


def read_back(http: httpx2.Client, folder: Path) -> CacheInUse | None:
    """The cache of a token that the server computes and saves into `folder`; None if unknown. Raises `RunError`."""
    computed = _post(http, "/completion", {"prompt": [_TOKEN], "n_predict": 1, "id_slot": 0, "cache_prompt": True})
    saved = _post(http, "/slots/0?action=save", {"filename": _STATE})
    _post(http, "/slots/0?action=erase")
    if computed.is_error or saved.is_error:
        return None
    return cache_of_state((folder / _STATE).read_bytes())


def _post(http: httpx2.Client, path: str, body: Mapping[str, object] | None = None) -> httpx2.Response:
    try:
        return http.post(path, json=body or {})
    except httpx2.HTTPError as error:
        raise RunError(f"llama.cpp does not answer: {error or type(error).__name__}") from error


def cache_of_state(state: bytes) -> CacheInUse | None:
    """The cache that the saved state of one token describes; None if unknown."""
    import xllamacpp

    names = {each.value: each.name.removeprefix("GGML_TYPE_").lower() for each in xllamacpp.ggml_type}
    for start in range(0, min(len(state), _LONGEST_HEADER), _STEP):
        rows = _rows(state, start, names)
        if rows and len(rows) % 2 == 0:
            keys, values = rows[: len(rows) // 2], rows[len(rows) // 2 :]
            return CacheInUse(
                key_type=keys[0][0],
                value_type=values[0][0],
                bytes_per_token=float(sum(size for _, size in rows)),
                tokens=1,
            )
    return None


def _rows(state: bytes, start: int, names: Mapping[int, str]) -> list[tuple[str, int]]:
    rows, offset = [], start
    while offset + _ROW.size <= len(state):
        kind, size = _ROW.unpack_from(state, offset)
        offset += _ROW.size + size
        if kind not in names or not 0 < size < len(state):
            return []
        rows.append((names[kind], size))
    return rows if offset == len(state) else []
