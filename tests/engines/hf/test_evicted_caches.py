"""Evictions by kvpress: what they keep, what they have read, and which are refused."""

from __future__ import annotations

from typing import Any

import pytest

from contextcliff.errors import ConfigError
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.sampling import Sampling
from tests.engines.hf.made_model import SHIPPED, answers, asked, made_folder, plain_generate, shipped, with_session

pytestmark = pytest.mark.torch


TEXT = "The lamp stood in the window until the ferry came back over the water. " * 12
PROMPTS = [asked(TEXT[: 200 * n], f"What came back, number {n}?") for n in range(1, 5)]


EVICTIONS = [name for name in SHIPPED if shipped(name).press is not None]


@pytest.mark.slow
@pytest.mark.parametrize("name", EVICTIONS)
def test_every_shipped_press_keeps_all_of_it_at_budget_one(name: str) -> None:
    assert [each.text for each in answers(PROMPTS, policy=shipped(name, budget=1.0))] == plain_generate(PROMPTS)


@pytest.mark.parametrize("name", EVICTIONS)
def test_every_shipped_press_keeps_its_share_of_the_context(name: str) -> None:
    sample, prompt = PROMPTS[-1]

    async def use(session: Any) -> tuple[Any, int]:
        generation = await session.generate(sample, prompt, Sampling(max_tokens=4))
        return session.served.cache, generation.prompt_tokens

    cache, whole = with_session(use, policy=shipped(name, budget=0.2))
    assert cache.tokens == len("<|user|>" + prompt.user) - len("\n\n" + sample.question)
    assert whole > cache.tokens
    all_of_it = 3 * 2 * 2 * 64 * 4  # layers, keys and values, KV heads, head size, bytes of a number
    assert cache.bytes_per_token == pytest.approx(0.2 * all_of_it, rel=0.02)


@pytest.mark.parametrize(
    "name", ["snapkv", *(pytest.param(each, marks=pytest.mark.slow) for each in ("pyramidkv", "streaming_llm", "h2o"))]
)
def test_a_kept_context_gives_the_answer_of_a_fresh_one(name: str) -> None:
    prompts = [asked(TEXT, "What came back?"), asked(TEXT, "Who came, and from where did they come?"), PROMPTS[0]]
    warm = answers(prompts, policy=shipped(name, budget=0.5))
    cold = answers(prompts, policy=shipped(name, budget=0.5), prefix_cache=False)
    assert [each.text for each in warm] == [each.text for each in cold]
    assert [each.cached_tokens for each in warm] == [0, len("<|user|>Read this.\n\n" + TEXT.rstrip()), 0]
    assert [each.cached_tokens for each in cold] == [0, 0, 0]


def compressed(name: str, prompts: list[Any], **changes: Any) -> list[int]:
    async def use(session: Any) -> list[int]:
        tokens = []
        for sample, prompt in prompts:
            await session.generate(sample, prompt, Sampling(max_tokens=1))
            tokens.append(session.served.cache.tokens)
        return tokens

    return with_session(use, policy=shipped(name, budget=0.5, **changes), prefix_cache=False)


def test_an_eviction_reads_the_question_only_where_it_is_to() -> None:
    prompts = [asked(TEXT, "What came back?"), asked(TEXT, "What came back over the water in the end?")]
    framed = len("<|user|>.<|assistant|>")  # the end of a message is one token
    context = len("<|user|>" + "Read this.\n\n" + TEXT.rstrip())
    assert compressed("snapkv", prompts) == [context, context]
    assert compressed("snapkv", prompts, sees_question=True) == [framed + len(each.user) for _, each in prompts]


def test_positions_of_the_question_go_on_from_the_whole_context() -> None:
    """The keys of the question are those that they would have behind a cache that keeps everything."""
    sample, prompt = asked(TEXT, "What came back?")

    async def use(session: Any) -> list[int]:
        seen: list[int] = []

        def note(_: Any, __: Any, named: dict[str, Any]) -> None:
            seen.extend(named["position_ids"][0].tolist())

        session.decoder.model.model.register_forward_pre_hook(note, with_kwargs=True)
        await session.generate(sample, prompt, Sampling(max_tokens=5))
        return seen

    seen = with_session(use, policy=shipped("streaming_llm", budget=0.2))
    assert seen == list(range(len(seen)))


def test_a_context_that_is_shorter_than_the_presss_window_is_kept() -> None:
    short = asked("It is 5.", "What?", before="")
    (answer,) = answers([short], policy=shipped("snapkv", budget=0.2))
    assert answer.text == plain_generate([short])[0]


@pytest.mark.parametrize(
    ("press", "arguments", "line"),
    [
        ("ThinKPress", {}, "kv_policy.press=ThinKPress: takes no kv_policy.budget, or not these"),
        ("SnapKVPress", {"window": 8}, "kv_policy.press=SnapKVPress: takes no kv_policy.budget, or"),
        ("CriticalKVPress", {}, "kv_policy.press=CriticalKVPress: takes no kv_policy.budget, or"),
        ("NoSuchPress", {}, "kv_policy.press=NoSuchPress: kvpress has no such press; it has AdaKVPress, "),
    ],
)
def test_a_press_that_cannot_be_had_is_one_line(press: str, arguments: dict[str, int], line: str) -> None:
    with pytest.raises(ConfigError) as raised:
        answers(PROMPTS[:1], policy=KVPolicy(name="own", press=press, press_arguments=arguments, budget=0.5))
    assert str(raised.value).startswith(line)
    assert "\n" not in str(raised.value)


def test_a_press_that_the_architecture_lacks_is_refused_before_anything_is_asked() -> None:
    from transformers import AutoConfig, AutoModelForCausalLM

    from contextcliff.engines.transformers.cache import press_for

    config = AutoConfig.for_model(
        "gpt2", n_layer=2, n_head=2, n_embd=32, vocab_size=64, n_positions=1024, bos_token_id=0, eos_token_id=0
    )
    model = AutoModelForCausalLM.from_config(config)
    own = shipped("snapkv", budget=0.5)
    with pytest.raises(ConfigError) as raised:
        press_for(own, model)
    assert str(raised.value).startswith("kv_policy.press=SnapKVPress: does not work on this model (gpt2: ")


def test_a_press_that_only_hides_positions_saves_no_memory_and_is_refused() -> None:
    assert made_folder()
    with pytest.raises(ConfigError) as raised:
        answers(PROMPTS[:1], policy=KVPolicy(name="own", press="KVzipPress", budget=0.5))
    assert str(raised.value).startswith("kv_policy.press=KVzipPress: does not work on this model (llama: ")
