"""The order of sending: of samples that share a prefix the first goes alone, and the others find it computed."""

from __future__ import annotations

from itertools import pairwise
from os.path import commonprefix
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.execution.schedule import Listed, PrefixGate, in_prefix_order
from contextcliff.execution.store import PlannedSample
from contextcliff.records.sample import Passage, Recipe, Sample, Words
from tests.execution.planned_samples import answered, lost, planned
from tests.tasks.needles import build, niah, prompt

SAMPLES = build(niah(haystacks=1, lengths=[300, 900], depths=[0.0, 0.25, 0.5, 0.75, 1.0], trials=3))


def shared_characters(samples: tuple[Sample, ...] | list[Sample]) -> int:
    return sum(len(commonprefix([prompt(a).user, prompt(b).user])) for a, b in pairwise(samples))


def test_neighbours_share_as_much_as_in_the_order_of_the_prompts_themselves() -> None:
    for length in (300, 900):
        ordered = [sample for sample in in_prefix_order(SAMPLES) if sample.context_tokens == length]
        by_text = sorted(ordered, key=lambda sample: prompt(sample).user)
        # The needles of one place begin alike; their cities sort the same way in both orders.
        assert shared_characters(ordered) == shared_characters(by_text)


LONG = "a" * 80


def gate(*items: PlannedSample) -> PrefixGate:
    return PrefixGate(Listed(items))


def equal(prompts: str) -> list[PlannedSample]:
    """A sample for each letter; equal letters are equal prompts, and others share nothing."""
    return [planned(f"{letter}{place}", letter * 100) for place, letter in enumerate(prompts)]


def sharing(*ends: str) -> list[PlannedSample]:
    return [planned(end, LONG + end * 20) for end in ends]


def handed_out(leading: PrefixGate) -> str:
    names = []
    while (item := leading.next()) is not None:
        names.append(item.sample.sample_id)
    return " ".join(names)


def test_those_of_an_equal_prompt_wait_until_the_first_has_ended_while_other_prompts_go() -> None:
    items = equal("aaabbc")
    leading = gate(*items)
    assert handed_out(leading) == "a0 b3 c5"
    leading.answering(items[0])
    assert handed_out(leading) == ""
    leading.ended(items[0], answered(items[0]))
    assert handed_out(leading) == "a1"  # its answer may be drawn again: the next one has to end first
    leading.ended(items[3], answered(items[3]))
    assert handed_out(leading) == "b4"


@pytest.mark.parametrize("streams", [True, False])
def test_those_that_share_a_prefix_go_together_when_its_first_token_or_its_end_is_back(streams: bool) -> None:
    items = sharing("x", "y", "z")
    leading = gate(*items)
    assert handed_out(leading) == "x"
    if streams:
        leading.answering(items[0])
    else:
        leading.ended(items[0], answered(items[0]))
    assert handed_out(leading) == "y z"


def test_a_prefix_is_waited_for_where_that_halves_what_is_left_to_compute() -> None:
    root = planned("root", "a" * 50 + "b" * 50)
    little, more = planned("little", "a" * 60 + "c" * 40), planned("more", "a" * 60 + "d" * 40)
    deep, deeper = planned("deep", "a" * 90 + "e" * 10), planned("deeper", "a" * 90 + "f" * 10)
    leading = gate(root, little, more, deep, deeper)
    assert handed_out(leading) == "root"
    leading.answering(root)
    assert handed_out(leading) == "little more deep"
    leading.answering(deep)
    assert handed_out(leading) == "deeper"


PROMPTS = st.lists(st.text(alphabet="ab", min_size=1, max_size=6), max_size=12)


@given(PROMPTS, st.integers(1, 5), st.randoms())
def test_every_sample_goes_once_whatever_becomes_of_those_before_it(
    prompts: list[str], most: int, draws: Random
) -> None:
    items = [planned(str(place), prompt) for place, prompt in enumerate(prompts)]
    leading, under_way, order = gate(*items), list[PlannedSample](), list[str]()
    while True:
        while len(under_way) < most and (item := leading.next()) is not None:
            if under_way and draws.random() < 0.2:
                leading.put_back(item)
                break
            under_way.append(item)
            order.append(item.sample.sample_id)
        if not under_way:
            break
        item = draws.choice(under_way)
        event = draws.choice(("answering", "failed", "answered", "lost"))
        if event == "answering":
            leading.answering(item)
        elif event == "failed":
            leading.failed(item)
        else:
            under_way.remove(item)
            leading.ended(item, answered(item) if event == "answered" else lost(item))
    assert sorted(order, key=int) == [str(place) for place in range(len(items))]


def test_in_slots_samples_of_one_context_go_one_after_another_and_those_of_others_beside_them() -> None:
    def asks(name: str, start: int, end: int) -> PlannedSample:
        text = (Words(text="Read: "), Passage(document_id="text", start=start, end=end), Words(text=f" {name}?"))
        return planned(name, name * 100, recipe=Recipe(user=text))

    items = [asks("first", 0, 20), asks("other", 500, 590), asks("next", 0, 90), asks("last", 0, 95)]
    leading = PrefixGate(Listed(items), in_slots=True)
    assert handed_out(leading) == "first other"
    leading.answering(items[0])
    assert handed_out(leading) == ""  # its slot is busy until the answer ends
    leading.ended(items[0], answered(items[0]))
    assert handed_out(leading) == "next"
    leading.failed(items[2])
    assert handed_out(leading) == "last"
