"""Several prompts at once: the answers of each alone, and smaller batches where memory runs out."""

from __future__ import annotations

from typing import Any

import pytest

from contextcliff.errors import EngineFault
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from tests.engines.hf.made_model import answers, asked, together

pytestmark = pytest.mark.torch

PROMPTS = [
    asked(f"The tide was out {'and the clerk wrote ' * n}at noon.", f"What was number {n}?") for n in range(1, 7)
]
SHORT = Sampling(max_tokens=10)


def texts(generations: list[Generation]) -> list[str]:
    return [each.text for each in generations]


def batches(monkeypatch: pytest.MonkeyPatch, *, most: int = 99) -> list[int]:
    """The sizes of all batches from now on; one of more than `most` prompts runs out of memory."""
    from contextcliff.engines.transformers.decoding import Decoder

    sizes: list[int] = []
    computed = Decoder._read_together

    def counted(decoder: Decoder, requests: Any) -> Any:
        sizes.append(len(requests))
        if len(requests) > most:
            raise MemoryError
        return computed(decoder, requests)

    monkeypatch.setattr(Decoder, "_read_together", counted)
    return sizes


def test_prompts_of_several_lengths_get_the_answers_that_each_gets_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = batches(monkeypatch)
    assert texts(together(PROMPTS, sampling=SHORT)) == texts(answers(PROMPTS, sampling=SHORT))
    assert max(sizes) > 1


def test_tokens_are_drawn_by_each_samples_own_seed() -> None:
    drawn = Sampling(max_tokens=10, temperature=0.8, top_k=0)
    assert texts(together(PROMPTS, sampling=drawn)) == texts(answers(PROMPTS, sampling=drawn))


def test_a_batch_that_does_not_fit_is_halved_and_the_next_ones_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = batches(monkeypatch, most=2)
    assert texts(together(PROMPTS, sampling=SHORT)) == texts(answers(PROMPTS, sampling=SHORT))
    assert any(size > 2 for size in sizes)
    assert sizes[-1] <= 2


def test_one_prompt_that_is_too_long_takes_no_other_with_it() -> None:
    long = asked("word " * 6_000, "What?")
    ended = together([PROMPTS[0], long, PROMPTS[1]], sampling=SHORT)
    assert [type(each) for each in ended] == [Generation, EngineFault, Generation]
    assert (ended[1].kind, ended[1].retryable) == ("overflow", False)
    assert "and the window 4,096" in str(ended[1])


@pytest.mark.parametrize(
    "policy",
    [KVPolicy(name="knorm", press="KnormPress", budget=0.5), KVPolicy(name="int8", key_type="int8", value_type="int8")],
)
def test_a_policy_that_evicts_or_quantises_is_computed_one_by_one(
    policy: KVPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = batches(monkeypatch)
    how: dict[str, Any] = {"sampling": SHORT, "policy": policy}
    assert texts(together(PROMPTS[:3], **how)) == texts(answers(PROMPTS[:3], **how))
    assert sizes == []
