"""Attention entropy against the weights of eager attention."""

from __future__ import annotations

import math
from typing import Any

import pytest

from contextcliff.kv.policy import KVPolicy
from contextcliff.models.sampling import Sampling
from tests.engines.hf.made_model import answers, asked, made_folder, with_session

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch", reason="needs the extra hf")

TEXT = "The lamp stood in the window until the ferry came back over the water. " * 4
PROMPT = asked(TEXT, "What came back?")


def by_eager_weights(tokens: list[int], *, positions: int) -> list[float]:
    """Entropy of whole attention matrices over the logarithm of the keys that each position sees."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(made_folder(), attn_implementation="eager", dtype=torch.float32)
    with torch.inference_mode():
        attentions = model(input_ids=torch.tensor([tokens]), output_attentions=True).attentions
    means = []
    for weights in attentions:
        values = [
            float(-torch.xlogy(row, row).sum()) / math.log(place + 1)
            for head in weights[0]
            for place, row in list(enumerate(head))[-positions:]
        ]
        means.append(sum(values) / len(values))
    return means


@pytest.mark.parametrize(("attention", "positions"), [("sdpa", 16), ("eager", 1)])
def test_it_is_that_of_the_whole_matrices(attention: str, positions: int) -> None:
    async def use(session: Any) -> tuple[tuple[float, ...], list[int]]:
        generation = await session.generate(*PROMPT, Sampling(max_tokens=3))
        prompt = session.tokenizer.tokenizer.apply_chat_template(
            [{"role": "user", "content": PROMPT[1].user}], add_generation_prompt=True, tokenize=False
        )
        return generation.attention_entropy, session.tokenizer.tokenizer(prompt, add_special_tokens=False).input_ids

    measured, tokens = with_session(use, attention_entropy=True, entropy_positions=positions, attention=attention)
    assert measured == pytest.approx(by_eager_weights(tokens, positions=positions), rel=1e-3)
    assert all(0.0 < value < 1.0 for value in measured)


def test_it_changes_no_answer_and_is_absent_unless_asked_for() -> None:
    (without,), (measured,) = answers([PROMPT]), answers([PROMPT], attention_entropy=True)
    assert (without.text, without.attention_entropy) == (measured.text, ())
    assert len(measured.attention_entropy) == 3


def test_what_was_evicted_is_not_counted_among_the_keys() -> None:
    policy = KVPolicy(name="pyramidkv", press="PyramidKVPress", budget=0.3, press_arguments={"window_size": 8})
    (answer,) = answers([PROMPT], policy=policy, attention_entropy=True)
    assert len(answer.attention_entropy) == 3
    assert all(0.0 < value < 1.0 for value in answer.attention_entropy)
