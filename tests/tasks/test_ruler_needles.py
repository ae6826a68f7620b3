"""RULER's eight needle tasks and its variable tracking: what stands in the prompts, and what an answer is worth.

The counts are those of the paper's configuration (Hsieh et al. 2024, arXiv:2404.06654).
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from contextcliff.records.corpus import Document
from contextcliff.records.sample import Sample, render
from contextcliff.tasks.task import ContextBudget, Materials, ScoringContext
from contextcliff.text.tokenizers import WordTokenizer
from tests import compositions
from tests.tasks.made_tasks import shipped
from tests.tasks.needles import said

LONGEST = 3_000
ROOM = ContextBudget(context_window=8_192, answer_tokens=48)
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
NUMBER, WORD = r"[1-9]\d{6}", r"[a-z]{6,12}"
ONE = r"[Tt]he secret (?:number|code) of ({key}) is ({value})\."
OF_ONE_KEY = r"One of the secret numbers of ({key}) is ({value})\."


@cache
def blocks_of(option: str) -> tuple[Any, Any, dict[str, Document]]:
    """A task as it is shipped with its data set, its blocks, and the documents."""
    invocation = compositions.built(f"task={option}")
    task: Any = replace(invocation.task, lengths=(LONGEST,))  # type: ignore[call-arg]
    corpus = invocation.dataset.corpus(tokens=task.text_tokens(ROOM), seed=0)
    materials = Materials(
        corpus=corpus,
        tokenizer=WordTokenizer(),
        context_budget=ROOM,
        seed=0,
        text_identity=invocation.identify().text_identity,
    )
    return task, task.blocks(materials), {document.document_id: document for document in corpus.documents}


def samples_of(option: str, *, length: int = 1_000, index: int = 0) -> tuple[tuple[Sample, str], ...]:
    """The samples of a block with the text of their prompts, without instruction and question."""
    _, blocks, documents = blocks_of(option)
    return tuple(
        (sample, render(sample.recipe, documents).user.split("\n\n", 1)[1].rpartition("\n\n")[0])
        for sample in blocks.block(length, index).samples
    )


def needles(text: str, *, key: str = WORD, value: str = NUMBER, form: str = ONE) -> list[tuple[str, str]]:
    return re.findall(form.format(key=key, value=value), text)


@pytest.mark.parametrize(
    ("option", "in_text", "keys", "asked", "key", "value"),
    [
        ("ruler_niah_single_1", 1, 1, 1, WORD, NUMBER),
        pytest.param("ruler_niah_single_2", 1, 1, 1, WORD, NUMBER, marks=pytest.mark.slow),
        ("ruler_niah_single_3", 1, 1, 1, WORD, UUID),
        ("ruler_niah_multikey_1", 4, 4, 1, WORD, NUMBER),
        ("ruler_niah_multiquery", 4, 4, 4, WORD, NUMBER),
        ("ruler_niah_multivalue", 4, 1, 4, WORD, NUMBER),
    ],
)
def test_the_needles_are_as_many_and_of_the_kinds_that_the_paper_has(
    option: str, in_text: int, keys: int, asked: int, key: str, value: str
) -> None:
    for sample, text in samples_of(option):
        hidden = needles(text, key=key, value=value, form=OF_ONE_KEY if keys < in_text else ONE)
        names = {name for name, _ in hidden}
        assert (len(hidden), len(names), len({number for _, number in hidden})) == (in_text, keys, in_text)
        assert {number for name, number in hidden if name in sample.question} == set(sample.answers)
        assert len(sample.answers) == asked


@pytest.mark.parametrize(
    ("option", "key", "value"), [("ruler_niah_multikey_2", WORD, NUMBER), ("ruler_niah_multikey_3", UUID, UUID)]
)
def test_a_haystack_of_needles_has_nothing_else_and_no_key_or_value_twice(option: str, key: str, value: str) -> None:
    places = []
    for sample, text in samples_of(option, length=LONGEST):
        hidden = needles(text, key=key, value=value)
        rest = re.sub(ONE.format(key=key, value=value), "", text).split()
        assert len(rest) <= 7  # the sentence that the length cuts
        assert len(hidden) > (25 if value == UUID else 60)
        keys, values = [name for name, _ in hidden], [found for _, found in hidden]
        assert len({*keys, *values}) == 2 * len(hidden)
        asked = next(name for name in keys if name in sample.question)
        assert sample.answers == (dict(hidden)[asked],)
        places.append(keys.index(asked) / (len(keys) - 1))
    assert places == pytest.approx([depth / 10 for depth in range(11)], abs=0.06)


def test_a_chain_of_five_variables_stands_in_its_order_and_all_of_them_are_asked_for() -> None:
    for sample, text in samples_of("ruler_vt"):
        [(first, number)] = re.findall(r"Variable ([A-Z]{5}) is set to ([1-9]\d{6})\.", text)
        links = re.findall(r"Variable ([A-Z]{5}) is set to the value of variable ([A-Z]{5})\.", text)
        chain = [first, *(name for name, _ in links)]
        assert [other for _, other in links] == chain[:-1]
        assert sample.answers == tuple(chain)
        assert len(set(chain)) == len(chain) == 5
        assert sample.question == f"Which variables have the value {number}?"
        assert (sample.depth, sample.metadata["hops"]) == (None, 4)


NAMES = ("ABCDE", "FGHIJ", "KLMNO", "PQRST", "UVWXY")
VALUES = ("1111111", "2222222", "3333333", "4444444")


@pytest.mark.parametrize(
    ("option", "answers", "answer", "value", "failure"),
    [
        ("ruler_vt", NAMES, "ABCDE, FGHIJ, KLMNO, PQRST, UVWXY", 1.0, None),
        ("ruler_vt", NAMES, "abcde fghij klmno pqrst uvwxy and ZZZZZ", 1.0, None),
        ("ruler_vt", NAMES, "ABCDE, FGHIJ and KLMNO.", 0.6, "partial"),
        ("ruler_vt", NAMES, "ABCDEF, XFGHIJ", 0.0, "missing"),
        ("ruler_vt", NAMES, "", 0.0, "empty"),
        ("ruler_niah_multivalue", VALUES, "1111111, 2222222, 3333333 and 4444444", 1.0, None),
        ("ruler_niah_multivalue", VALUES, "1111111,2222222,3333333,4444444,5555555", 1.0, None),
        ("ruler_niah_multivalue", VALUES, "2222222; 1,111,111; 9999999", 0.5, "partial"),
        ("ruler_niah_multivalue", VALUES, "11111112 2222222", 0.25, "partial"),
        ("ruler_niah_multivalue", VALUES, "I don't know", 0.0, "refusal"),
    ],
)
def test_names_and_values_are_worth_the_share_that_is_named_whole(
    option: str, answers: tuple[str, ...], answer: str, value: float, failure: str | None
) -> None:
    task, _, _ = blocks_of(option)
    score = task.score(replace(samples_of(option)[0][0], answers=answers), said(answer), ScoringContext())
    assert (score.value, score.failure) == (pytest.approx(value), failure)


@pytest.mark.parametrize(
    ("option", "key", "value", "nowhere"),
    [
        ("ruler_niah_multikey_2", WORD, NUMBER, "9999999"),
        ("ruler_niah_multikey_3", UUID, UUID, "00000000-0000-4000-8000-000000000000"),
    ],
)
def test_a_needle_of_the_text_is_told_from_a_value_that_stands_nowhere(
    option: str, key: str, value: str, nowhere: str
) -> None:
    task, _, documents = blocks_of(option)
    (document,) = documents.values()
    context = ScoringContext(document=document)
    sample = samples_of(option)[0][0]
    other = needles(document.text, key=key, value=value)[7][1]
    both = said(f"{sample.answers[0]} or {other}")
    scores = [task.score(sample, answer, context) for answer in (said(other), said(nowhere), both)]
    expected = [(0.0, "wrong_needle"), (0.0, "hallucination"), (1.0, None)]
    assert [(score.value, score.failure) for score in scores] == expected
    strict = replace(task, hedging="wrong").score(sample, both, context)
    assert (strict.value, strict.failure) == (0.0, "hedged")


def test_whether_hedging_is_allowed_is_a_rule_of_judging_and_no_part_of_what_is_asked() -> None:
    allowed, wrong = (shipped("niah_multikey", hedging=hedging) for hedging in ("allowed", "wrong"))
    assert (allowed.identity(), allowed.asked()) == (wrong.identity(), wrong.asked())
    assert "hedging" not in {*allowed.traits.idle, *wrong.traits.idle}  # what is idle is no part of the rule either
