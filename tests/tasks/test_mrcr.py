"""The conversations of `task=mrcr`: their length, their needles, and which of these is asked for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.errors import ConfigError
from contextcliff.records.sample import Prompt, Reference, Sample, render
from contextcliff.tasks.conversation import VARIANTS, Piece, all_pieces, piece_at
from contextcliff.tasks.mrcr import Mrcr, copied_ratio
from contextcliff.tasks.task import ContextBudget, ScoringContext, TaskPlan
from contextcliff.text.tokenizers import WordTokenizer
from contextcliff.text.tokens import Tokenizer
from tests.make import scored_sample
from tests.tasks.made_tasks import shipped
from tests.tasks.needles import built, said

ROOM = ContextBudget(context_window=200_000, answer_tokens=48)
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def mrcr(**changes: Any) -> Mrcr:
    task = shipped("mrcr", **changes)
    assert isinstance(task, Mrcr)
    return task


def plan(task: Mrcr, *, seed: int = 0, tokenizer: Tokenizer | None = None) -> TaskPlan:
    return built(task, seed=seed, context_budget=ROOM, tokenizer=tokenizer)


def sent(sample: Sample) -> Prompt:
    return render(sample.recipe, {})


def asked_for(sample: Sample) -> str:
    """What is asked for, as it was asked for: the request that comes `needles` times."""
    requests = Counter(turn.user for turn in sent(sample).turns)
    return next(text for text in requests if f"{text[len('Write a ') : -1]} that you wrote" in sample.question)


@settings(max_examples=12)
@given(st.sampled_from([2, 4, 8]), st.integers(2_048, 20_000), st.floats(0.0, 1.0), st.integers(0, 50))
def test_a_conversation_has_its_length_and_its_needles(needles: int, length: int, depth: float, seed: int) -> None:
    task = mrcr(needles=needles, lengths=[length], depths=[depth], trials=1)
    (sample,) = plan(task, seed=seed).samples
    prompt = sent(sample)
    assert sample.built_tokens == WordTokenizer().count_prompt(prompt)
    assert 0 <= length - sample.built_tokens <= max(16, length // 100)
    request = asked_for(sample)
    same = [turn.assistant for turn in prompt.turns if turn.user == request]
    assert len(same) == needles
    number = int(sample.metadata["asked"])
    assert ORDINALS[number - 1] in sample.question
    assert sample.answers == (same[number - 1],)
    assert set(sample.reference.distractors) == {*same} - {*sample.answers}
    replies = [turn.assistant for turn in prompt.turns]
    assert len(set(replies)) == len(replies)  # each stands there once, and no answer elsewhere
    whole = "\n".join(text for turn in prompt.turns for text in (turn.user, turn.assistant))
    assert whole.count(sample.answers[0]) == 1


def test_what_stands_far_from_its_depth_is_told() -> None:
    (note,) = plan(mrcr(lengths=[2_048], needles=8, depths=[0.0, 1.0], trials=8)).notes
    assert note == (
        "12 of 16 samples have the piece that is asked for more than 0.1 of the conversation from its depth (the "
        "farthest 0.46), since turns stay whole and the other needles stand around it; take longer contexts, or fewer "
        "needles"
    )
    assert plan(mrcr(lengths=[8_192], trials=1)).notes == ()


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"needles": 8}, "task.lengths: 1,024 is too short: .* 1,786 tokens.*, or lower task.needles"),
        ({"lengths": [64]}, "task.lengths: 64 is too short: .* 730 tokens"),
        ({"lengths": [9_000_000]}, "task.lengths: 9,000,000 is too long: all pieces together fill about 3,425,280"),
        ({"max_tokens": 64}, "task.max_tokens=64: a piece and .* up to 172 tokens; give 172 or more"),
    ],
)
def test_what_has_no_room_is_one_line(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        built(mrcr(**changes), context_budget=ContextBudget(context_window=10_000_000, answer_tokens=48))


PIECE, OTHER, THIRD = (Piece(kind="letter", topic="eels", variant=variant).text() for variant in range(3))
words = st.lists(st.sampled_from(["the", "eels", "of", "Quillon", "\n", "three", "."]), max_size=60).map(" ".join)


@given(words, words)
def test_it_is_difflibs_ratio_with_its_defaults_answer_first(copied: str, piece: str) -> None:
    expected = SequenceMatcher(None, copied, piece).ratio()
    if len(copied) <= 8 * len(piece):
        assert copied_ratio(copied, piece) == expected
    else:
        assert copied_ratio(copied, piece) <= expected <= 0.25


HALF, THIRDS_HALF = PIECE[: len(PIECE) // 2], THIRD[: len(THIRD) // 2]


def ratio(copied: str) -> float:
    return SequenceMatcher(None, copied, PIECE).ratio()


@pytest.mark.parametrize(
    ("answer", "value", "tag"),
    [
        (f"aB3{PIECE}", 1.0, None),
        (f" \naB3{PIECE}", 1.0, None),
        (f"aB3{PIECE} \n\nUser: Write a poem about eels.", ratio(f"{PIECE} "), None),  # a base model goes on
        (f"aB3 {PIECE}", 2 * len(PIECE) / (2 * len(PIECE) + 1), None),
        (f"aB3{HALF}", 2 * len(HALF) / (len(HALF) + len(PIECE)), "partial"),
        (f"aB3{OTHER}", ratio(OTHER), "wrong_needle"),
        (f"aB3{THIRDS_HALF}", ratio(THIRDS_HALF), "wrong_needle"),
        ("aB3It is about eels, and no more.", ratio("It is about eels, and no more."), "missing"),
        ("aB3", 0.0, "missing"),
        (PIECE, 0.0, "no_prefix"),
        (f"Here it is: aB3{PIECE}", 0.0, "no_prefix"),
        (f"ab3{PIECE}", 0.0, "no_prefix"),
        ("", 0.0, "empty"),
        ("I'm sorry, but I can't find it.", 0.0, "refusal"),
    ],
)
def test_an_answer_is_worth_what_it_copies_behind_the_word(answer: str, value: float, tag: str | None) -> None:
    reference = Reference(distractors=(OTHER, THIRD), reply=f"aB3{PIECE}")
    sample = replace(scored_sample(500, 1.0).sample, answers=(PIECE,), reference=reference)
    for reason in ("stop", "length"):
        score = mrcr().score(sample, said(answer, reason), ScoringContext())
        assert score.value == pytest.approx(value)
        assert score.failure == ("incomplete" if reason == "length" and tag in ("partial", "missing") else tag)


def test_an_answer_without_end_is_scored_in_no_time() -> None:
    assert copied_ratio("the eels of Quillon " * 200_000, PIECE) < 0.001


def test_there_are_twelve_kinds_of_sixty_topics() -> None:
    named = {piece_at(index).named for index in range(0, all_pieces(), VARIANTS)}
    assert len(named) == 12 * 60
    assert all_pieces() == 12 * 60 * VARIANTS
