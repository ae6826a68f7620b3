"""The engine `transformers` without a compressed cache: the tokens of `generate`, its faults, its prefix reuse."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contextcliff.errors import EngineFault
from contextcliff.models.model import Model, Rope
from contextcliff.models.sampling import Sampling
from contextcliff.records.positions import Positions
from contextcliff.text.tokenizers import HubTokenizer
from tests.engines.hf.made_model import answers, asked, made_folder, made_model, plain_generate, with_session

pytestmark = pytest.mark.torch

TEXT = "The lamp stood in the window until the ferry came back over the water. " * 6
PROMPTS = [asked(TEXT[: 90 * n], f"What came back, number {n}?") for n in range(1, 5)]


def test_greedy_answers_are_those_of_plain_generate() -> None:
    expected = plain_generate(PROMPTS)
    assert len(set(expected)) > 1  # the model does not say the same to everything
    assert [each.text for each in answers(PROMPTS, prefix_cache=False)] == expected
    assert [each.text for each in answers(PROMPTS)] == expected


def test_a_prompt_goes_on_from_what_it_shares_with_the_last_one() -> None:
    prompts = [asked(TEXT, "Who came?"), asked(TEXT, "What came?"), asked("Another text. " * 30, "What came?")]
    first, second, third = answers(prompts)
    assert (first.cached_tokens, third.cached_tokens) == (0, 0)
    shared = len("<|user|>Read this.\n\n" + TEXT + "\n\nWh")
    assert second.cached_tokens == shared
    assert [each.text for each in (first, second, third)] == plain_generate(prompts)
    cold = answers(prompts, prefix_cache=False)
    assert [each.cached_tokens for each in cold] == [0, 0, 0]
    assert [each.text for each in cold] == [first.text, second.text, third.text]


def test_drawn_answers_depend_on_the_seed_alone() -> None:
    warm = Sampling(temperature=1.5, top_k=0, max_tokens=12)
    one, other = asked(TEXT, "What?", seed=1), asked(TEXT, "What?", seed=2)
    first, second = answers([one, other], sampling=warm)
    assert answers([other, one], sampling=warm)[1].text == first.text
    assert first.text != second.text
    fixed = Sampling(temperature=1.5, top_k=0, max_tokens=12, seed=7)
    assert len({each.text for each in answers([one, other], sampling=fixed)}) == 1


def test_an_answer_says_why_it_ended_and_what_it_took() -> None:
    (short,) = answers(PROMPTS[:1], sampling=Sampling(max_tokens=3))
    assert (short.finish_reason, short.completion_tokens) == ("length", 3)
    assert 0 < short.ttft_ms <= short.latency_ms
    framed = "<|user|>" + PROMPTS[0][1].user + "<|end|><|assistant|>"
    assert short.prompt_tokens == len(framed.replace("<|end|>", "."))  # each sign is a token, and so is the end


def test_text_arrives_piece_by_piece() -> None:
    pieces: list[str] = []

    async def use(session: Any) -> str:
        generation = await session.generate(*PROMPTS[0], Sampling(max_tokens=12), pieces.append)
        return str(generation.text)

    text = with_session(use)
    assert "".join(pieces) == text
    assert len(pieces) > 1


def test_what_runs_out_of_memory_is_one_fault_and_shorter_prompts_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    lengths = [len(prompt.user) for _, prompt in PROMPTS]

    async def use(session: Any) -> list[str]:
        scores = type(session.decoder)._scores

        def limited(decoder: Any, rows: Any, cache: Any, *, starts: Any, mask: Any = None) -> Any:
            if len(rows[0]) > 1:
                tried.append(len(rows[0]))
            if starts + len(rows[0]) > lengths[1] + 60:
                raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9")
            return scores(decoder, rows, cache, starts=starts, mask=mask)

        monkeypatch.setattr(type(session.decoder), "_scores", limited)
        kinds = []
        for sample, prompt in (PROMPTS[2], PROMPTS[3], PROMPTS[2], PROMPTS[0]):
            try:
                await session.generate(sample, prompt, Sampling(max_tokens=2))
                kinds.append("answered")
            except EngineFault as fault:
                kinds.append("again" if fault.retryable else fault.kind)
        return kinds

    assert with_session(use) == ["oom", "oom", "oom", "answered"]
    assert len(tried) == 2  # the first, and the one that is shorter


def test_a_cancelled_answer_is_not_computed_to_its_end() -> None:
    async def use(session: Any) -> int:
        pieces: list[str] = []
        task = asyncio.create_task(session.generate(*PROMPTS[0], Sampling(max_tokens=100_000), pieces.append))
        while not pieces:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (await session.generate(*PROMPTS[1], Sampling(max_tokens=2)))  # the thread is free again
        return len(pieces)

    assert with_session(use, model=made_model(window=200_000)) < 1000


def test_weights_without_a_chat_template_are_asked_in_plain_text() -> None:
    async def use(session: Any) -> tuple[bool, int, int]:
        generation = await session.generate(*PROMPTS[0], Sampling(max_tokens=2))
        return session.served.plain, generation.prompt_tokens, session.tokenizer.count_prompt(PROMPTS[0][1])

    plain, sent, counted = with_session(use, model=made_model(template=False))
    assert plain
    assert sent == counted == len(PROMPTS[0][1].user)


@pytest.mark.parametrize(
    ("rope", "parameters"),
    [
        (Rope(type="linear", scale=2), {"rope_type": "linear", "factor": 2.0, "rope_theta": 10_000.0}),
        (
            Rope(type="yarn", scale=4, base=50_000),
            {"rope_type": "yarn", "factor": 4.0, "rope_theta": 50_000.0, "original_max_position_embeddings": 4096},
        ),
        (Rope(type="none"), {"rope_type": "default", "rope_theta": 10_000.0}),
    ],
)
def test_positions_are_scaled_as_the_model_asks(rope: Rope, parameters: dict[str, Any]) -> None:
    model = Model(name="made", hub=made_folder(), rope=rope)

    async def use(session: Any) -> tuple[dict[str, Any], str]:
        assert session.served.positions == Positions(trained_tokens=4096, source="config")  # before the scaling
        generation = await session.generate(*PROMPTS[0], Sampling(max_tokens=12))
        return dict(session.decoder.model.config.rope_parameters), generation.text

    applied, text = with_session(use, model=model)
    assert {name: applied[name] for name in parameters} == parameters
    assert (text == plain_generate(PROMPTS[:1])[0]) == (rope.type == "none")


@pytest.mark.parametrize(
    ("tokens", "ended", "answer", "reasoning"),
    [
        (("[THINK]", "7", "[/THINK]", "42", "</s>"), True, "42", "7"),
        (("[THINK]", "7"), False, "", "7"),
        (("42", "[PAD]", "7", "</s>"), True, "427", ""),
    ],
)
def test_marks_of_reasoning_are_seen_where_they_are_special_tokens(
    tokens: tuple[str, ...], ended: bool, answer: str, reasoning: str
) -> None:
    from tokenizers import Tokenizer, decoders, models
    from transformers import PreTrainedTokenizerFast

    from contextcliff.engines.transformers.decoding import Request

    signs = ["</s>", "[THINK]", "[/THINK]", "[PAD]", "<think>", "</think>", "7", "42"]
    made = Tokenizer(models.WordLevel({sign: number for number, sign in enumerate(signs)}, unk_token="</s>"))
    made.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="</s>", additional_special_tokens=["[THINK]", "[/THINK]", "[PAD]"]
    )
    request = Request(
        tokenizer=HubTokenizer(name="made", tokenizer=tokenizer, template_arguments={}),
        tokens=(),
        context=0,
        sampling=Sampling(temperature=0.0),
        seed=1,
        max_tokens=9,
        device="cpu",
        emit=lambda _: None,
        may_go_on=lambda: True,
        written=[signs.index(each) for each in tokens],
    )
    reply = request.reply(ended=ended)
    assert reply == (answer, reasoning)
