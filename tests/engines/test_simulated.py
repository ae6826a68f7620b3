"""The planted model: its law is what it says, and the analysis finds it."""

from __future__ import annotations

from importlib.resources import files
from random import Random
from typing import Any

import pytest

from contextcliff.engines.simulated import Simulated, _prose, _scrambled
from contextcliff.kv.policy import KVPolicy
from contextcliff.tasks.questions.answers import token_f1
from contextcliff.writing.measures.measure import COMPOSITE
from contextcliff.writing.measures.readability import dale_chall
from contextcliff.writing.passage import judge_prose
from contextcliff.writing.task.continuation_scoring import author_limit

FULL = KVPolicy(name="none")


def test_a_cliff_falls_at_its_place_and_a_flat_law_nowhere() -> None:
    cliff, flat = Simulated(law="cliff", cliff_tokens=1000), Simulated(law="flat")
    chances = [cliff.chance(tokens=tokens, depth=0.5, kv_policy=FULL) for tokens in (100, 800, 1200, 9000)]
    assert chances == pytest.approx([0.98, 0.98, 0.05, 0.05], abs=0.001)
    assert flat.chance(tokens=10**6, depth=0.5, kv_policy=FULL) == 0.98


def test_a_slope_falls_evenly_in_octaves_down_to_its_end() -> None:
    slope = Simulated(law="slope", cliff_tokens=8000, slope_octaves=3.0, ceiling=1.0, floor=0.0)
    chances = [slope.chance(tokens=tokens, depth=0.5, kv_policy=FULL) for tokens in (500, 1000, 2000, 4000, 8000)]
    assert chances == pytest.approx([1.0, 1.0, 2 / 3, 1 / 3, 0.0])


@pytest.mark.parametrize(("position", "worst"), [("middle", 0.5), ("start", 0.0), ("end", 1.0)])
def test_evidence_is_lost_where_it_was_planned(position: Any, worst: float) -> None:
    engine = Simulated(law="flat", position=position)
    by_depth = {depth: engine.chance(tokens=9, depth=depth, kv_policy=FULL) for depth in (0.0, 0.5, 1.0)}
    assert min(by_depth, key=lambda depth: by_depth[depth]) == worst


@pytest.mark.parametrize("answer", ["銀の鍵", "Серебряный ключ", "กุญแจ", "the silver key", "1912"])
def test_a_wrong_answer_is_wrong_in_any_script(answer: str) -> None:
    assert all(token_f1(_scrambled(answer, Random(seed)), answer) < 0.5 for seed in range(20))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "language"), [("the_tide_clerk", "en"), ("shiomachi_no_kirokugakari", "ja")])
def test_it_writes_as_the_author_does_and_a_loop_is_beyond_the_author(name: str, language: str) -> None:
    text = files("contextcliff.datasets").joinpath("texts", f"{name}.txt").read_text(encoding="utf-8")
    context, words = text[: len(text) // 2], dale_chall()

    def within(*, loops: bool, round_number: int) -> bool:
        written = _prose(context[:6_000], loops=loops, tokens=512, rng=Random(round_number))
        found = judge_prose(
            written, prompt=context, reference=text[len(context) :][: len(written)], document=text, language=language,
            word_list=words, shortfall=0.0,
        )  # fmt: skip
        return found[COMPOSITE] <= (author_limit(text, language, words, len(written)) or 0.0)

    assert sum(within(loops=False, round_number=number) for number in range(10)) >= 9
    assert not any(within(loops=True, round_number=number) for number in range(10))
