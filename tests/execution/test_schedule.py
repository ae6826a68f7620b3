"""The order of sending: shared prefixes are computed once, and it changes nothing else."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from os.path import commonprefix

from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.execution.schedule import in_prefix_order
from contextcliff.records.sample import Recipe, Sample, Turn, Words
from tests.tasks.needles import build, niah, prompt

SAMPLES = build(niah(haystacks=1, lengths=[300, 900], depths=[0.0, 0.25, 0.5, 0.75, 1.0], trials=3))


def shared_characters(samples: tuple[Sample, ...] | list[Sample]) -> int:
    return sum(len(commonprefix([prompt(a).user, prompt(b).user])) for a, b in pairwise(samples))


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_order_given(rng: random.Random) -> None:
    shuffled = list(SAMPLES)
    rng.shuffle(shuffled)
    assert in_prefix_order(shuffled) == in_prefix_order(SAMPLES)


def test_short_lengths_come_first_and_nothing_is_lost() -> None:
    ordered = in_prefix_order(SAMPLES)
    assert [sample.context_tokens for sample in ordered] == [300] * 15 + [900] * 15
    assert set(ordered) == set(SAMPLES)


def test_neighbours_share_as_much_as_in_the_order_of_the_prompts_themselves() -> None:
    for length in (300, 900):
        ordered = [sample for sample in in_prefix_order(SAMPLES) if sample.context_tokens == length]
        by_text = sorted(ordered, key=lambda sample: prompt(sample).user)
        # The needles of one place begin alike; their cities sort the same way in both orders.
        assert shared_characters(ordered) == shared_characters(by_text)


BIRDS = tuple(
    Turn(user=(Words(text="Name a bird."),), assistant=(Words(text=f"{bird} and its long song."),))
    for bird in ("Wren", "Owl", "Crow", "Lark", "Kite")
)


def conversation(name: str, *birds: int, question: str = "Which?") -> Sample:
    recipe = Recipe(turns=tuple(BIRDS[bird] for bird in birds), user=(Words(text=question),))
    return replace(SAMPLES[0], sample_id=name, recipe=recipe, built_tokens=100)


def test_conversations_that_begin_alike_are_neighbours() -> None:
    samples = [
        conversation("a", 0, 1, 2), conversation("b", 3, 1, 2), conversation("c", 0, 1, 4),
        conversation("d", 3, 1, 4), conversation("e", 0, 1, 2, question="What was first?"),
    ]  # fmt: skip
    ordered = "".join(sample.sample_id for sample in in_prefix_order(samples))
    assert {*ordered[:3]} == {*"ace"} or {*ordered[2:]} == {*"ace"}
    assert "ae" in ordered or "ea" in ordered
