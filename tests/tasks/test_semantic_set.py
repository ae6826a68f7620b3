"""The semantic needles: no word leads from a question to its needle, only the meaning does."""

from __future__ import annotations

import json
import re
from importlib.resources import files

ITEMS = json.loads(files("contextcliff").joinpath("tasks", "needles", "semantic.json").read_text(encoding="utf-8"))

STOP_WORDS = frozenset(
    """
    about above across after again against all along also among and any are before behind below beside between
    both can character characters did does down during each every few for from goes had has have her his how into
    its itself more most name named mentioned nor not off once one only onto other others our out over own people
    person persons round same some someone something such than that the their them then there these they this
    those through told under until upon very was were what whatever when whenever where which while who whom whose
    will with would you your
    """.split()
)


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]{3,}", text.replace("{name}", "").lower()) if word not in STOP_WORDS}


def same_stem(one: str, other: str) -> bool:
    """Their first five letters agree, or as many as the shorter one has."""
    length = min(5, len(one), len(other))
    return one[:length] == other[:length]


def test_a_question_shares_no_word_with_any_needle() -> None:
    """Not with its own, where a model could match words, and not with another, which may lie beside it to distract."""
    told = {(item["id"], word) for item in ITEMS for word in words(item["needle"])}
    asked = {(item["id"], word) for item in ITEMS for word in words(item["question"])}
    assert [(one, other) for one in asked for other in told if same_stem(one[1], other[1])] == []


def test_an_item_is_a_sentence_about_one_person_and_a_question_for_that_person() -> None:
    forms = {
        "id": r"[a-z]+(-[a-z]+)*",
        "needle": r"[^{}.?!]*\{name\}[^{}.?!]*\.",
        "question": r"(Who|Which (person|character|of the people mentioned)) [^{}?]+\?",
        "fact": r"[^{}?]+\.",
    }
    assert {frozenset(item) for item in ITEMS} == {frozenset({*forms, "topic"})}
    for key, form in forms.items():
        assert [item[key] for item in ITEMS if not re.fullmatch(form, item[key])] == []
        assert len({item[key] for item in ITEMS}) == len(ITEMS)
