"""Of samples with one prompt the first goes alone; the others find it computed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from contextcliff.execution.schedule import PrefixGate
from contextcliff.execution.store import PlannedSample
from tests.tasks.needles import build, niah

SAMPLES = build(niah(lengths=[300], depths=[0.5], trials=6))


def planned(prompts: str) -> list[PlannedSample]:
    """A sample for each letter; equal letters are equal prompts."""
    return [
        PlannedSample(
            sample=replace(SAMPLES[0], sample_id=f"{letter}{place}"), prompt_sha256=letter, key=f"{letter}{place}"
        )
        for place, letter in enumerate(prompts)
    ]


def handed_out(leading: PrefixGate) -> str:
    names = []
    while (item := leading.next()) is not None:
        names.append(item.sample.sample_id)
    return " ".join(names)


def test_followers_wait_for_their_leader_while_other_prompts_go() -> None:
    leading = PrefixGate(planned("aaabbc"))
    assert handed_out(leading) == "a0 b3 c5"
    leading.ended("a")
    assert handed_out(leading) == "a1 a2"
    leading.ended("b")
    assert handed_out(leading) == "b4"


def test_a_prompt_that_was_computed_needs_no_leader_any_more() -> None:
    leading = PrefixGate(planned("ab" + "a"))
    assert handed_out(leading) == "a0 b1"
    leading.ended("a")
    assert handed_out(leading) == "a2"
    leading.ended("a")
    assert handed_out(leading) == ""


@given(st.text(alphabet="abc", max_size=12), st.integers(1, 4), st.randoms())
def test_every_sample_goes_once_and_never_beside_its_leader(prompts: str, most: int, draws: Random) -> None:
    leading = PrefixGate(planned(prompts))
    under_way: list[PlannedSample] = []
    done: list[PlannedSample] = []
    while True:
        while len(under_way) < most and (item := leading.next()) is not None:
            fresh = item.prompt_sha256 not in {other.prompt_sha256 for other in done}
            assert not fresh or item.prompt_sha256 not in {other.prompt_sha256 for other in under_way}
            under_way.append(item)
        if not under_way:
            break
        ended = under_way.pop(draws.randrange(len(under_way)))
        done.append(ended)
        leading.ended(ended.prompt_sha256)
    assert sorted(item.sample.sample_id for item in done) == sorted(item.sample.sample_id for item in planned(prompts))
