"""Words and sentences: what counts as one."""

from __future__ import annotations

import pytest
import textstat
from hypothesis import example, given
from hypothesis import strategies as st

from contextcliff.writing.measures.measured import measure_prose
from contextcliff.writing.measures.readability import dale_chall
from contextcliff.writing.measures.words import prose_of, words_of


def test_an_abbreviation_ends_no_sentence_and_signs_are_no_part_of_a_word() -> None:
    prose = prose_of("Mr. Smith walked. He ran!")
    assert prose.sentences == ("Mr. Smith walked.", "He ran!")
    assert prose.words == ("mr", "smith", "walked", "he", "ran")
    assert prose.words_per_sentence == (3, 2)


def test_closing_quotation_marks_stay_with_their_sentence() -> None:
    assert prose_of("“Stop!” “I won’t.” The door shut.").sentences == ("“Stop!”", "“I won’t.”", "The door shut.")


def test_what_is_said_goes_on_after_its_quotation_marks() -> None:
    assert prose_of("“Stop!” she cried. He did.").sentences == ("“Stop!” she cried.", "He did.")


def test_a_paragraphs_end_is_a_sentences_end() -> None:
    assert prose_of("CHAPTER I\n\nIt was late").sentences == ("CHAPTER I", "It was late")


def test_a_stretch_without_letters_is_no_sentence_and_has_no_words() -> None:
    prose = prose_of("He left.\n\n* * *\n\n1868.\n\nShe stayed.")
    assert prose.sentences == ("He left.", "She stayed.")
    assert prose.words == ("he", "left", "she", "stayed")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don’t", ["don't"]),
        ("a well-known, far\u2010off place", ["a", "well-known", "far-off", "place"]),
        ("long--and so—on", ["long", "and", "so", "on"]),
        ("'go!' (go) _go_", ["go", "go", "go"]),
        ("1,868 miles at 3.5", ["1,868", "miles", "at", "3.5"]),
        ("cafe\u0301 naïve ÉTÉ", ["café", "naïve", "été"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("exam\u00adple", ["example"]),
        ("… — !", []),
    ],
)
def test_a_word_is_letters_with_apostrophes_and_hyphens_inside(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_a_language_without_spaces_has_sentences_and_no_words() -> None:
    prose = prose_of("今日は晴れ。明日は雨。", language="ja-JP")
    assert prose.sentences == ("今日は晴れ。", "明日は雨。")
    assert (prose.words, prose.words_per_sentence) == ((), ())


def test_half_a_surrogate_pair_is_no_failure() -> None:
    assert prose_of("She smiled. \ud83d").words == ("she", "smiled")


@given(st.text(max_size=200))
@example("\u02bc")  # an apostrophe that is a letter to Unicode
def test_every_word_belongs_to_a_sentence_and_every_sentence_to_the_text(text: str) -> None:
    prose = prose_of(text)
    assert sum(prose.words_per_sentence) == len(prose.words)
    assert len(prose.words_per_sentence) == len(prose.sentences)
    assert all(sentence in prose.text for sentence in prose.sentences)
    assert all(count > 0 for count in prose.words_per_sentence)


def test_words_are_counted_as_textstat_counts_them(story: str) -> None:
    """Apart from dashes, which it takes for parts of words."""
    plain = story.replace("--", " ").replace("—", " ").replace("–", " ")
    assert len(prose_of(plain).words) == pytest.approx(textstat.lexicon_count(plain), rel=0.002)


def test_letters_long_words_and_sentences_are_as_textstat_has_them(story: str) -> None:
    """It splits sentences at every full stop and question mark, `Mr.` and quotations included: so more of them."""
    plain = story[3_000:13_000].replace("--", " ").replace("—", " ").replace("–", " ")
    ours = measure_prose(plain, language="en", word_list=dale_chall())
    words = textstat.lexicon_count(plain)
    assert ours["avg_word_length"] == pytest.approx(textstat.avg_letter_per_word(plain))
    assert ours["long_word_ratio"] == pytest.approx(textstat.long_word_count(plain) / words)
    assert ours["avg_sentence_length"] == pytest.approx(textstat.words_per_sentence(plain), rel=0.1)
