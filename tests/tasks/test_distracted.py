"""A question among documents: what stands in a prompt and how often, which questions are asked, how answers score."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.datasets.stories import Stories
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus
from contextcliff.records.sample import Passage, Sample, render
from contextcliff.tasks.questions.document_row import holds_answer, pool_of
from contextcliff.text.tokenizers import WordTokenizer
from tests.tasks.made_tasks import materials, shipped

STORIES = Stories().corpus(tokens=0, seed=0)
TEXTS = {document.document_id: document for document in STORIES.documents}
POOL = pool_of(STORIES, 800)
ASKED = {question.text: question for question in STORIES.questions}
_DOCUMENT = re.compile(r"^Document (\d+):$", re.MULTILINE)


def built(
    *lengths: int, corpus: Corpus = STORIES, seed: int = 0, trials: int = 1, **changes: object
) -> tuple[Sample, ...]:
    task = shipped("qa_distractors", lengths=lengths, trials=trials, **changes)
    plan = task.build(materials(corpus, seed=seed))
    return (*plan.samples, *plan.controls)


def documents_of(sample: Sample, corpus: Corpus = STORIES) -> list[str]:
    """The texts of the documents in a prompt, in their order."""
    texts = {document.document_id: document.text for document in corpus.documents}
    return [
        texts[piece.document_id][piece.start : piece.end] for piece in sample.recipe.user if isinstance(piece, Passage)
    ]


def golden_of(sample: Sample) -> list[str]:
    return [POOL.text(piece) for piece in POOL.golden(ASKED[sample.question])]


@settings(max_examples=20)
@given(length=st.integers(900, 9_000), seed=st.integers(0, 100), depth=st.floats(0.0, 1.0))
def test_a_prompt_has_its_documents_once_and_the_answer_in_no_other(length: int, seed: int, depth: float) -> None:
    (sample,) = built(length, seed=seed, depths=[depth])
    whole = render(sample.recipe, TEXTS).user
    counted = WordTokenizer().count_prompt(render(sample.recipe, TEXTS))
    assert counted == sample.built_tokens <= length
    assert length - counted <= max(16, 0.01 * length)
    texts, golden = documents_of(sample), golden_of(sample)
    assert [texts.count(text) for text in golden] == [1] * len(golden)
    assert all(whole.count(text) == 1 for text in golden)
    assert not any(holds_answer(text, sample.answers) for text in texts if text not in golden)
    assert _DOCUMENT.findall(whole) == [str(number) for number in range(1, len(texts) + 1)]
    assert len(set(texts)) == len(texts)
    # All others but one are whole documents of the pool, and that one is the beginning of such.
    pieces = {POOL.text(piece) for piece in range(len(POOL.pieces))}
    cut = [text for text in texts if text not in pieces]
    assert len(cut) <= 1
    assert all(any(piece.startswith(text) for piece in pieces) for text in cut)


@settings(max_examples=8)
@given(length=st.integers(4_000, 9_000), seed=st.integers(0, 100))
def test_the_document_stands_at_its_depth_among_the_others(length: int, seed: int) -> None:
    samples = built(length, seed=seed, depths=[0.0, 0.3, 1.0])
    for sample in samples:
        golden, texts = golden_of(sample), documents_of(sample)
        others = [len(text) for text in texts if text not in golden]
        first = min(texts.index(text) for text in golden)
        assert abs(sum(map(len, texts[:first])) / sum(others) - (sample.depth or 0.0)) < 0.12
        assert ("evidence_distance_tokens" in sample.metadata) is (len(golden) > 1)
        assert sample.metadata["level"] == ASKED[sample.question].level


def test_every_length_asks_the_same_questions_each_once() -> None:
    samples = built(1_000, 2_000, 3_000, trials=6)
    by_length = [[s.question for s in samples if s.context_tokens == length] for length in (1_000, 2_000, 3_000)]
    assert by_length[0] == by_length[1] == by_length[2]
    assert len(set(by_length[0])) == 30
    first = [golden_of(sample)[0] for sample in samples if sample.context_tokens == 1_000]
    assert len(set(first)) == 30


def test_questions_that_can_t_be_asked_are_left_out_and_counted() -> None:
    rows = [
        replace(question, kind="choice", choices=("a", "b")) if place % 2 else question
        for place, question in enumerate(STORIES.questions)
    ]
    task = shipped("qa_distractors", lengths=[1_000], trials=2, evidence_characters=900)
    plan = task.build(materials(replace(STORIES, questions=tuple(rows))))
    assert plan.notes[0] == (
        "questions of the dataset that are left out: 83 with choices or for a summary; 38 that "
        "task.evidence_characters=900 is too small for"
    )


def test_more_trials_than_questions_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^task.trials=40: .* has 167 that can be asked; give 33 or fewer, or take "):
        built(1_000, trials=40)
    with pytest.raises(ConfigError, match=r"^task.max_trials=200: .* give 167 or fewer"):
        built(1_000, trials="auto", max_trials=200)  # type: ignore[arg-type]


def test_a_length_beyond_the_documents_is_refused() -> None:
    corpus = replace(STORIES, documents=STORIES.documents[:6], questions=STORIES.questions[:30])
    with pytest.raises(ConfigError, match=r"^task.lengths: 60,000 tokens are [\d,]+ more than all documents of the .*"):
        built(60_000, corpus=corpus)
