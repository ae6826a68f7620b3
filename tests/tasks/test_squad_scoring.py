"""Exact match and F1 are SQuAD v1.1's own to the last digit in scripts with spaces; ROUGE-L is Lin's, in any script."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from contextcliff.tasks.questions.squad_scoring import best, exact_match, has_unspaced, rouge_l, token_f1, words

_TOKENS = st.sampled_from(
    ["the", "A", "an", "Theseus", "cat", "cat's", "1,234", "–", "the–end", "a.b", "U.S.", "\u3000", "İ", "ß"]
)
_TEXTS = st.lists(_TOKENS | st.text(max_size=5), max_size=8).map(" ".join).filter(lambda text: not has_unspaced(text))


def published_tokens(text: str) -> list[str]:
    """The tokens that Rajpurkar et al. compare, from their description: no punctuation, no articles, lower case."""
    kept = "".join(character for character in text.lower() if character not in string.punctuation)
    return "".join(" " if part in ("a", "an", "the") else part for part in re.split(r"(\W+)", kept)).split()


def published_exact_match(prediction: str, reference: str) -> float:
    return 1.0 if published_tokens(prediction) == published_tokens(reference) else 0.0


def published_f1(prediction: str, reference: str) -> float:
    said, wanted = published_tokens(prediction), published_tokens(reference)
    unmatched, shared = list(wanted), 0
    for token in said:
        if token in unmatched:
            unmatched.remove(token)
            shared += 1
    if not shared:
        return 0.0
    precision, recall = shared / len(said), shared / len(wanted)
    return (2 * precision * recall) / (precision + recall)


@pytest.mark.parametrize(
    ("prediction", "reference", "em", "f1"),
    [  # figures of the official evaluation script
        ("The cat's pyjamas!", "cats pyjamas", 1.0, 1.0),
        ("U.S.", "US", 1.0, 1.0),
        ("1,234 men", "1234 men and women", 0.0, 0.6666666666666666),
        ("cat cat cat", "cat dog cat", 0.0, 0.6666666666666666),
        ("Denver   Broncos", "denver broncos won it", 0.0, 0.6666666666666666),
        ("a cat", "the", 0.0, 0.0),
        ("the", "a", 1.0, 0.0),  # nothing is left to share
        ("", "", 1.0, 0.0),
        ("the–end", "– end", 0.0, 0.0),  # a dash outside ASCII is no punctuation to it, but it ends a word
    ],
)
def test_figures_are_those_of_the_official_script(prediction: str, reference: str, em: float, f1: float) -> None:
    assert (exact_match(prediction, reference), token_f1(prediction, reference)) == (em, f1)
    assert (published_exact_match(prediction, reference), published_f1(prediction, reference)) == (em, f1)


@given(prediction=_TEXTS, reference=_TEXTS)
def test_any_two_texts_score_as_the_published_definition_says(prediction: str, reference: str) -> None:
    assert exact_match(prediction, reference) == published_exact_match(prediction, reference)
    assert token_f1(prediction, reference) == published_f1(prediction, reference)


@pytest.mark.parametrize(
    ("prediction", "reference", "em", "f1"),
    [
        ("東京です。", "東京", 1.0, 1.0),
        ("「銀の鍵」である", "銀の鍵", 1.0, 1.0),
        ("東京", "東京都", 0.0, 0.8),
        ("京都の寺院", "京都の古い寺院", 0.0, 10 / 12),
        ("大阪", "東京", 0.0, 0.0),
        ("ด้วยเรือ", "เรือ", 0.0, 2 * 4 / (8 + 4)),
        ("1912年 の Titanic", "1912年 Titanic", 0.0, 6 / 7),
    ],
)
def test_without_spaces_every_character_is_a_word_and_a_polite_end_is_none(
    prediction: str, reference: str, em: float, f1: float
) -> None:
    assert exact_match(prediction, reference) == em
    assert token_f1(prediction, reference) == pytest.approx(f1)


def test_the_best_reference_counts_and_there_has_to_be_one() -> None:
    assert best(token_f1, "Denver Broncos", ["Carolina Panthers", "the Broncos", "Denver Broncos"]) == 1.0
    with pytest.raises(ValueError):
        best(token_f1, "Denver", [])


@pytest.mark.parametrize(
    ("prediction", "score"), [("police kill the gunman", 0.75), ("the gunman kill police", 0.5), ("", 0.0)]
)
def test_rouge_l_is_the_longest_common_subsequence_of_the_papers_example(prediction: str, score: float) -> None:
    assert rouge_l(prediction, "police killed the gunman") == score


def test_rouge_l_reads_texts_that_the_librarys_own_tokenizer_drops() -> None:
    assert rouge_l("Эмма уехала в Руан", "Эмма уехала") == pytest.approx(2 / 3)
    assert rouge_l("銀河鉄道の旅", "銀河鉄道の夜") == pytest.approx(5 / 6)


class Words:
    """`words` as a tokenizer of the library."""

    def tokenize(self, text: str) -> list[str]:
        return words(text)


@given(st.lists(st.sampled_from("ab犬é"), max_size=30), st.lists(st.sampled_from("ab犬é"), max_size=30))
def test_rouge_l_is_the_librarys_figure_on_the_same_words(first: list[str], second: list[str]) -> None:
    prediction, reference = " ".join(first), " ".join(second)
    scorer = RougeScorer(["rougeL"], tokenizer=Words())
    assert rouge_l(prediction, reference) == scorer.score(reference, prediction)["rougeL"].fmeasure


@given(text=st.text(alphabet=st.characters(max_codepoint=127), max_size=40))
def test_words_are_the_librarys_own_on_ascii(text: str) -> None:
    from rouge_score.tokenize import tokenize

    assert words(text) == tokenize(text, None)
