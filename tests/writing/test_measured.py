"""All measures of one text together."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.writing.measures.measure import BY_NAME
from contextcliff.writing.measures.measured import measure_prose
from contextcliff.writing.measures.readability import dale_chall

WITHOUT_EMBEDDINGS = {name for name, measure in BY_NAME.items() if not measure.embeds} - {"shortfall"}


def measured(text: str, language: str = "en", **given: str) -> dict[str, float]:
    return measure_prose(text, language=language, word_list=dale_chall(), **given)


def test_a_page_has_every_measure(story: str) -> None:
    found = measured(story[5000:9500], prompt=story[:5000], reference=story[9500:14000])
    assert set(found) == WITHOUT_EMBEDDINGS
    assert list(found) == [name for name in BY_NAME if name in found]


def test_an_empty_text_has_a_length_and_nothing_else() -> None:
    assert measured(" \n\n", prompt="a", reference="b") == {"continuation_length": 0.0}


@pytest.mark.parametrize(
    ("text", "size"), [("... !!! ...", (11, 0, 0)), ("!" * 300, (300, 0, 0)), ("Mr. Smith walked. He ran!", (25, 5, 2))]
)
def test_under_twenty_words_a_text_has_its_size_and_no_other_measure(text: str, size: tuple[int, int, int]) -> None:
    assert measured(text, prompt="a b", reference="c") == dict(
        zip(("continuation_length", "word_count", "sentence_count"), map(float, size), strict=True)
    )


def test_a_short_text_has_what_it_is_long_enough_for() -> None:
    found = measured(
        "Mr. Smith walked slowly down to the harbour in the rain. He met the clerk there, and they ran home!"
    )
    assert (found["word_count"], found["sentence_count"]) == (20.0, 2.0)
    assert found["avg_sentence_length"] == 10.0
    assert found["bigram_repetition_rate"] == 0.0
    missing = {"mtld", "unique_word_ratio_100", "long_range_repetition", "language_drift", "sentence_length_skewness"}
    assert missing.isdisjoint(found)


def test_copying_and_likeness_need_something_to_compare_with(story: str) -> None:
    found = measured(story[:3000], prompt="")
    assert {"copied_share", "longest_copy_words", "reference_rouge_l"}.isdisjoint(found)


def test_japanese_has_no_measure_of_words() -> None:
    text = "今日は晴れ、明日は雨。彼は「行こう！」と言った。" * 20
    found = measured(text, "ja", prompt=text, reference=text)
    assert set(found) == {
        "char_entropy",
        "compression_ratio",
        "comma_density",
        "semicolon_density",
        "question_density",
        "exclamation_density",
        "language_drift",
        "continuation_length",
        "sentence_count",
    }


def test_german_has_no_measure_of_english() -> None:
    found = measured("Der Regen hatte aufgehört, ehe sie den Hafen erreichten. Er schwieg.", "de")
    assert {"cloze_score", "pct_unfamiliar_words", "avg_syllables_per_word", "function_word_ratio"}.isdisjoint(found)
    assert found["word_count"] == 11.0


@given(st.text(max_size=300), st.text(max_size=100), st.sampled_from(["en", "de", "ja", "ar", "xx"]))
def test_every_measure_of_any_text_is_finite(text: str, other: str, language: str) -> None:
    found = measured(text, language, prompt=other, reference=other)
    assert set(found) <= WITHOUT_EMBEDDINGS
    assert all(math.isfinite(value) for value in found.values())


def test_the_order_of_sentences_is_nothing_to_words_but_all_to_their_neighbours() -> None:
    sentences = [
        "The tide came in early.",
        "He read the ledger twice.",
        "Nobody in the room spoke, and the lamp went out!",
    ]
    there, back = measured(" ".join(sentences)), measured(" ".join(reversed(sentences)))
    same = {
        "vocabulary_diversity",
        "word_entropy",
        "char_entropy",
        "avg_sentence_length",
        "sentence_length_variance",
        "cloze_score",
        "comma_density",
    }
    assert {name: there[name] for name in same} == pytest.approx({name: back[name] for name in same})


def test_a_page_twice_over_is_more_repetitive(story: str) -> None:
    page = story[5000:8000]
    once, twice = measured(page), measured(f"{page}\n\n{page}")
    for name in ("bigram_repetition_rate", "trigram_repetition_rate", "long_range_repetition", "compression_ratio"):
        assert twice[name] > once[name], name
    assert twice["vocabulary_diversity"] < once["vocabulary_diversity"]
