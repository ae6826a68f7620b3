"""Every KV policy of `engine=transformers`, batches and attention entropy on a GPU: the answers of the CPU.

Caches take the planned memory. On a machine with a GPU, in some minutes: pytest -m "" tests/engines/test_cuda.py
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from contextcliff.engines.transformers.engine import Transformers
from contextcliff.kv.model_cache import architecture_of_hub
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from contextcliff.records.kv_cache import CacheInUse
from tests.engines.hf.made_model import SHIPPED, answers, asked, made_folder, shipped, with_session
from tests.kv.made_sizes import computed_bytes

torch = pytest.importorskip("torch", reason="needs the extra hf")

pytestmark = [pytest.mark.torch, pytest.mark.slow]

NO_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU here")
DEVICES = ("cpu", pytest.param("cuda", marks=NO_GPU))
TEXT = "The lamp stood in the window until the ferry came back over the water. " * 12
PROMPTS = [asked(TEXT, "What came back?"), asked(TEXT, "Who came, and from where?"), asked(TEXT[:300], "Where to?")]
SHORT = Sampling(max_tokens=10)
EXACT: dict[str, Any] = {"dtype": "float32"}


@cache
def on_the_cpu(policy: str) -> list[str]:
    made = answers(PROMPTS, sampling=SHORT, policy=shipped(policy), prefix_cache=False, **EXACT)
    return [each.text for each in made]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", SHIPPED)
def test_a_policy_gives_the_cpus_answers_and_takes_the_planned_memory(name: str, device: str) -> None:
    policy = shipped(name)

    async def use(session: Any) -> tuple[list[Generation], CacheInUse, int]:
        warm_up, *_ = [await session.generate(*PROMPTS[2], SHORT)]
        session.decoder.forget()
        before = torch.cuda.memory_allocated() if device == "cuda" else 0
        made = [await session.generate(*prompt, SHORT) for prompt in PROMPTS[:2]]
        held = torch.cuda.memory_allocated() - before if device == "cuda" else 0
        return [*made, warm_up], session.served.cache, held

    made, cache, held = with_session(use, policy=policy, device=device, **EXACT)
    if policy.press != "RandomPress":  # its numbers are drawn by the device
        assert [each.text for each in made] == on_the_cpu(name)
    assert cache.tokens is not None
    assert cache.bytes_per_token == pytest.approx(planned_bytes(policy), rel=0.02)
    if device == "cuda":  # the cache of the last prompt or its context is kept, and nothing else
        assert held == pytest.approx(planned_bytes(policy) * cache.tokens, rel=0.1)


def planned_bytes(policy: KVPolicy) -> float:
    architecture = architecture_of_hub(made_folder())
    assert architecture is not None
    stored = policy.computed_in(Transformers(**EXACT).cache_type)
    return computed_bytes(architecture, stored, 1_000) / 1_000


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_attention_entropy_is_the_cpus(attention: str, device: str) -> None:
    how = {"attention_entropy": True, "attention": attention, **EXACT}
    here, there = (answers(PROMPTS[:1], sampling=SHORT, device=each, **how)[0] for each in ("cpu", device))
    assert len(there.attention_entropy) == 3
    assert there.attention_entropy == pytest.approx(here.attention_entropy, rel=1e-3)
    assert there.text == on_the_cpu("none")[0]
