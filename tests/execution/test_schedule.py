"""The order of sending: shared prefixes are computed once, and it changes nothing else."""

from __future__ import annotations

import random
from itertools import pairwise
from os.path import commonprefix

from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.execution.schedule import in_prefix_order
from contextcliff.records.sample import Sample
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
