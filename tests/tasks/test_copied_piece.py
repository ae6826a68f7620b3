"""What a repeated piece is worth: worked examples, and the grader that OpenAI published with its data."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.tasks.conversations.mrcr import copied_ratio, score_copied
from contextcliff.tasks.conversations.pieces import Piece

PIECE, OTHER, THIRD = (Piece(kind="letter", topic="eels", variant=variant).text() for variant in range(3))
words = st.lists(st.sampled_from(["the", "eels", "of", "Quillon", "\n", "three", "."]), max_size=60).map(" ".join)


def scored(answer: str, *, cut_off: bool = False) -> tuple[float, str | None]:
    score = score_copied(answer, prefix="aB3", piece=PIECE, others=(OTHER, THIRD), cut_off=cut_off)
    return score.value, score.failure


@pytest.mark.parametrize(
    ("copied", "piece", "ratio"),
    [
        ("abcd", "abcd", 1.0),
        ("ab", "abcd", 2 * 2 / 6),
        ("abXcd", "abcd", 2 * 4 / 9),
        ("bcd", "abcd", 2 * 3 / 7),
        ("xyz", "abcd", 0.0),
        ("", "abcd", 0.0),
        ("abcd" + "x" * 96, "abcd", 2 * 4 / 104),  # beyond eight times the piece
    ],
)
def test_the_ratio_is_twice_what_matches_over_both_lengths(copied: str, piece: str, ratio: float) -> None:
    assert copied_ratio(copied, piece) == pytest.approx(ratio)


@given(words, words)
def test_it_is_difflibs_ratio_with_its_defaults_answer_first(copied: str, piece: str) -> None:
    expected = SequenceMatcher(None, copied, piece).ratio()
    if len(copied) <= 8 * len(piece):
        assert copied_ratio(copied, piece) == expected
    else:
        assert copied_ratio(copied, piece) <= expected <= 0.25


@pytest.mark.parametrize(
    ("answer", "value", "failure"),
    [
        (f"aB3{PIECE}", 1.0, None),
        (f" \naB3{PIECE}", 1.0, None),
        (f"aB3{PIECE}\n\nUser: Write a poem about eels.", 1.0, None),  # a base model goes on with the conversation
        (PIECE, 0.0, "no_prefix"),
        (f"Here it is: aB3{PIECE}", 0.0, "no_prefix"),
        (f"ab3{PIECE}", 0.0, "no_prefix"),
        ("", 0.0, "empty"),
        ("I'm sorry, but I can't find it.", 0.0, "refusal"),
        ("aB3", 0.0, "missing"),
    ],
)
def test_without_the_word_at_its_beginning_an_answer_is_worth_nothing(
    answer: str, value: float, failure: str | None
) -> None:
    assert scored(answer) == (value, failure)


def test_a_blank_between_the_word_and_the_piece_costs_next_to_nothing() -> None:
    value, failure = scored(f"aB3 {PIECE}")
    assert value == pytest.approx(2 * len(PIECE) / (2 * len(PIECE) + 1))
    assert failure is None


def test_another_piece_of_those_asked_for_is_a_wrong_needle() -> None:
    value, failure = scored(f"aB3{OTHER}")
    assert value == SequenceMatcher(None, OTHER, PIECE).ratio() < 0.5
    assert failure == "wrong_needle"
    assert scored(f"aB3{THIRD[: len(THIRD) // 2]}")[1] == "wrong_needle"


def test_a_part_of_the_piece_is_worth_its_share() -> None:
    half = PIECE[: len(PIECE) // 2]
    value, failure = scored(f"aB3{half}")
    assert value == pytest.approx(2 * len(half) / (len(half) + len(PIECE)))
    assert failure == "partial"
    assert scored(f"aB3{half}", cut_off=True) == (value, "incomplete")
    assert scored("aB3It is about eels, and nothing else.")[1] == "missing"


def test_an_answer_without_end_is_scored_in_no_time() -> None:
    value, failure = scored("aB3" + "the eels of Quillon " * 200_000)
    assert value < 0.001
    assert failure == "missing"
