"""Familiar words: the list, its inflections, and a list of one's own."""

from __future__ import annotations

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.errors import ConfigError
from contextcliff.writing.measures.readability import dale_chall, is_familiar, unfamiliar_share, word_list_of
from contextcliff.writing.measures.words import words_of


def test_the_default_list_is_dale_and_challs() -> None:
    words = dale_chall()
    assert (words.name, len(words.words)) == ("dale-chall", 2941)
    assert {"able", "mr", "you've", "good-by"} <= words.words


@pytest.mark.parametrize(
    "word",
    """
    walk walked walking boys happier happiest carries went children wolves mother's boys don't mustn't o'clock
    sadly gently happily 1868 1,000 old-fashioned tea-table mr
    """.split(),
)
def test_every_form_of_a_listed_word_is_familiar(word: str) -> None:
    assert is_familiar(word, dale_chall().words)


@pytest.mark.parametrize("word", "beth beth's magnificent palatial tea-urn ephemerally".split())
def test_names_and_rare_words_are_not_familiar(word: str) -> None:
    assert not is_familiar(word, dale_chall().words)


def test_the_share_counts_every_word() -> None:
    assert unfamiliar_share(["the", "magnificent", "house", "magnificent"], dale_chall()) == 0.5
    assert unfamiliar_share([], dale_chall()) is None


def test_a_list_of_ones_own_has_one_word_a_line() -> None:
    words = word_list_of("# mine\nTide\n\nclerk’s  # of the harbour\n good-bye\n", "mine")
    assert words.words == {"tide", "clerk's", "good-bye"}
    assert is_familiar("tides", words.words)
    assert not is_familiar("house", words.words)


def test_lists_are_told_apart_by_their_words_and_not_by_their_order() -> None:
    assert word_list_of("a\nb", "x").digest == word_list_of("b\na\na", "x").digest
    assert word_list_of("a\nb", "x").digest != word_list_of("a\nc", "x").digest


def test_a_list_without_words_is_refused() -> None:
    with pytest.raises(ConfigError, match="word list mine: no word in it"):
        word_list_of("# nothing\n\n", "mine")


def test_the_default_list_has_the_words_of_textstats_and_its_licence() -> None:
    published = files("textstat").joinpath("resources", "en", "easy_words.txt")
    assert dale_chall().words == word_list_of(published.read_text(encoding="utf-8"), "textstat").words
    licence = files("contextcliff.writing").joinpath("word_lists", "dale_chall_license.txt").read_text("utf-8")
    assert licence.startswith("MIT License")


@given(
    st.lists(st.sampled_from(["did", "n't", "'s", "'", "-", "ly", "ily", "s", "'ll", "x", "7"]), min_size=1, max_size=6)
)
def test_no_fragment_of_a_word_breaks_the_lookup(pieces: list[str]) -> None:
    for joint in ("", " ", "-"):
        for word in words_of(joint.join(pieces)):
            assert is_familiar(word, dale_chall().words) in (True, False)
