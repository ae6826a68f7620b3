"""An answer contains a reference where it gives it, whole, among further words, and does not take it back."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.datasets.stories import Stories
from contextcliff.tasks.questions.contained import contains_reference
from contextcliff.tasks.questions.squad_scoring import exact_match

STORIES = Stories().corpus(tokens=0, seed=0)
WORDS = "Otto Marit Paris London not or and the 5 15 no yes is was lamp , . to because but".split()


def test_it_gives_the_reference() -> None:
    cases = (
        ("The lighthouse was built by Otto Lindqvist in 1817.", "Otto Lindqvist"),
        ("the OTTO, Lindqvist!", "Otto Lindqvist"),
        ("It was Otto Lindqvist, the engineer", "the Otto Lindqvist"),
        ("“Otto Lindqvist” built it", "Otto Lindqvist"),
        ("Otto Lindqvist—an engineer—built it", "Otto Lindqvist"),
        ("It was built in 1,817", "1817"),
        ("There were １５ lamps", "15"),
        ("There were 5 lamps in the house", "5"),
        ("Otto’s hat was red", "Otto's hat"),
        ("No, he did not.", "no"),
        ("Yes: she lit it herself", "yes"),
        ("It was not Brunel but Otto", "Otto"),
        ("It was not Brunel, it was Otto", "Otto"),
        ("He did not go because of the storm", "the storm"),
        ("Otto was not given the money because of the storm", "the storm"),
        ("I'm sorry, but it was Otto Lindqvist.", "Otto Lindqvist"),
        ("The text does not say it outright. The builder is Otto.", "Otto"),
        ("Otto, Marit and the dog lived in the house by the sea", "the dog"),
        ("It was in Paris, Texas that they met", "Paris, Texas"),
        ("It was Mr. Brunel, not the mate, who came", "Mr. Brunel"),
        ("Es war nicht Brunel, sondern Otto", "Otto"),
        ("ジョバンニは銀河鉄道に乗りました", "ジョバンニ"),
        ("それは東京でした。", "東京"),
        ("彼はねこを飼っていた", "ねこ"),
        ("灯台は1817年に建てられた", "1817"),
        ("灯台は1817年に建てられた", "1817年"),
        ("犯人は太郎に違いない", "太郎"),
        ("書かれていませんが。答えは東京です。", "東京"),
        ("他住在北京市中心", "北京"),
    )
    assert [
        (answer, reference)
        for answer, reference in cases
        if not contains_reference(answer, ("something else", reference))
    ] == []


def test_it_does_not_give_the_reference() -> None:
    cases = (
        ("", "Otto"),
        ("Otto", ""),
        ("A lamp", "a"),  # SQuAD drops articles
        ("Plan B was taken", "B"),
        ("He said so", "he"),
        ("One of the keepers", "one"),
        ("There is no mention of it", "no"),
        ("No lamp was lit", "no"),
        ("I say yes", "yes"),
        ("There were 15 lamps", "5"),
        ("There were 5.5 lamps", "5"),
        ("5-15", "5"),
        ("5–15", "5"),
        ("Ottoline built it", "Otto"),
        ("Otto's daughter built it", "Otto"),
        ("Otto’s daughter built it", "Otto"),
        ("It was not Paris", "Paris"),
        ("It isn't in Paris", "Paris"),
        ("Paris is not where they met", "Paris"),
        ("Paris isn't it", "Paris"),
        ("It was London instead of Paris", "Paris"),
        ("It was not because of the storm", "the storm"),
        ("There was no storm", "the storm"),
        ("It was not Mr. Brunel", "Brunel"),
        ("The text does not say whether it was Mr. Brunel", "Brunel"),
        ("nicht Paris", "Paris"),
        ("Paris or London", "Paris"),
        ("either London or Paris", "Paris"),
        ("Paris/London", "Paris"),
        ("The text does not say whether it was Otto", "Otto"),
        ("I don't know if Otto built it.", "Otto"),
        ("The text does not say who built it, but Otto is mentioned", "Otto"),
        ("東京都に住んでいた", "京都"),
        ("スーパーマンだった", "スーパー"),
        ("京都ではない", "京都"),
        ("京都には行きませんでした", "京都"),
        ("京都以外です", "京都"),
        ("京都か大阪です", "京都"),
        ("大阪または京都", "京都"),
        ("それが京都かどうかは書かれていません", "京都"),
        ("13人いた", "3"),
        ("不是北京而是上海", "北京"),
    )
    assert [(answer, reference) for answer, reference in cases if contains_reference(answer, (reference,))] == []


def test_what_the_question_names_has_to_open_the_answer() -> None:
    question = "Which was older, the lamp or the bell?"
    assert contains_reference("The lamp was older than the bell", ("the lamp",), question=question)
    assert not contains_reference("The bell was older than the lamp", ("the lamp",), question=question)
    assert contains_reference("東京のほうが古い", ("東京",), question="東京と京都では、どちらが古いですか")
    assert not contains_reference("京都は東京より古い", ("東京",), question="東京と京都では、どちらが古いですか")


def test_a_negation_in_the_question_makes_one_in_the_answer_no_denial() -> None:
    assert contains_reference("It was not Otto who came", ("Otto",), question="Who did not come?")
    assert contains_reference(
        "来なかったのは太郎で、京都には行きませんでした", ("京都",), question="どこに行かなかったか"
    )


def test_a_negation_deep_in_the_question_is_not_what_it_asks_by() -> None:
    assert not contains_reference("It was not Otto", ("Otto",), question="Who was to sail the boat if Saul did not?")


@pytest.mark.parametrize(
    ("form", "is_given"),
    [
        ("According to the text, it was {} that is meant.", True),
        ("I'm sorry, but it was {}.", True),
        ("It was not {}.", False),
        ("The text does not say whether it was {}.", False),
        ("{} or somebody else", False),
    ],
)
def test_every_accepted_answer_of_the_built_in_set_in_a_sentence(form: str, *, is_given: bool) -> None:
    wrong = [
        question.text
        for question in STORIES.questions
        if contains_reference(form.format(question.answers[0]), question.answers, question=question.text) != is_given
    ]
    assert not wrong


def test_a_sentence_on_something_else_in_the_same_text_seldom_contains_the_reference() -> None:
    texts = {document.document_id: document.text for document in STORIES.documents}
    pairs = [
        (one, " ".join(texts[other.document_id][span.start : span.end] for span in other.evidence))
        for one, other in itertools.permutations(STORIES.questions, 2)
        if one.document_id == other.document_id and not {*one.evidence} & {*other.evidence}
    ]
    given = sum(contains_reference(text, question.answers, question=question.text) for question, text in pairs)
    assert len(pairs) > 400
    assert given <= len(pairs) // 100


@given(answer=st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), reference=st.sampled_from(WORDS))
def test_an_exact_match_is_contained_and_what_does_not_stand_there_is_not(answer: str, reference: str) -> None:
    found = contains_reference(answer, (reference,))
    if exact_match(answer, reference) and reference.isalnum() and reference != "the":
        assert found
    if reference.lower() not in answer.lower():
        assert not found


@given(st.text(max_size=60), st.text(max_size=12), st.text(max_size=20))
def test_any_text_can_be_asked(answer: str, reference: str, question: str) -> None:
    assert contains_reference(answer, (reference,), question=question) in (True, False)


def test_a_long_answer_is_searched_in_linear_time() -> None:
    assert not contains_reference("lamp " * 6_000, ("the lamp of the keeper of Skerrow",))
    assert not contains_reference("ねこ" * 15_000, ("いぬ",))
