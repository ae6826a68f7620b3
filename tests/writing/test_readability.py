"""Readability: the cloze score, its levels, syllables and function words."""

from __future__ import annotations

import pytest

from contextcliff.writing.measures.drift import is_function_word
from contextcliff.writing.measures.readability import (
    cloze_score,
    dale_chall,
    readability,
    reading_level,
    syllables,
    word_lengths,
)
from contextcliff.writing.measures.words import prose_of
from tests.text.test_sentences import MONOLOGUE


def test_the_cloze_score_is_that_of_the_formula() -> None:
    assert cloze_score(0.0, 0.0) == 64.0
    assert cloze_score(0.1, 20.0) == pytest.approx(64 - 9.5 - 13.8)


@pytest.mark.parametrize(
    ("score", "level"),
    [
        (80, "1"), (58, "1"), (57.1, "1"), (57, "2"), (54, "2"), (53, "3"), (50, "3"), (49, "4"), (45, "4"),
        (44, "5-6"), (40, "5-6"), (39, "7-8"), (34, "7-8"), (33, "9-10"), (28, "9-10"), (27, "11-12"), (22, "11-12"),
        (21, "13-15"), (16, "13-15"), (15, "16+"), (10, "16+"), (-20, "16+"),
    ],
)  # fmt: skip
def test_reading_levels_are_those_of_chall_and_dales_table(score: float, level: str) -> None:
    assert reading_level(score) == level


def test_a_text_is_measured_by_hand() -> None:
    """Eight words in two sentences; `Smith` and `magnificent` are not on the list."""
    found = readability(prose_of("Mr. Smith walked to a magnificent house. Stop!"), dale_chall())
    assert found["pct_unfamiliar_words"] == 2 / 8
    assert found["cloze_score"] == pytest.approx(64 - 95 / 4 - 0.69 * 4)
    assert found["avg_syllables_per_word"] == (2 + 1 + 1 + 1 + 1 + 4 + 1 + 1) / 8
    assert found["function_word_ratio"] == 2 / 8


@pytest.mark.parametrize("marks", ["  ", "“”", '""', "()"])
def test_a_monologue_is_as_easy_to_read_as_its_sentences(marks: str) -> None:
    found = readability(prose_of(f"{marks[0]}{MONOLOGUE}{marks[1]}"), dale_chall())
    assert found["cloze_score"] is not None
    assert reading_level(found["cloze_score"]) == "1"


def test_only_english_has_these_measures() -> None:
    assert readability(prose_of("Der Hund läuft.", language="de"), dale_chall()) == {}
    assert readability(prose_of("... !"), dale_chall()) == {}
    assert readability(prose_of("He ran.", language="en-GB"), dale_chall()) != {}


def test_letters_are_counted_without_apostrophes_and_hyphens() -> None:
    found = word_lengths(prose_of("Don't well-known wonder"))
    assert found == {"avg_word_length": (4 + 9 + 6) / 3, "long_word_ratio": 1 / 3}


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("a", 1), ("very", 2), ("walked", 1), ("wanted", 2), ("table", 2), ("beautiful", 3), ("mrs", 2),
        ("don't", 1), ("didn't", 2), ("won't", 1), ("going", 2), ("crying", 2), ("intriguing", 3), ("king", 1),
        ("mother-in-law", 4), ("hmm", 1), ("1868", 1), ("beth's", 1),
    ],
)  # fmt: skip
def test_syllables_are_counted(word: str, count: int) -> None:
    assert syllables(word) == count


@pytest.mark.parametrize("word", "the of she and he'll don't it's isn't not won't upon nothing".split())
def test_closed_classes_are_function_words(word: str) -> None:
    assert is_function_word(word)


@pytest.mark.parametrize("word", "house walked john's beautiful quickly o'clock".split())
def test_open_classes_are_none(word: str) -> None:
    assert not is_function_word(word)
