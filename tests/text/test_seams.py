"""What a sentence adds to a text is counted once, before it is known where it goes in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.records.sample import Prompt
from contextcliff.text.sentences import sentence_starts
from contextcliff.text.tokenizers import WordTokenizer
from contextcliff.text.tokens import Seams, seams_of

PROSE = (
    "The tide came in over the flats.  Nobody saw it.\n\n“It is late,” said Viola. She went on, past the mill, to the "
    "quay.\nThere was a light. 'Whose is it?' asked Jasper; nobody knew.\n\n\nIn the morning it was gone. 12 boats lay "
    "there. They were red. " * 4
)
STARTS = sentence_starts(PROSE, language="en")
WORDS = WordTokenizer()

places = st.sampled_from([place for place in STARTS if place])
sentences = st.builds("The number of {} is {}. ".format, st.sampled_from(["Oslo", "Ulm"]), st.integers(0, 10**7))


@dataclass
class Asked:
    """The pieces of words, as a tokenizer that counts several texts at once."""

    name: str = "asked"
    questions: list[int] = field(default_factory=list)

    def starts(self, text: str) -> Sequence[int]:
        self.questions.append(1)
        return WORDS.starts(text)

    def counts(self, texts: Sequence[str]) -> Sequence[int]:
        self.questions.append(len(texts))
        return [len(WORDS.starts(text)) for text in texts]

    def count_prompt(self, prompt: Prompt) -> int:
        self.questions.append(1)
        return WORDS.count_prompt(prompt)


def seams(tokenizer: Asked | WordTokenizer = WORDS) -> Seams:
    return seams_of(PROSE, STARTS, tokenizer)


def tokens(text: str) -> int:
    return len(WORDS.starts(text))


@given(sentences, places)
def test_what_a_sentence_adds_is_known_before_its_place(sentence: str, place: int) -> None:
    [most], _ = seams().count(between=[sentence], behind=[])
    added = tokens(PROSE[:place] + sentence + PROSE[place:]) - tokens(PROSE)
    assert added <= most <= added + 2


@given(st.dictionaries(places, sentences, max_size=8))
def test_what_sentences_add_in_their_places_is_exact(hidden: dict[int, str]) -> None:
    text = PROSE
    for place in sorted(hidden, reverse=True):
        text = text[:place] + hidden[place] + text[place:]
    assert tokens(PROSE) + seams().added(hidden) == tokens(text)


def test_the_frame_is_counted_without_the_text() -> None:
    before, after = "Read the text below.\n\n", "\n\nWhat is the number? Answer with it alone."
    _, [behind] = seams().count(between=[], behind=[after])
    whole = WORDS.count_prompt(Prompt(user=f"{before}{PROSE}{after}"))
    assert abs(seams().before(before) + behind + tokens(PROSE) - whole) <= 2


def test_all_that_a_sample_needs_is_one_question_and_nothing_is_asked_twice() -> None:
    asked = Asked()
    made = seams(asked)
    assert len(asked.questions) == 1
    made.before("Read.\n\n")
    asked.questions.clear()
    first = made.count(between=["One. ", "Two. "], behind=["\n\nHow many?"])
    assert asked.questions == [5]  # three texts, and the two that stand around them
    assert made.count(between=["One. ", "Two. "], behind=["\n\nHow many?"]) == first
    made.count(between=["Three. "], behind=["\n\nHow many?"])
    made.before("Read.\n\n")
    assert asked.questions == [5, 1]
    made.added({STARTS[1]: "Four. ", STARTS[2]: "Five. "})
    assert asked.questions == [5, 1, 4]


@pytest.mark.parametrize("text", ["", "One sentence without another", "これは一つの文です"])
def test_a_text_of_one_sentence_has_a_seam(text: str) -> None:
    [added], [behind] = seams_of(text, (0,), WORDS).count(between=["It is so. "], behind=["\n\nIs it?"])
    assert added > 0
    assert behind > 0
