"""Conversations on `engine=transformers`: the whole chat template, and where the question begins in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextcliff.records.sample import Passage, Prompt, Recipe, Sample, SentTurn, Turn, Words
from contextcliff.text.tokenizers import hub_tokenizer
from contextcliff.text.tokens import plain_text
from tests.engines.hf.made_model import answers, asked, made_folder

pytestmark = pytest.mark.torch

TURN = SentTurn(user="Which bird?", assistant="A wren.")
RECIPE = Turn(user=(Words(text=TURN.user),), assistant=(Words(text=TURN.assistant),))


def talk(question: str) -> tuple[Sample, Prompt]:
    sample, _ = asked("", question)
    recipe = Recipe(turns=(RECIPE, RECIPE), user=(Words(text=question),))
    return replace(sample, recipe=recipe), Prompt(user=question, turns=(TURN, TURN))


def split(sample: Sample, prompt: Prompt, *, plain: bool = False) -> tuple[str, str]:
    from contextcliff.engines.transformers.decoding import prompt_tokens  # needs torch

    tokenizer = hub_tokenizer(made_folder(), {}, plain=plain)
    tokens, context = prompt_tokens(tokenizer, sample, prompt, splits=True)
    decode = tokenizer.tokenizer.decode
    return decode(list(tokens[:context])), decode(list(tokens[context:]))


EARLIER = "<|user|>Which bird?<|end|><|assistant|>A wren.<|end|>" * 2


@pytest.mark.parametrize("question", ["Which was second?", TURN.user])
def test_the_last_message_is_the_question_and_the_turns_are_its_context(question: str) -> None:
    context, rest = split(*talk(question))
    assert context == f"{EARLIER}<|user|>"
    assert rest == f"{question}<|end|><|assistant|>"


def test_a_text_in_the_last_message_is_context_too() -> None:
    sample, prompt = talk("Which was second?")
    before = (Passage(document_id="d", start=0, end=7), Words(text="\n\nWhich was second?"))
    sample = replace(sample, recipe=Recipe(turns=sample.recipe.turns, user=before))
    context, rest = split(sample, replace(prompt, user="A wren.\n\nWhich was second?"))
    assert (context, rest) == (f"{EARLIER}<|user|>A wren.", "\n\nWhich was second?<|end|><|assistant|>")


def test_a_base_model_reads_the_plain_form() -> None:
    sample, prompt = talk("Which was second?")
    assert "".join(split(sample, prompt, plain=True)) == plain_text(prompt)


def test_a_conversation_is_answered_and_counted_whole() -> None:
    (generation,) = answers([talk("Which was second?")])
    assert generation.prompt_tokens == hub_tokenizer(made_folder(), {}).count_prompt(talk("Which was second?")[1])
