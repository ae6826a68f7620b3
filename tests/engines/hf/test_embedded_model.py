"""The embedded SmolLM2 in torch: its GGUF file's tokens, and the answers of `generate` and of kvpress's pipeline."""

from __future__ import annotations

from typing import Any

import pytest

from contextcliff.datasets.essays import Essays
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.sampling import Sampling
from tests.engines.hf.made_model import SMOLLM2, answers, asked, with_session

pytestmark = [pytest.mark.llm, pytest.mark.slow]

STORY = Essays().corpus(tokens=2_000, seed=1, count=1).documents[0].text
NEEDLE = " The special magic Paris number is: 48213."
QUESTIONS = (
    "What is the special magic Paris number?\nAnswer with the number only.",
    "Write one sentence about the text.",
)
PROMPTS = [asked(STORY[start : start + 1500] + NEEDLE, each) for start in (0, 2000) for each in QUESTIONS]
NEW = 20


def test_the_tokenizer_of_the_gguf_file_begins_a_prompt_once() -> None:
    """transformers reads one that adds `<|im_start|>` before a template's own, which is one reason for the puzzle."""
    from transformers import AutoTokenizer

    file = SMOLLM2.gguf.fetch()
    raw = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)

    async def use(session: Any) -> Any:
        return session.tokenizer

    own = with_session(use, model=SMOLLM2)
    framed = own.tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hi."}], add_generation_prompt=True, tokenize=False
    )
    beginning = own.tokenizer.convert_tokens_to_ids("<|im_start|>")
    assert raw(framed).input_ids[:2] == [beginning, beginning]
    assert own.tokenizer(framed).input_ids == raw(framed, add_special_tokens=False).input_ids
    assert own.count_prompt(PROMPTS[0][1]) > 300


def test_none_and_budget_one_say_what_generate_and_the_pipeline_say() -> None:
    from kvpress import KnormPress, KVPressTextGenerationPipeline

    async def use(session: Any) -> list[tuple[str, str, str]]:
        model, tokenizer = session.decoder.model, session.tokenizer.tokenizer
        pipeline = KVPressTextGenerationPipeline(model=model, tokenizer=tokenizer)
        told = []
        for sample, prompt in PROMPTS:
            generation = await session.generate(sample, prompt, Sampling(max_tokens=NEW))
            framed = tokenizer.apply_chat_template(
                [{"role": "user", "content": prompt.user}], add_generation_prompt=True, tokenize=False
            )
            encoded = tokenizer(framed, add_special_tokens=False, return_tensors="pt")
            output = model.generate(**encoded, do_sample=False, max_new_tokens=NEW)[0, encoded.input_ids.shape[1] :]
            context = prompt.user.removesuffix(f"\n\n{sample.question}")
            piped = pipeline(context, question=f"\n\n{sample.question}", press=KnormPress(0.0), max_new_tokens=NEW)[
                "answer"
            ]
            told.append((generation.text, tokenizer.decode(output, skip_special_tokens=True), piped))
        return told

    told = with_session(use, model=SMOLLM2, prefix_cache=False, threads=None)
    assert [own for own, _, _ in told] == [plain for _, plain, _ in told]
    assert [own for own, _, _ in told] == [piped for _, _, piped in told]
    kept = answers(
        PROMPTS,
        sampling=Sampling(max_tokens=NEW),
        policy=KVPolicy(name="h2o", press="ObservedAttentionPress"),
        model=SMOLLM2,
        threads=None,
    )
    assert [each.text for each in kept] == [own for own, _, _ in told]
    assert any((each.cached_tokens or 0) > 300 for each in kept)
    assert "48213" in told[0][0]


def test_an_evicted_context_gives_the_answers_of_the_pipeline() -> None:
    import kvpress

    policy = KVPolicy(name="snapkv", press="SnapKVPress", budget=0.5)

    async def use(session: Any) -> list[tuple[str, str]]:
        model, tokenizer = session.decoder.model, session.tokenizer.tokenizer
        pipeline = kvpress.KVPressTextGenerationPipeline(model=model, tokenizer=tokenizer)
        told = []
        for sample, prompt in PROMPTS:
            generation = await session.generate(sample, prompt, Sampling(max_tokens=NEW))
            piped = pipeline(
                prompt.user.removesuffix(f"\n\n{sample.question}"),
                question=f"\n\n{sample.question}",
                press=kvpress.SnapKVPress(0.5),
                max_new_tokens=NEW,
            )["answer"]
            told.append((generation.text, piped))
        return told

    told = with_session(use, model=SMOLLM2, policy=policy, threads=None)
    assert [own for own, _ in told] == [piped for _, piped in told]
