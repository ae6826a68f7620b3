"""Offsets from counts: they tile the text, and stay close to the true ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextcliff.datasets.synthetic import Synthetic
from contextcliff.text.tokenizers import WordTokenizer
from contextcliff.text.tokens import blocks, counted_starts

WORDS = WordTokenizer()


def count(text: str) -> int:
    return len(WORDS.starts(text))


@given(st.text(alphabet="ab \n.", max_size=900))
def test_blocks_tile_the_text(text: str) -> None:
    assert "".join(text[block] for block in blocks(text)) == text
    assert all(0 < block.stop - block.start <= 160 for block in blocks(text))


@given(st.text(alphabet="ab \n.", max_size=900))
def test_offsets_ascend_and_add_up_block_by_block(text: str) -> None:
    starts = list(counted_starts(text, count))
    assert starts == sorted(starts)
    assert len(starts) == sum(count(text[block]) for block in blocks(text))


def test_offsets_of_prose_are_within_a_few_tokens_of_the_true_ones() -> None:
    text = Synthetic().corpus(tokens=2_000, seed=4).documents[0].text
    true, counted = list(WORDS.starts(text)), list(counted_starts(text, count))
    assert abs(len(true) - len(counted)) <= len(true) // 100
    for index in range(0, min(len(true), len(counted)), 97):
        nearest = min(range(len(true)), key=lambda other: abs(true[other] - counted[index]))
        assert abs(nearest - index) <= 8 + index // 100
