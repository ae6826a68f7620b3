"""Texts that are made to hide needles in: noise, and needles alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.datasets.synthetic import NeedleText, Noise
from contextcliff.text.sentences import sentence_starts
from contextcliff.text.tokenizers import WordTokenizer
from tests.compositions import built, refusal

NOISE = Noise(text="The hill is steep. The lake is calm.")
NUMBERS = NeedleText(template="The secret number of {city} is {number}", key="word", value="number")
UUIDS = NeedleText(template="{city} is the key of {number}.", key="uuid", value="uuid")


@given(st.integers(1, 3_000), st.sampled_from([NOISE, NUMBERS, UUIDS]))
def test_a_made_text_is_as_long_as_asked_and_a_longer_one_begins_the_same(
    tokens: int, dataset: Noise | NeedleText
) -> None:
    (short,) = dataset.corpus(tokens=tokens, seed=3).documents
    (long,) = dataset.corpus(tokens=tokens + 500, seed=3).documents
    assert short.endless
    assert len(WordTokenizer().starts(short.text)) >= tokens
    assert long.text.startswith(short.text)


def test_every_sentence_is_a_needle_with_a_key_and_a_value_of_its_own() -> None:
    text = NUMBERS.corpus(tokens=2_000, seed=0).documents[0].text
    found = re.findall(r"The secret number of ([a-z]+) is (\d{7})\.(?: |$)", text)
    assert len(found) == len(sentence_starts(text)) == len({key for key, _ in found}) == len({v for _, v in found})
    assert " ".join(f"The secret number of {key} is {value}." for key, value in found) == text


def test_another_seed_variant_or_document_is_another_text_and_noise_is_always_the_same() -> None:
    one, other = (document.text for document in UUIDS.corpus(tokens=50, seed=0, count=2).documents)
    varied = NeedleText(template=UUIDS.template, key="uuid", value="uuid", variant=1).corpus(tokens=50, seed=0)
    assert len({one, other, varied.documents[0].text, UUIDS.corpus(tokens=50, seed=1).documents[0].text}) == 4
    assert (
        len({document.text for seed in (0, 1) for document in NOISE.corpus(tokens=50, seed=seed, count=2).documents})
        == 1
    )


def test_a_text_of_needles_is_worded_as_the_task_words_its_own() -> None:
    dataset = built("task=ruler_niah_multikey_2", "task.template='{city}: {number}'", "task.value=word").dataset
    assert dataset == NeedleText(template="{city}: {number}", key="word", value="word")


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        (("dataset=noise", "dataset.text=' '"), "dataset.text=' ': must be one line of sentences; give such a one"),
        (
            ("dataset=needles", "task=aggregation"),
            "dataset.template='The watchword of this hour is {word}.': {city} and {number} must stand in it",
        ),
        (("task=ruler_niah_multikey_2", "task.key=city"), "dataset.key=city: must be 'word' or 'uuid'"),
    ],
)
def test_a_made_text_that_can_not_be_made_is_refused(overrides: tuple[str, ...], line: str) -> None:
    assert refusal(*overrides) == line
