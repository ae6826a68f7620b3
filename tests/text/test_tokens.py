"""Texts are tokenised once and sliced by offset, and what sentences add to them is counted where they go in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.datasets.synthetic import Synthetic
from contextcliff.records.sample import Prompt
from contextcliff.text.sentences import sentence_starts
from contextcliff.text.tokenizers import WordTokenizer
from contextcliff.text.tokens import Seams, blocks, counted_starts, seams_of, tokenise

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


def test_an_unbroken_run_longer_than_any_word_is_cut_inside_and_japanese_between_characters() -> None:
    assert 0 < tokenise("x" * 300, WORDS).end_for(0, 20) < 300
    text = "それは銀河の夜だった。\n" * 3
    tokenised = tokenise(text, WORDS)
    for tokens in range(1, tokenised.tokens):
        end = tokenised.end_for(0, tokens)
        assert tokens - tokenised.tokens_between(0, end) <= 1


def count(text: str) -> int:
    return len(WORDS.starts(text))


@given(st.text(alphabet="ab \n.", max_size=900))
def test_blocks_tile_the_text_and_offsets_ascend_and_add_up_block_by_block(text: str) -> None:
    assert "".join(text[block] for block in blocks(text)) == text
    assert all(0 < block.stop - block.start <= 160 for block in blocks(text))
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


PROSE = (
    "The tide came in over the flats.  Nobody saw it.\n\n“It is late,” said Viola. She went on, past the mill, to the "
    "quay.\nThere was a light. 'Whose is it?' asked Jasper; nobody knew.\n\n\nIn the morning it was gone. 12 boats lay "
    "there. They were red. " * 4
)
STARTS = sentence_starts(PROSE, language="en")

places = st.sampled_from([place for place in STARTS if place])
needles = st.builds("The number of {} is {}. ".format, st.sampled_from(["Oslo", "Ulm"]), st.integers(0, 10**7))


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


def made_seams(tokenizer: Asked | WordTokenizer = WORDS) -> Seams:
    return seams_of(PROSE, STARTS, tokenizer)


@given(needles, places)
def test_what_a_sentence_adds_is_known_before_its_place(sentence: str, place: int) -> None:
    [most], _ = made_seams().count(between=[sentence], behind=[])
    added = count(PROSE[:place] + sentence + PROSE[place:]) - count(PROSE)
    assert added <= most <= added + 2


@given(st.dictionaries(places, needles, max_size=8))
def test_what_sentences_add_in_their_places_is_exact(hidden: dict[int, str]) -> None:
    text = PROSE
    for place in sorted(hidden, reverse=True):
        text = text[:place] + hidden[place] + text[place:]
    assert count(PROSE) + made_seams().added(hidden) == count(text)


def test_the_frame_is_counted_without_the_text() -> None:
    before, after = "Read the text below.\n\n", "\n\nWhat is the number? Answer with it alone."
    _, [behind] = made_seams().count(between=[], behind=[after])
    whole = WORDS.count_prompt(Prompt(user=f"{before}{PROSE}{after}"))
    assert abs(made_seams().before(before) + behind + count(PROSE) - whole) <= 2


def test_all_that_a_sample_needs_is_one_question_and_nothing_is_asked_twice() -> None:
    asked = Asked()
    made = made_seams(asked)
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
