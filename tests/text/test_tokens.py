"""Texts are tokenised once, sliced by offset, and never cut inside a word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextcliff.text.tokenizers import WordTokenizer
from contextcliff.text.tokens import tokenise

WORDS = WordTokenizer()
texts = st.text(alphabet="ab c.\né字", max_size=200)


@given(texts, st.integers(min_value=0, max_value=60))
def test_a_slice_holds_no_more_tokens_than_asked(text: str, tokens: int) -> None:
    tokenised = tokenise(text, WORDS)
    assert tokenised.tokens_between(0, tokenised.end_for(0, tokens)) <= tokens


@given(st.lists(st.sampled_from(["harbour", "tortoise", "of", "incandescently"]), min_size=1), st.integers(0, 80))
def test_a_slice_ends_at_a_word(words: list[str], tokens: int) -> None:
    text = " ".join(words)
    end = tokenise(text, WORDS).end_for(0, tokens)
    assert end in (0, len(text)) or text[end] == " "


def test_an_unbroken_run_longer_than_any_word_is_cut_inside() -> None:
    run = "x" * 300
    assert 0 < tokenise(run, WORDS).end_for(0, 20) < len(run)


def test_a_short_japanese_text_is_cut_between_characters() -> None:
    text = "それは銀河の夜だった。\n" * 3
    tokenised = tokenise(text, WORDS)
    for tokens in range(1, tokenised.tokens):
        end = tokenised.end_for(0, tokens)
        assert tokens - tokenised.tokens_between(0, end) <= 1
