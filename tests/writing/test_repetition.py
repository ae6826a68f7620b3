"""Repetition: n-grams, phrases that come back, compression."""

from __future__ import annotations

import random
import zlib

from hypothesis import given
from hypothesis import strategies as st

from contextcliff.writing.measures.words import compression_ratio, long_range_repetition, repetition_rate

WORDS = st.lists(st.sampled_from("abcdef"), min_size=4, max_size=40)


def test_every_ngram_after_its_first_is_a_repetition() -> None:
    words = "he ran and he ran and he fell".split()
    # Bigrams: he-ran, ran-and and and-he come twice, he-fell once: 7, of which 4 different.
    assert repetition_rate(words, 2) == 3 / 7
    # Trigrams: he-ran-and, ran-and-he twice, and-he-ran, and-he-fell: 6, of which 4 different.
    assert repetition_rate(words, 3) == 2 / 6


def test_three_words_are_needed() -> None:
    assert repetition_rate(["so", "so"], 2) is None
    assert repetition_rate(["so", "so", "so"], 2) == 0.5
    assert repetition_rate(["so", "so", "so"], 3) == 0.0


@given(WORDS, st.sampled_from([2, 3]))
def test_a_text_twice_over_repeats_more(words: list[str], n: int) -> None:
    once, twice = repetition_rate(words, n), repetition_rate(words * 2, n)
    assert once is not None
    assert twice is not None
    assert twice > once


def _fresh(count: int, *, start: int = 0) -> list[str]:
    return [f"w{number}" for number in range(start, start + count)]


def test_a_phrase_that_comes_back_after_a_hundred_words_is_far() -> None:
    """160 words have 157 4-grams, 57 of them from word 100 on; the phrase of 5 words brings 2 of them back."""
    words = _fresh(150)
    words += words[20:25] + _fresh(5, start=900)
    assert long_range_repetition(words) == 2 / 57


def test_a_phrase_that_comes_back_at_once_is_not_far() -> None:
    words = _fresh(150)
    words += words[-10:]
    assert long_range_repetition(words) == 0.0


def test_a_loop_is_far_once_it_is_a_hundred_words_on() -> None:
    # A loop of 40 words comes round 100 words later at its fourth turn, word 120 of the 197 4-grams.
    assert long_range_repetition(_fresh(40) * 5) == 77 / 97
    assert long_range_repetition(_fresh(100) * 2) == 1.0


def test_long_range_needs_a_hundred_and_fifty_words() -> None:
    assert long_range_repetition(["so"] * 149) is None
    assert long_range_repetition(["so"] * 150) == 1.0


def test_compression_is_bytes_over_zlibs() -> None:
    assert compression_ratio("naïve " * 50) == 350 / len(zlib.compress(("naïve " * 50).encode(), 9))
    assert compression_ratio("") is None


@given(st.integers(0, 1000))
def test_a_text_twice_over_compresses_better(seed: int) -> None:
    letters = "".join(random.Random(seed).choices("abcdefghij ", k=400))
    once, twice = compression_ratio(letters), compression_ratio(letters * 2)
    assert once is not None
    assert twice is not None
    assert twice > 1.5 * once
