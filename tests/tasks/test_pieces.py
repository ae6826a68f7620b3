"""The pieces of writing that conversations are made of."""

from __future__ import annotations

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st

from contextcliff.tasks.conversations.pieces import VARIANTS, Piece, all_pieces, piece_at
from contextcliff.text.tokenizers import WordTokenizer

indices = st.integers(0, all_pieces() - 1)


@given(indices)
def test_a_piece_is_long_enough_that_it_has_to_be_copied_and_names_its_topic(index: int) -> None:
    piece = piece_at(index)
    text = piece.text()
    assert 50 <= len(WordTokenizer().starts(text)) <= 160
    assert piece.topic in text.casefold()
    assert piece.named == f"{piece.kind} about {piece.topic}"
    assert "{" not in text
    assert " a a" not in text.replace(" a and", "")  # an apple, and no a apple


@given(indices, indices)
def test_no_piece_is_another_or_nearly_so(one: int, other: int) -> None:
    first = piece_at(one)
    for second in (piece_at(other), Piece(kind=first.kind, topic=first.topic, variant=other % VARIANTS)):
        if second != first:
            assert SequenceMatcher(None, first.text(), second.text()).ratio() < 0.7


def test_there_are_twelve_kinds_of_sixty_topics() -> None:
    named = {piece_at(index).named for index in range(0, all_pieces(), VARIANTS)}
    assert len(named) == 12 * 60
    assert all_pieces() == 12 * 60 * VARIANTS
