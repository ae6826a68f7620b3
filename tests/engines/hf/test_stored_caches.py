"""Caches in other formats: what they really take, and how near their numbers are."""

from __future__ import annotations

from typing import Any, cast

import pytest

from contextcliff.kv.policy import CacheType, KVPolicy
from contextcliff.models.sampling import Sampling
from contextcliff.records.kv_cache import CacheInUse
from tests.engines.hf.made_model import answers, asked, plain_generate, with_session

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch", reason="needs the extra hf")

TEXT = "The lamp stood in the window until the ferry came back over the water. " * 12
PROMPT = asked(TEXT, "What came back?")


def in_use(policy: KVPolicy, **keys: Any) -> CacheInUse:
    async def use(session: Any) -> CacheInUse:
        assert session.served.cache is None
        await session.generate(*PROMPT, Sampling(max_tokens=4))
        return cast(CacheInUse, session.served.cache)

    return with_session(use, policy=policy, **keys)


@pytest.mark.parametrize(
    ("policy", "dtype", "kinds", "bits"),
    [
        (KVPolicy(name="f16", key_type="f16", value_type="f16"), "float16", ("f16", "f16"), 16 + 16),
        (KVPolicy(name="mixed", key_type="int8", value_type="bf16"), "float32", ("int8", "bf16"), 8.5 + 16),
        (
            KVPolicy(name="both", key_type="int4", value_type="int4", press="SnapKVPress", budget=0.5),
            *("float32", ("int4", "int4"), 4.5),
        ),
    ],
)
def test_keys_and_values_have_formats_of_their_own_and_a_press_besides(
    policy: KVPolicy, dtype: str, kinds: tuple[str, str], bits: float
) -> None:
    """Each shipped policy is in `tests/engines/test_cuda.py`."""
    measured = in_use(policy, dtype=dtype)
    assert (measured.key_type, measured.value_type) == kinds
    assert measured.bytes_per_token == pytest.approx(3 * 2 * 64 * bits / 8, rel=0.02)


def test_what_a_model_computes_in_is_stored_as_it_is() -> None:
    policy = KVPolicy(name="f32", key_type="f32", value_type="f32")
    assert [each.text for each in answers([PROMPT], policy=policy)] == plain_generate([PROMPT])


@pytest.mark.parametrize("kind", [*(pytest.param(each, marks=pytest.mark.slow) for each in ("bf16", "int8")), "int4"])
def test_a_stored_context_gives_the_answer_of_a_fresh_one(kind: CacheType) -> None:
    policy = KVPolicy(name=kind, key_type=kind, value_type=kind)
    prompts = [PROMPT, asked(TEXT, "Who came, and from where?")]
    warm = answers(prompts, policy=policy)
    cold = answers(prompts, policy=policy, prefix_cache=False)
    assert [each.text for each in warm] == [each.text for each in cold]
    assert warm[1].cached_tokens == len("<|user|>Read this.\n\n" + TEXT.rstrip())


@pytest.mark.parametrize(("kind", "steps"), [("int8", 255), ("int4", 15), ("int2", 3)])
def test_no_number_is_off_by_more_than_half_a_step_of_its_group(kind: CacheType, steps: int) -> None:
    from contextcliff.engines.transformers.cache import pack, unpack

    torch.manual_seed(0)
    numbers = 3 * torch.randn(1, 2, 50, 64)
    packed = pack(numbers, kind)
    back = unpack(packed, kind, torch.float32)
    spread = numbers.amax(dim=-1, keepdim=True) - numbers.amin(dim=-1, keepdim=True)
    assert packed[0].shape[:3] == (1, 2, 50)
    assert bool(((back - numbers).abs() <= 0.51 * spread / steps + 0.005).all())


def test_the_newest_tokens_are_stored_when_there_are_128_of_them() -> None:
    from contextcliff.engines.transformers.cache import StoredLayer

    torch.manual_seed(0)
    layer, numbers = StoredLayer("int8", "int8"), torch.randn(1, 2, 300, 64)
    layer.update(numbers[..., :100, :], numbers[..., :100, :])
    layer.settle()
    for place in range(100, 300):
        keys, _ = layer.update(numbers[..., place : place + 1, :], numbers[..., place : place + 1, :])
        assert keys.shape[-2] == layer.get_seq_length() == place + 1
    assert (layer.packed[0][0].shape[-2], layer.keys.shape[-2]) == (228, 72)
    assert float((keys - numbers).abs().max()) < 0.02
