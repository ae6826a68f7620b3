"""How a server is started with a KV policy: its flags, by the preset of the engine, as the servers document them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from contextcliff.kv.policy import CacheType, KVPolicy


def _llama_server(policy: KVPolicy) -> str:
    return f"-ctk {policy.key_type} -ctv {policy.value_type}{' -fa on' if policy.is_quantised else ''}"


def _alike(names: Mapping[CacheType, str]) -> Callable[[KVPolicy], str | None]:
    return lambda policy: names.get(policy.key_type) if policy.key_type == policy.value_type else None


_VLLM: Mapping[CacheType, str] = {
    "f16": "--kv-cache-dtype auto",
    "bf16": "--kv-cache-dtype bfloat16",
    "fp8": "--kv-cache-dtype fp8",
    "fp8_e4m3": "--kv-cache-dtype fp8_e4m3",
    "fp8_e5m2": "--kv-cache-dtype fp8_e5m2",
}
_SGLANG: Mapping[CacheType, str] = {
    "f16": "--kv-cache-dtype auto",
    "bf16": "--kv-cache-dtype bf16",
    "fp8": "--kv-cache-dtype fp8_e4m3",
    "fp8_e4m3": "--kv-cache-dtype fp8_e4m3",
    "fp8_e5m2": "--kv-cache-dtype fp8_e5m2",
}
_KOBOLDCPP: Mapping[CacheType, str] = {
    "f16": "--quantkv 0",
    "q8_0": "--flashattention --quantkv 1",
    "q4_0": "--flashattention --quantkv 2",
}
_OLLAMA: Mapping[CacheType, str] = {
    name: f"OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE={name}" for name in ("f16", "q8_0", "q4_0")
}

SERVERS: Mapping[str, tuple[str, Callable[[KVPolicy], str | None]]] = {
    "llama_server": ("llama-server -m MODEL.gguf {kv_flags}", _llama_server),
    "vllm": ("vllm serve MODEL {kv_flags}", _alike(_VLLM)),
    "sglang": ("python -m sglang.launch_server --model-path MODEL {kv_flags}", _alike(_SGLANG)),
    "koboldcpp": ("koboldcpp --model MODEL.gguf {kv_flags}", _alike(_KOBOLDCPP)),
    "ollama": ("{kv_flags} ollama serve", _alike(_OLLAMA)),
}
"""How a server is started: the program with its model, and the flags of a policy; None where it can't have that.

LM Studio's cache is set in its window, under the model's load settings."""


def kv_flags(preset: str, policy: KVPolicy) -> str | None:
    return None if preset not in SERVERS or policy.evicts else SERVERS[preset][1](policy)


def start_line(preset: str, policy: KVPolicy) -> str | None:
    flags = kv_flags(preset, policy)
    return None if flags is None else SERVERS[preset][0].format(kv_flags=flags)


def start_lines(policy: KVPolicy, *, first: str) -> tuple[str, ...]:
    """The commands of every server that can have a policy; that of the preset `first` before the others."""
    presets = sorted(SERVERS, key=lambda preset: preset != first)
    return tuple(line for preset in presets if (line := start_line(preset, policy)) is not None)
