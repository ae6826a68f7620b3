"""What is right stands in the needle that is hidden, so that a model that finds it is scored as having found it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contextcliff.tasks.needles.niah import Needle, score_static
from contextcliff.tasks.needles.niah_multi import StaticNeedle
from contextcliff.tasks.values import stands_in
from tests.tasks.made_tasks import shipped
from tests.tasks.needles import said


@pytest.mark.parametrize("option", ["niah_static", "niah_static_ja"])
def test_every_shipped_static_needle_read_aloud_is_a_right_answer(option: str) -> None:
    needle = shipped(option).needle
    assert score_static(said(needle.text), needle).value == 1.0


def test_every_shipped_set_of_needles_read_aloud_is_a_right_answer() -> None:
    for needle in shipped("niah_multi_static").needles:
        assert stands_in(needle.answer, needle.text)


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_needle_is_refused_or_its_own_text_scores(text: str, answer: str) -> None:
    try:
        needle = Needle(kind="static", text=text, question="Which?", answer=answer)
    except ValidationError:
        assert not text.strip() or not stands_in(answer, text)
    else:
        assert score_static(said(text), needle).value == 1.0


def test_what_has_to_be_worked_out_is_said_to_be() -> None:
    values: dict[str, Any] = {
        "kind": "static",
        "text": "She has two cats and three dogs.",
        "question": "How many animals?",
        "answer": "five",
    }
    with pytest.raises(ValidationError, match="task.needle.inferred=true where it has to be worked out"):
        Needle(**values)
    needle = Needle(**values, inferred=True)
    assert score_static(said("There are five."), needle).value == 1.0
    assert StaticNeedle(text="Deux chats.", answer="two", inferred=True).inferred


def test_a_number_is_looked_for_in_the_needle_as_in_an_answer() -> None:
    """The scorer reads 1,234,567 as 1234567."""
    task = shipped("niah_multi_static", needles=[{"text": "It holds 1,234,567 coins.", "answer": "1234567"}])
    assert task.needles[0].answer == "1234567"


def test_how_an_answer_is_checked_is_no_part_of_what_is_asked() -> None:
    plain, inferred = shipped("niah_static"), shipped("niah_static", needle={"inferred": True})
    assert plain.identity() == inferred.identity()
    assert plain.asked() == inferred.asked()
