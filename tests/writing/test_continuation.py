"""Going on with a text: its lengths, one point for all, contexts that grow backward, and what a continuation scores."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document
from contextcliff.records.generation import Score
from contextcliff.records.sample import Passage, Sample, render
from contextcliff.tasks.task import ContextBudget, Materials, ScoringContext, TaskPlan
from contextcliff.text.sentences import sentence_starts
from contextcliff.text.tokenizers import WordTokenizer
from contextcliff.writing.task.continuation import Continuation
from contextcliff.writing.task.continuation_contexts import context_tiers
from tests.tasks.made_tasks import shipped
from tests.tasks.needles import said


def test_tiers_worked_out_by_hand() -> None:
    expected = {
        (2_048, 16_384, 0, 512): (2_048, 4_096, 8_192, 16_384),
        (2_000, 8_192, 1, 512): (2_048, 2_896, 4_096, 5_793, 8_192),
        (1_024, 2_048, 2, 8): (1_024, 1_290, 1_625, 2_048),  # 1024·2^⅓ = 1290.2, 1024·2^⅔ = 1625.5
        (1, 8_192, 0, 1_025): (4_096, 8_192),  # twice the answer is 2,050
        (2_048, 100_000, 0, 512): (2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 100_000),
        (2_048, 5_000, 1, 512): (2_048, 2_896, 4_096, 5_000),
        (2_048, 7_000, 1, 512): (2_048, 2_896, 4_096, 5_793, 7_000),
        (2_048, 1_500, 4, 512): (1_500,),
        (2_048, 1_024, 0, 512): (1_024,),
        (1, 4, 4, 1): (2, 3, 4),
    }
    assert {
        (start, longest, divisions, answer_tokens): context_tiers(
            start=start, longest=longest, divisions=divisions, answer_tokens=answer_tokens
        )
        for start, longest, divisions, answer_tokens in expected
    } == expected


ASKED = {
    "start": st.integers(1, 100_000),
    "longest": st.integers(2_000, 2_000_000),
    "answer_tokens": st.integers(1, 1_000),
}
DIVISIONS = st.sampled_from([0, 1, 2, 4, 8])


@given(**ASKED, divisions=DIVISIONS)
def test_tiers_ascend_from_no_less_than_the_start_to_the_longest(
    start: int, longest: int, answer_tokens: int, divisions: int
) -> None:
    tiers = context_tiers(start=start, longest=longest, divisions=divisions, answer_tokens=answer_tokens)
    assert list(tiers) == sorted(set(tiers))
    assert tiers[-1] == longest
    assert all(tier >= 2 * answer_tokens for tier in tiers)
    assert tiers == (longest,) or tiers[0] >= start
    step = 2 ** (1 / (divisions + 1))
    assert all(other <= one * step + 2 for one, other in pairwise(tiers))  # two halves from rounding, one by the step


STORY = Document(
    document_id="story",
    title="The Tide Clerk",
    text=files("contextcliff.datasets").joinpath("texts", "the_tide_clerk.txt").read_text(encoding="utf-8"),
)
ROOM = ContextBudget(context_window=8192, answer_tokens=1024)
AGAINST_THE_STORY = ScoringContext(document=STORY)
TOKENIZER = WordTokenizer()


def continuation(**changes: Any) -> Continuation:
    task = shipped("continuation", **{"max_tokens": 256, "rounds": 2, **changes})
    assert isinstance(task, Continuation)
    return task


def built(
    task: Continuation, document: Document = STORY, *, context_budget: ContextBudget = ROOM, seed: int = 0
) -> TaskPlan:
    corpus = Corpus(documents=(document,))
    return task.build(
        Materials(corpus=corpus, tokenizer=TOKENIZER, context_budget=context_budget, seed=seed, text_identity="story")
    )


@cache
def samples(**changes: Any) -> tuple[Sample, ...]:
    return built(continuation(**changes)).samples


def passage(sample: Sample) -> Passage:
    return next(piece for piece in sample.recipe.user if isinstance(piece, Passage))


def score(text: str, *, completion_tokens: int = 256, sample: Sample | None = None) -> Score:
    answer = replace(said(text, "length"), completion_tokens=completion_tokens)
    return continuation().score(sample or samples()[0], answer, AGAINST_THE_STORY)


def allowed(sample: Sample) -> int:
    """What a context may be short of its length: a fiftieth or a long sentence, the seam, and the pieces of a word that
    would not fit."""
    return max(round(0.02 * sample.context_tokens), 64) + 3 + 6


STRETCH = "tide ledger harbour lamp over the wall and on "


@st.composite
def sparse_texts(draw: st.DrawFn) -> Document:
    """Paragraphs of the story, with stretches of up to 30,000 characters between them in which no sentence ends."""
    paragraphs = STORY.text.split("\n\n")
    pieces: list[str] = []
    for _ in range(draw(st.integers(2, 5))):
        first = draw(st.integers(0, len(paragraphs) - 41))
        pieces += paragraphs[first : first + draw(st.integers(4, 40))]
        unended = STRETCH * draw(st.integers(0, 30_000 // len(STRETCH)))
        joint = draw(st.sampled_from(["\n\n", " ", "\n"]))
        pieces.append(f"{unended.strip()}{joint}")
    pieces += paragraphs[2:40]
    return Document(document_id="story", title="Sparse", text="\n\n".join(pieces))


@settings(max_examples=25)
@given(
    document=sparse_texts(),
    lengths=st.lists(st.integers(20, 800), min_size=2, max_size=5, unique=True),
    near=st.integers(1, 3),
)
def test_contexts_are_as_long_as_asked_and_differ_also_where_few_sentences_end(
    document: Document, lengths: list[int], near: int
) -> None:
    asked = sorted({*(10 * length for length in lengths), 10 * (lengths[0] + near)})
    found = built(continuation(lengths=asked, max_tokens=64, rounds=1), document)
    assert len({passage(sample).end for sample in found.samples}) == 1
    starts = set(sentence_starts(document.text))
    told = next((note for note in found.notes if "begin inside a sentence" in note), "")
    for sample in found.samples:
        counted = TOKENIZER.count_prompt(render(sample.recipe, {"story": document})) + (sample.answer_tokens or 0)
        assert sample.context_tokens - allowed(sample) <= counted <= sample.context_tokens
        begins = passage(sample).start
        assert begins in starts or f"{sample.context_tokens:,}" in told
        assert begins == 0 or (document.text[begins - 1].isspace() and not document.text[begins].isspace())
    for shorter, longer in pairwise(found.samples):
        assert passage(longer).start < passage(shorter).start
    for length in set(asked) - {sample.context_tokens for sample in found.samples}:
        assert any(note.startswith(f"the text is too short for contexts of {length:,} tokens") for note in found.notes)


def test_another_instruction_or_room_for_thinking_leaves_the_point_where_it_is() -> None:
    point = passage(samples()[0]).end
    thinking = ContextBudget(context_window=8192, answer_tokens=1280, thinking_tokens=1024)
    longer = built(continuation(instruction="Go on with this story, as the one who wrote it would have. " * 3))
    for found in (longer, built(continuation(), context_budget=thinking)):
        assert {passage(sample).end for sample in found.samples} == {point}


def test_an_answer_takes_at_most_a_quarter_of_the_window_and_thinking_is_kept_out_of_the_text() -> None:
    small = built(continuation(max_tokens=1024), context_budget=ContextBudget(context_window=2048, answer_tokens=1024))
    assert {sample.answer_tokens for sample in small.samples} == {512}
    assert any("a quarter of the window, and not 1,024" in note for note in small.notes)
    thinking = ContextBudget(context_window=8192, answer_tokens=1280, thinking_tokens=256)
    assert built(continuation(), context_budget=thinking).samples[-1].built_tokens <= 8192 - 256 - 256


def test_lengths_that_the_text_can_not_fill_are_left_out_and_named() -> None:
    short = Document(document_id="short", title="Short", text=STORY.text[:18_000])
    found = built(continuation(), short)
    assert [sample.context_tokens for sample in found.samples[::2]] == [2048, 4096]
    (told,) = (note for note in found.notes if "too short" in note)
    assert told == (
        "the text is too short for contexts of 8,192 tokens: they are left out; they need 7,872 tokens before a point "
        "to go on from, and the last such point of Short has 4,056"
    )


@pytest.mark.parametrize(
    ("changes", "text", "told"),
    [
        ({"max_context": 9000}, STORY.text, "task.max_context=9,000: longer than model.context_window=8,192; ask for"),
        ({"lengths": [300]}, STORY.text, "task.lengths: 300 tokens are under twice the answer of 256"),
        ({}, "tide ledger harbour lamp " * 4000, "dataset: no sentence ends in Text (100,000 characters)"),
        ({}, "\n\n".join(f"tide ledger lamp {i}" for i in range(4000)), "dataset: no sentence ends in Text"),
    ],
)
def test_what_can_not_be_asked_is_refused(changes: dict[str, Any], text: str, told: str) -> None:
    with pytest.raises(ConfigError) as error:
        built(continuation(**changes), Document(document_id="text", title="Text", text=text))
    assert str(error.value).startswith(told)


def test_a_word_list_that_can_not_be_read_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"task\.word_list=.*No such file or directory; give a file with one word"):
        continuation(word_list=str(tmp_path / "none.txt"))
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ConfigError, match=r"is no UTF-8 text"):
        continuation(word_list=str(tmp_path / "binary.txt"))


def test_the_authors_own_words_score_high_and_a_loop_scores_low() -> None:
    point = passage(samples()[0]).end
    own = score(STORY.text[point : point + 1100])
    loop = score("He went to the door and opened it. " * 30)
    assert own.value > 0.85
    assert own.details["composite"] == pytest.approx(100.0 * (1.0 - own.value))
    assert loop.value < 0.5
    assert loop.failure == "repetition"


def test_only_what_was_said_counts_as_written_however_the_server_counts() -> None:
    def found(characters: int, **answer: Any) -> Score:
        written = replace(said(STORY.text[:characters]), **answer)
        return continuation().score(samples()[0], written, AGAINST_THE_STORY)

    thought = found(500, completion_tokens=400, reasoning="x" * 500)
    assert thought.details["original.word_count"] < 200  # of 200 tokens, not of 400
    hidden = found(500, completion_tokens=400, reasoning_tokens=290)
    assert (hidden.failure, hidden.details["original.word_count"] < 110) == ("too_short", True)
    # A server that counts nothing: the text tells how much was written.
    assert found(1100, completion_tokens=1, server_counted=False).failure != "too_short"
