"""Questions on whole documents: which are asked, what is sent, and in which bins."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document, Question, Span
from contextcliff.records.sample import Passage, Words, render
from contextcliff.tasks.questions.qa import Qa, draw
from contextcliff.tasks.task import ContextBudget, Materials, TaskPlan
from contextcliff.text.tokenizers import WordTokenizer
from tests.make import known
from tests.tasks.made_tasks import shipped

ROOM = ContextBudget(context_window=4_096, answer_tokens=48)


def qa(**changes: Any) -> Qa:
    task = shipped("qa", **{"min_context_tokens": 0, "min_samples": 1, **changes})
    assert isinstance(task, Qa)
    return task


def document(name: str, words: int) -> Document:
    rng = random.Random(name)
    text = " ".join(rng.choice(["tide", "ledger", "harbour", "lamp", "stairs."]) for _ in range(words))
    return Document(document_id=name, title=name, text=f"{name} keeps the brass key. {text}")


def corpus(*sizes: int, questions: int = 2, **changes: Any) -> Corpus:
    documents = tuple(document(f"d{i:03d}", size) for i, size in enumerate(sizes))
    return Corpus(
        documents=documents,
        questions=tuple(
            Question(
                question_id=f"{found.document_id}-q{j}",
                document_id=found.document_id,
                text=f"What does {found.document_id} keep, asked for the time numbered {j}?",
                answers=("the brass key", "brass key"),
                evidence=(Span(start=0, end=len(f"{found.document_id} keeps the brass key.")),),
                **changes,
            )
            for found in documents
            for j in range(questions)
        ),
    )


def built(task: Qa, texts: Corpus, *, bins: int = 3, binning: str = "quantile", seed: int = 0) -> TaskPlan:
    return task.build(
        Materials(
            corpus=texts,
            tokenizer=WordTokenizer(),
            context_budget=ROOM,
            seed=seed,
            text_identity="x",
            bins=bins,
            binning=binning,
        )
    )


@settings(max_examples=25)
@given(st.lists(st.integers(5, 3_000), min_size=1, max_size=8), st.sampled_from(["json", "plain"]))
def test_no_prompt_ever_differs_from_its_document_outside_the_frame(sizes: list[int], form: str) -> None:
    texts = corpus(*sizes)
    documents = {found.document_id: found for found in texts.documents}
    frames = set()
    for sample in built(qa(format=form), texts).samples:
        before, inside, after = sample.recipe.user
        assert isinstance(before, Words)
        assert isinstance(after, Words)
        assert inside == Passage(document_id=sample.document_id, start=0, end=len(documents[sample.document_id].text))
        prompt = render(sample.recipe, documents).user
        assert prompt == f"{before.text}{documents[sample.document_id].text}{after.text}"
        assert abs(WordTokenizer().count_prompt(render(sample.recipe, documents)) - sample.built_tokens) <= 2
        frames.add((before.text, after.text.replace(sample.question, "")))
    assert len(frames) == 1


def test_documents_that_do_not_fit_are_left_out_and_counted_and_never_cut() -> None:
    run = built(qa(), corpus(50, 400, 900, 9_000))
    assert "d003" not in {sample.document_id for sample in run.samples}
    assert run.audit is not None
    assert (run.audit.too_long, len(run.audit.lengths)) == (1, 4)
    assert any("1 documents are longer than" in note and "never cut" in note for note in run.notes)


def test_short_documents_are_dropped_below_the_minimum_and_levels_can_be_asked_for() -> None:
    run = built(qa(min_context_tokens=100), corpus(20, 400, 900))
    assert known(run.audit).too_short == 1
    assert {sample.document_id for sample in run.samples} == {"d001", "d002"}
    assert len(built(qa(levels=[2], repeats=1), corpus(50, 400, level=2)).samples) == 4


@pytest.mark.parametrize(
    ("changes", "sizes", "told"),
    [
        ({"levels": [2]}, (50, 400), r"task.levels=\[2\]: no question of the dataset has such a level"),
        ({"max_context_tokens": 3_000}, (50, 400),
         r"task.max_context_tokens=3,000: the dataset spans \d+ to \d+ tokens in 2 lengths, so it can't show"),
        ({}, (9_000,), r"none of its documents fits between task.min_context_tokens=0 and the 3,8"),
    ],
)  # fmt: skip
def test_what_a_dataset_can_not_give_is_refused(changes: dict[str, Any], sizes: tuple[int, ...], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        built(qa(**changes), corpus(*sizes))


lengths = st.lists(st.integers(1, 5_000), min_size=1, max_size=60)


@given(
    lengths,
    st.integers(1, 10),
    st.integers(1, 8),
    st.integers(1, 6),
    st.sampled_from(["auto", "quantile", "log", "fixed"]),
)
def test_bins_ascend_hold_every_length_once_and_never_split_equal_ones(
    sizes: list[int], bins: int, per_bin: int, min_samples: int, binning: str
) -> None:
    questions = [
        Question(question_id=f"q{i}-{j}", document_id=f"d{i}", text="?", answers=("a",))
        for i in range(len(sizes))
        for j in range(2)
    ]
    found, _ = draw(
        questions,
        {f"d{i}": size for i, size in enumerate(sizes)},
        bins=bins,
        binning=binning,
        per_bin=per_bin,
        min_samples=min_samples,
        seed=1,
    )
    audits = [audit for audit, _ in found]
    octaves = math.ceil(
        math.log2(max(sizes) + 1) - math.log2(min(sizes))
    )  # of the logarithm, a bin is no wider than one
    assert 1 <= len(audits) <= (max(bins, octaves) if binning in ("auto", "log") else bins)
    assert all(earlier.max_tokens < later.min_tokens for earlier, later in pairwise(audits))
    assert sum(audit.questions for audit in audits) == len(questions)
    for audit, drawn in found:
        assert len(drawn) == audit.drawn_questions == min(per_bin, audit.questions)
        assert audit.drawn_documents == min(audit.documents, len(drawn))
        assert len(found) == 1 or audit.questions >= min_samples


def test_a_thin_bin_is_merged_and_a_starved_one_named() -> None:
    texts = corpus(*[50 + i for i in range(10)], 3_000)
    run = built(qa(min_samples=4, samples_per_bin=30), texts, bins=2, binning="fixed")
    assert any("2 bins are 1 after those with fewer than task.min_samples=4 questions" in note for note in run.notes)
    assert any("is starved: 22 questions, and 30 are asked for" in note for note in run.notes)
    assert {sample.bin for sample in run.samples} == {0}


@pytest.mark.parametrize(
    ("binning", "sizes", "bins"),
    [
        # Paragraphs and books: equal counts would put 214 tokens and 60,000 into one bin.
        ("quantile", (*range(100, 220), *range(40_000, 60_000, 1_000)), [(100, 146), (147, 192), (193, 59_000)]),
        ("auto", (*range(100, 220), *range(40_000, 60_000, 1_000)), [(100, 189), (190, 219), (40_000, 59_000)]),
        # Three books are no bin of their own: documents count there, however many questions each has.
        ("log", (*range(100, 220), 40_000, 50_000, 60_000), [(100, 189), (190, 60_000)]),
        # Documents within three octaves stay in bins of equal counts.
        ("auto", (*range(100, 800, 10),), [(100, 320), (330, 560), (570, 790)]),
    ],
)
def test_bins_are_steps_of_the_logarithm_where_equal_counts_would_mix_short_and_long(
    binning: str, sizes: tuple[int, ...], bins: list[tuple[int, int]]
) -> None:
    texts = {f"d{size}": size for size in sizes}
    questions = [
        Question(question_id=f"{name}-{k}", document_id=name, text="?", answers=("a",))
        for name in texts
        for k in "abcd"
    ]
    found, notes = draw(questions, texts, bins=3, binning=binning, per_bin=9, min_samples=8, seed=1)
    assert [(audit.min_tokens, audit.max_tokens) for audit, _ in found] == bins
    assert any("steps of the logarithm" in note for note in notes) == (binning == "auto" and bins[-1][1] > 8_000)
