"""`task.lengths=auto`: the lengths that a window and the texts hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from contextcliff.datasets.synthetic import Synthetic
from contextcliff.records.corpus import Corpus, Document
from contextcliff.records.sample import Passage
from contextcliff.tasks.task import ContextBudget, Materials
from tests.tasks.made_tasks import materials, shipped

WORDS = "The cat sat on the mat by the door. "


def room(window: int, **changes: Any) -> ContextBudget:
    return ContextBudget(context_window=window, answer_tokens=32, **changes)


@pytest.mark.parametrize(
    ("option", "window", "lengths"),
    [
        ("niah", 8_192, (512, 1_024, 2_048, 4_096, 7_992)),
        ("niah", 32_768, (512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_568)),
        ("niah", 4_300, (512, 1_024, 2_048, 4_100)),
        ("niah", 600, (400,)),
        ("mrcr", 8_192, (1_024, 2_048, 4_096, 7_936)),
        ("repeat", 2_048, (256, 512, 960)),
    ],
)
def test_they_double_up_to_what_the_window_holds_beside_the_answer(
    option: str, window: int, lengths: tuple[int, ...]
) -> None:
    task = shipped(option)
    assert task.lengths_in(room(window)) == lengths
    assert task.longest_context(room(window)) == lengths[-1]


def test_a_model_may_have_fewer_of_them_and_a_text_may_end_them() -> None:
    assert shipped("niah").lengths_in(room(8_192, most_lengths=3)) == (512, 1_024, 2_048)
    ended = room(32_768, text_tokens=9_000)
    assert shipped("niah").lengths_in(ended) == (512, 1_024, 2_048, 4_096, 8_192, 9_000)
    assert shipped("niah").length_notes(ended) == (
        "the texts hold 9,000 tokens, and the lengths end there; give more text for longer ones",
    )
    assert shipped("niah").length_notes(room(32_768)) == ()


@pytest.mark.parametrize(
    "given",
    [
        {"lengths": (700, 900)},
        {"length_fractions": (0.1, 0.2)},
        {"length_grid": {"min": 700, "max": 900, "count": 2}},
    ],
)
def test_lengths_that_are_given_are_asked_as_before(given: dict[str, Any]) -> None:
    task = shipped("niah", **given)
    assert task.traits.lengths_given
    assert task.lengths_in(room(8_192, most_lengths=1, text_tokens=600)) == (
        (819, 1_638) if "length_fractions" in given else (700, 900)
    )
    assert "shortest" not in task.identity()


def of_text(text: str, *, window: int, **about: str) -> Materials:
    document = Document(document_id="own", title="own", text=text, **about)  # type: ignore[arg-type]
    return replace(materials(Corpus(documents=(document,))), context_budget=room(window))


@pytest.mark.parametrize("haystacks", ["fresh", 1])
def test_generated_prose_stands_in_where_the_text_is_too_short(haystacks: str | int) -> None:
    own = of_text(WORDS * 200, window=4_096)
    filler = Synthetic().corpus(tokens=40_000, seed=0).documents
    filled = replace(own, corpus=replace(own.corpus, filler=filler))
    task = shipped("niah", trials=1, depths=(0.5,), haystacks=haystacks)
    plan, before = task.build(filled), shipped("niah", trials=1, depths=(0.5,), haystacks=haystacks, lengths=(512,))
    cut_from = {
        sample.context_tokens: {piece.document_id for piece in sample.recipe.user if isinstance(piece, Passage)}
        for sample in plan.samples
    }
    texts = {"own"}, {filler[0].document_id}
    assert cut_from == {512: texts[0], 1_024: texts[0], 2_048: texts[1], 3_896: texts[1]}
    assert plan.notes == ("the text holds 2,001 tokens: from 2,048 on the prompts are of generated prose",)
    assert plan.samples[0] == before.build(own).samples[0]


def test_a_text_that_no_prose_can_stand_in_for_ends_the_lengths() -> None:
    japanese = of_text("これは短い文である。" * 100, window=4_096, language="ja")
    assert shipped("niah").text_holds(japanese) == 1_000
    assert shipped("mrcr").text_holds(japanese) == 3_425_280


def test_documents_that_do_not_hold_the_answer_end_the_lengths() -> None:
    from tests.tasks.test_distracted import STORIES

    window = room(200_000)
    task = shipped("qa_distractors", max_trials=10)
    held = task.text_holds(replace(materials(STORIES), context_budget=window))
    assert held is not None
    ended = replace(window, text_tokens=held)
    assert task.lengths_in(ended)[-1] == held
    longest = shipped("qa_distractors", lengths=(held,), max_trials=10)
    longest.build(replace(materials(STORIES), context_budget=window))
