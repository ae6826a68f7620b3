"""Diversity: type-token ratios, entropies, MTLD."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.writing.measures.words import entropy, mtld, unique_word_ratio, vocabulary_diversity

WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=60)


def test_types_are_divided_by_tokens() -> None:
    assert vocabulary_diversity(["he", "ran", "and", "he"]) == 0.75
    assert vocabulary_diversity([]) is None


@given(WORDS, st.randoms(use_true_random=False))
def test_the_order_of_words_is_nothing_to_diversity(words: list[str], random: Random) -> None:
    shuffled = random.sample(words, len(words))
    assert vocabulary_diversity(shuffled) == vocabulary_diversity(words)
    assert entropy(shuffled) == pytest.approx(entropy(words)) if words else entropy(shuffled) is None


@given(WORDS, st.integers(1, 20))
def test_the_window_slides_over_every_word(words: list[str], window: int) -> None:
    if len(words) < window:
        assert unique_word_ratio(words, window=window) is None
        return
    ratios = [len(set(words[start : start + window])) / window for start in range(len(words) - window + 1)]
    assert unique_word_ratio(words, window=window) == pytest.approx(sum(ratios) / len(ratios))


def test_a_hundred_words_are_needed() -> None:
    assert unique_word_ratio(["so"] * 99) is None
    assert unique_word_ratio(["so"] * 100) == 0.01


def test_entropy_is_in_bits() -> None:
    assert entropy("aabb") == 1.0
    assert entropy("abcdefgh") == 3.0
    assert entropy("aab") == pytest.approx(math.log2(3) - 2 / 3)
    assert math.copysign(1.0, entropy("aaa") or 0.0) == 1.0
    assert entropy("") is None


def test_mtld_counts_the_words_a_factor_takes() -> None:
    """`a b a b a …`: 1, 1, 2/3 < 0.72: a factor is full at every third word, read either way."""
    assert mtld(["a", "b"] * 30) == pytest.approx(60 / 20)


def test_mtld_takes_a_share_of_the_last_factor() -> None:
    """50 words: 49 different, then one again. Ratio 49/50, of which 0.02 / 0.28 of a factor is spent."""
    words = [f"w{number}" for number in range(49)] + ["w0"]
    assert mtld(words) == pytest.approx(50 / (0.02 / 0.28))


def test_mtld_needs_fifty_words_and_one_that_repeats() -> None:
    assert mtld(["a", "b"] * 24) is None
    assert mtld([f"w{number}" for number in range(80)]) is None


def test_mtld_of_a_text_is_that_of_the_text_backwards(story: str) -> None:
    words = story.lower().split()[:2000]
    assert mtld(words) == mtld(words[::-1])
    assert 40 < (mtld(words) or 0.0) < 200
