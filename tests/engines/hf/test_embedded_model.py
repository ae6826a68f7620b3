"""The embedded SmolLM2 in torch: its GGUF file's tokens, and the answers of `generate` and of kvpress's pipeline."""

from __future__ import annotations

from typing import Any

import pytest

from contextcliff.datasets.essays import Essays
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.sampling import Sampling
from contextcliff.records.sample import Prompt
from tests.engines.hf.made_model import NONE, SMOLLM2, asked, with_session

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


def by_others(session: Any, prompt: Prompt, question: str, press: Any) -> tuple[str, str]:
    from kvpress import KVPressTextGenerationPipeline

    model, tokenizer = session.decoder.model, session.tokenizer.tokenizer
    framed = tokenizer.apply_chat_template(
        [{"role": "user", "content": prompt.user}], add_generation_prompt=True, tokenize=False
    )
    encoded = tokenizer(framed, add_special_tokens=False, return_tensors="pt")
    output = model.generate(**encoded, do_sample=False, max_new_tokens=NEW)[0, encoded.input_ids.shape[1] :]
    context, asked = prompt.user.removesuffix(f"\n\n{question}"), f"\n\n{question}"
    pipeline = KVPressTextGenerationPipeline(model=model, tokenizer=tokenizer)
    piped = pipeline(context, question=asked, press=press, max_new_tokens=NEW)["answer"]
    return tokenizer.decode(output, skip_special_tokens=True), piped


@pytest.mark.parametrize(
    ("policy", "ratio"), [(NONE, 0.0), (KVPolicy(name="snapkv", press="SnapKVPress", budget=0.5), 0.5)]
)
def test_answers_are_those_of_the_pipeline_and_without_an_eviction_those_of_generate(
    policy: KVPolicy, ratio: float
) -> None:
    from kvpress import SnapKVPress

    async def use(session: Any) -> list[tuple[str, str, str]]:
        said = [(await session.generate(*each, Sampling(max_tokens=NEW))).text for each in PROMPTS]
        press = SnapKVPress(ratio)
        others = [by_others(session, prompt, sample.question, press) for sample, prompt in PROMPTS]
        return [(own, *other) for own, other in zip(said, others, strict=True)]

    told = with_session(use, model=SMOLLM2, policy=policy, prefix_cache=False, threads=None)
    assert [own for own, _, _ in told] == [piped for _, _, piped in told]
    if ratio == 0.0:
        assert [own for own, _, _ in told] == [plain for _, plain, _ in told]
        assert "48213" in told[0][0]
