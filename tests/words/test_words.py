"""What is said of each fact, in every language."""

from __future__ import annotations

import re

import pytest

from contextcliff.records.fact import Fact, Said
from contextcliff.reporting.words import english, japanese
from contextcliff.writing.words import english_writing
from tests.words.made_extrapolation_facts import EXTRAPOLATION_SENTENCES
from tests.words.made_facts import SENTENCES as FACTS
from tests.words.made_kv_facts import KV_SENTENCES
from tests.words.made_report_facts import REPORT_SENTENCES
from tests.words.made_warnings import WARNING_SENTENCES

SENTENCES = (*FACTS, *REPORT_SENTENCES, *WARNING_SENTENCES, *KV_SENTENCES, *EXTRAPOLATION_SENTENCES)

WRITING = "contextcliff.writing"


def kinds(kind: type[Fact] = Fact) -> set[type[Fact]]:
    """Every kind of fact that stands by itself; parts of another sentence are said with it."""
    return {one for sub in kind.__subclasses__() for one in {sub, *kinds(sub)}}


@pytest.mark.parametrize(("fact", "sentence"), SENTENCES, ids=lambda value: type(value).__name__)
def test_the_english_sentence_of_a_fact(fact: Fact, sentence: str) -> None:
    assert english.say(fact) == sentence


def test_every_kind_of_fact_that_english_says_is_in_the_table_but_for_those_on_prose() -> None:
    said = {kind for kind in english.say.registry if kind is not object and not kind.__module__.startswith(WRITING)}
    assert said == {type(fact) for fact, _ in SENTENCES}


def test_japanese_says_every_kind_of_fact_that_english_says() -> None:
    said = {kind for kind in english.say.registry if not kind.__module__.startswith(WRITING)}
    assert said == set(japanese.say.registry)


@pytest.mark.parametrize("fact", [fact for fact, _ in SENTENCES if not isinstance(fact, Said)], ids=repr)
def test_a_japanese_sentence_has_no_english_in_it(fact: Fact) -> None:
    sentence = japanese.say(fact)
    assert re.search(r"[ぁ-んァ-ン一-龥]", sentence)
    assert not re.search(r"[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}", sentence)
    assert not sentence.endswith("。")


def test_japanese_has_the_same_figures_as_english() -> None:
    for fact, sentence in SENTENCES:
        figures = {figure.rstrip(",.") for figure in re.findall(r"\d[\d,.]*", sentence)}
        missing = figures - {figure.rstrip(",.") for figure in re.findall(r"\d[\d,.]*", japanese.say(fact))}
        assert not missing, (sentence, japanese.say(fact))


def test_a_fact_that_nothing_says_is_an_error() -> None:
    with pytest.raises(TypeError, match="no English sentence is written for Fact"):
        english.say(Fact())


def test_facts_on_prose_are_said_in_english_in_every_language() -> None:
    assert english_writing.say is english.say
    (kind,) = {kind for kind in english.say.registry if kind.__name__ == "NoRoundAnswered"}
    assert japanese.say(kind()) == english.say(kind())
