"""Sentence starts: where a needle may go in."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.datasets.essays import Essays
from contextcliff.text.sentences import goes_on, nearest_start, parts_sentences, sentence_starts
from contextcliff.text.words import combining_marks
from tests.datasets.made_files import SHARED, WHY_SHARED

NOVELS = ("little_women.txt", "haystack_en.txt")


def beginnings(text: str, language: str = "en") -> list[str]:
    return [text[start : start + 4] for start in sentence_starts(text, language=language)]


@pytest.mark.parametrize(
    "text",
    [
        "Was it Mr. Casaubon?—if that learned man.",
        "Was it Mr. Casaubon? —if that learned man.",
        "But, alas, alas! pride goes before a fall.",
        "Oh! ’tis the tide, and nothing else at all.",
        "“Mrs. Kirke welcomed me so kindly that I stayed,",
        "They came—Mr. Tangle among them.",
        "the natural impediment of an indolent Mr. Will Ladislaw came.",
        "He was at home (see No. 5 and the plan) all day.",
        "It is, e.g. This or that.",
        "“The U.S. Army was there,",
        "“Nay!” and he ran.",
        "He said it twice! ; and went.",
        "Was willst du mehr?_ she sang.",
    ],
)
def test_a_sentence_goes_on_before_lower_case_and_dashes_and_after_abbreviations(text: str) -> None:
    assert len(sentence_starts(text)) == 1, beginnings(text)


def test_what_parts_two_sentences() -> None:
    expected = {
        "He left. — He came back.": ["He l"],
        "He left.\n— He came back.": ["He l", "— He"],
        "It was the chandler’s. The card said so.": ["It w", "The "],
        "We are in the sitting-room. It is warm.": ["We a", "It i"],
        "»Komm!« Er ging. »Nein!«": ["»Kom", "Er g", "»Nei"],
        "He went to Main St.\n\nshe stayed.": ["He w", "she "],
    }
    assert {text: beginnings(text) for text in expected} == expected


def test_sentences_within_marks_are_parted_as_any_others() -> None:
    expected = {
        ("en", 'Mr. Pask looked. "Did he?" she said. No!\n\nAnother. The end'): [
            "Mr. ",
            '"Did',
            "No!\n",
            "Anot",
            "The ",
        ],
        ("ja", "今日は晴れ。明日は雨。"): ["今日は晴", "明日は雨"],
        ("en", "“Mr. Pask came. He left.” She sat."): ["“Mr.", "He l", "She "],
        ("en", "(He came. He left.) [Applause.] She sat."): ["(He ", "He l", "[App", "She "],
        ("en", "'Tis cold. The dogs bark. The dogs' bowl is empty."): ["'Tis", "The ", "The "],
        ("en", 'A 5" nail. A 6" nail. It is long.'): ['A 5"', 'A 6"', "It i"],
        ("en", '_Oh!_ _No._ "Why?" "Because." It is.'): ["_Oh!", "_No.", '"Why', '"Bec', "It i"],
        ("en", "She said sadly,--\n\n“No. Not—Mr. Hale. Go.”"): ["She ", "“No.", "Not—", "Go.”"],
        ("en", "It is so.[12] The next.[3][4] It is (p. 3). He left."): ["It i", "The ", "It i", "He l"],
        ("fr", "Il dit : « Oui. Je pars. » Elle resta. « C’est l’été. »"): ["Il d", "Je p", "Elle", "« C’"],
        ("de", "„Am 3. Mai. Das ist z. B. gut.“ »Nein! Nie.« Sie ging."): ["„Am ", "Das ", "»Nei", "Nie.", "Sie "],
        ("es", "«¿Qué? ¡No! Es tarde.» El Sr. Pérez vino."): ["«¿Qu", "¡No!", "Es t", "El S"],
        ("ja", "「今日は。明日は。」と言った。"): ["「今日は", "と言った"],
        ("en", "A\xa0. A\u3000. He left."): ["A\xa0. ", "He l"],
    }
    assert {(language, text): beginnings(text, language) for language, text in expected} == expected


MONOLOGUE = (
    "The dog ran home. It was late. We sat by the fire. The cat slept. Rain fell on the roof. I made some tea. "
    "He read a book. She sang a song. The moon was up. A bird woke. We all went to bed. The wind grew loud. "
    "A door shut. I heard a bell. It rang two times. The dog barked. We ran to look. No one was there. "
    "The yard was dark. We went back in."
)


@pytest.mark.parametrize("marks", ["“”", '""', "''", "‘’", "()", "[]", "«»", "„“"])
def test_marks_around_a_monologue_change_none_of_its_sentences(marks: str) -> None:
    plain = sentence_starts(MONOLOGUE)
    assert len(plain) == 20
    assert sentence_starts(f"{marks[0]}{MONOLOGUE}{marks[1]}") == (0, *(start + 1 for start in plain[1:]))


def test_a_place_to_stop_at_is_no_place_before_a_dash_or_lower_case_even_between_paragraphs() -> None:
    for text in ("“We shall see.\n—Mr. Pask", "She said.\n\nand went", "This is Mr.\n\nTangle", "He left.\n\n—No."):
        assert not parts_sentences(text, text.index("\n"))
    assert parts_sentences("He left.\n\nShe stayed.", 8)


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / NOVELS[0]).is_file(), reason=WHY_SHARED)
@pytest.mark.parametrize("novel", NOVELS)
def test_no_sentence_of_a_novel_begins_with_a_dash_or_in_lower_case_or_after_a_title(novel: str) -> None:
    (document,) = Essays(path=str(SHARED / novel)).corpus(tokens=1, seed=0).documents
    text = document.text
    starts = sentence_starts(text)
    apart = [at for at in starts[1:] if "\n\n" not in text[at - 3 : at + 1]]
    assert len(apart) > 600
    for at in apart:
        assert not text[at:].lstrip()[:1].islower(), text[at - 30 : at + 30]
        assert not text.startswith(("—", "--"), at), text[at - 30 : at + 30]
        assert not text[:at].rstrip()[-5:].endswith((" Mr.", '"Mr.', "Mrs.", " Dr.", "St.")), text[at - 30 : at + 30]


@given(st.text(alphabet='aA .!?—\n"”—1', max_size=80), st.integers(0, 80))
def test_any_place_can_be_asked_about(text: str, place: int) -> None:
    assert goes_on(text, min(place, len(text))) in (True, False)


@given(
    st.text(alphabet="abA .!?\n\"'“”‘’«»()[]—-_1\u3000日。", max_size=120), st.sampled_from(["en", "fr", "de", "ja"])
)
def test_starts_ascend_from_zero(text: str, language: str) -> None:
    starts = sentence_starts(text, language=language)
    assert starts[0] == 0
    assert list(starts) == sorted(set(starts))
    assert starts[-1] < max(1, len(text))


@given(st.sets(st.integers(0, 500), min_size=1), st.integers(0, 600), st.integers(1, 600))
def test_the_nearest_start_is_the_nearest_of_those_before_the_end(
    unordered: set[int], target: int, before: int
) -> None:
    starts = sorted(unordered)
    allowed = [start for start in starts if start < before]
    if not allowed:
        with pytest.raises(ValueError, match="no sentence starts before"):
            nearest_start(starts, target, before=before)
        return
    expected = min(allowed, key=lambda start: (abs(start - target), start))
    assert nearest_start(starts, target, before=before) == expected


def test_they_are_every_mark_up_to_four_hexadecimal_digits() -> None:
    marks = combining_marks()
    assert all(unicodedata.category(mark) in ("Mn", "Mc", "Me") for mark in marks)
    assert {"\u0301", "\u093e", "\u20dd"} <= set(marks)
    assert not re.search(r"\w", "\u0301")
