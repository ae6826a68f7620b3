"""Of samples that share a prefix the first goes alone; the others find it computed."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.execution.schedule import Listed, PrefixGate
from contextcliff.execution.store import PlannedSample
from tests.execution.planned_samples import answered, lost, planned

LONG = "a" * 80


def gate(*items: PlannedSample) -> PrefixGate:
    return PrefixGate(Listed(items))


def equal(prompts: str) -> list[PlannedSample]:
    """A sample for each letter; equal letters are equal prompts, and others share nothing."""
    return [planned(f"{letter}{place}", letter * 100) for place, letter in enumerate(prompts)]


def sharing(*ends: str) -> list[PlannedSample]:
    """Samples that share four fifths of their prompts."""
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


def test_less_than_half_of_a_prompt_is_not_waited_for() -> None:
    leading = gate(planned("one", "a" * 40 + "b" * 60), planned("two", "a" * 40 + "c" * 60))
    assert handed_out(leading) == "one two"


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


def test_another_leads_where_the_first_fails_and_is_tried_again() -> None:
    items = sharing("x", "y", "z")
    leading = gate(*items)
    assert handed_out(leading) == "x"
    leading.failed(items[0])
    assert handed_out(leading) == "y"
    leading.answering(items[1])
    assert handed_out(leading) == "z"
    leading.ended(items[0], lost(items[0]))
    assert handed_out(leading) == ""


def test_what_is_put_back_comes_first_again() -> None:
    items = equal("abc")
    leading = gate(*items)
    item = leading.next()
    assert item is items[0]
    leading.put_back(item)
    assert handed_out(leading) == "a0 b1 c2"


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


@given(PROMPTS)
def test_one_at_a_time_go_in_the_order_given(prompts: list[str]) -> None:
    items = [planned(str(place), prompt) for place, prompt in enumerate(prompts)]
    leading, order = gate(*items), []
    while (item := leading.next()) is not None:
        order.append(item)
        leading.ended(item, answered(item))
    assert order == items
