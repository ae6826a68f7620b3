"""The samples of a search: blocks that are the same whenever they are built, over text that begins anywhere."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.datasets.synthetic import Synthetic
from contextcliff.records.corpus import Corpus, Document
from contextcliff.records.sample import Passage, Sample, Words, render
from contextcliff.tasks.grid import DesignedLengths
from contextcliff.tasks.task import ContextBudget, Materials
from contextcliff.text.sentences import sentence_starts
from contextcliff.text.tokenizers import WordTokenizer
from tests.tasks.needles import FAMILY, OPTIONS, ROOM, TEXTS, built, niah, prompt, shipped

PLANTED = [option for option in OPTIONS if option != "repeat"]
FINITE = tuple(replace(document, endless=False) for document in TEXTS)
BY_ID = {document.document_id: document for document in TEXTS}


def few_depths(option: str) -> dict[str, Any]:
    return {} if option == "aggregation" else {"depths": [0.0, 0.5, 1.0] if option != "niah_multi" else [0.0, 0.4]}


def blocks_of(task: DesignedLengths, *documents: Document, context_budget: ContextBudget = ROOM) -> Any:
    return task.blocks(
        Materials(
            corpus=Corpus(documents=documents or FINITE),
            tokenizer=WordTokenizer(),
            context_budget=context_budget,
            seed=0,
            text_identity="text",
        )
    )


def begins(sample: Sample) -> int:
    """Where in its document a context begins."""
    return next(piece.start for piece in sample.recipe.user if isinstance(piece, Passage))


def text_of(sample: Sample) -> str:
    """The text of a prompt as it stands in the document, without what is hidden in it."""
    document = BY_ID[sample.document_id].text
    pieces = sample.recipe.user[1:-1]
    return "".join(
        document[piece.start : piece.end] if isinstance(piece, Passage) else piece.text
        for piece in pieces
        if isinstance(piece, Passage) or not piece.text.strip()
    )


@pytest.mark.parametrize("option", OPTIONS)
def test_a_block_is_the_same_whenever_it_is_built(option: str) -> None:
    task = shipped(option, lengths=[400, 900], **few_depths(option))
    upwards, downwards = blocks_of(task), blocks_of(task)
    forth = [upwards.block(length, index) for length in (400, 900) for index in range(3)]
    back = [downwards.block(length, index) for length in (900, 400) for index in (2, 1, 0)]
    assert {plan.samples for plan in forth} == {plan.samples for plan in back}
    assert [{sample.block for sample in plan.samples} for plan in forth] == [{0}, {1}, {2}] * 2
    trials = [{sample.trial for sample in plan.samples} for plan in forth[:3]]
    assert not trials[0] & trials[1] | trials[1] & trials[2] | trials[0] & trials[2]


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    option=st.sampled_from([option for option in FAMILY if option not in ("aggregation", "niah_multikey")]),
    more=st.integers(300, 2_000),
    depth=st.floats(0.05, 0.35),
)
def test_another_length_depth_or_block_changes_no_other_sample(option: str, more: int, depth: float) -> None:
    few = shipped(option, lengths=[500], depths=[0.0, 0.4])
    many = shipped(option, lengths=sorted({500, more}), depths=[0.0, depth, 0.4])
    alone = {replace(sample, block=None) for sample in blocks_of(few).block(500, 1).samples}
    among = {replace(sample, block=None) for sample in blocks_of(many).block(500, 1).samples}
    assert alone <= among


@pytest.mark.parametrize("option", PLANTED)
def test_a_sample_begins_at_a_sentence_and_goes_round_its_text(option: str) -> None:
    task = shipped(option, lengths=[1_500], **few_depths(option))
    blocks = blocks_of(task, FINITE[0])
    samples = [sample for index in range(6) for sample in blocks.block(1_500, index).samples]
    document = FINITE[0].text
    assert {begins(sample) for sample in samples} <= set(sentence_starts(document))
    assert len({begins(sample) for sample in samples}) > len(samples) / 10
    round_once = f"{document}\n\n{document}"
    rounded = 0
    for sample in samples:
        text = text_of(sample)
        assert round_once[begins(sample) :].startswith(text)
        rounded += begins(sample) + len(text) > len(document)
    assert rounded > 0


def test_a_text_that_was_gone_round_is_whole_in_the_prompt() -> None:
    task = niah(lengths=[1_500], depths=[0.5])
    blocks = blocks_of(task, FINITE[0])
    samples = [sample for index in range(20) for sample in blocks.block(1_500, index).samples]
    sample = next(item for item in samples if begins(item) > len(FINITE[0].text) - 3_000)
    hidden = [piece.text for piece in sample.recipe.user[1:-1] if isinstance(piece, Words) and piece.text.strip()]
    whole = prompt(sample, *FINITE).user
    assert len(hidden) == 1
    assert whole.count(hidden[0]) == 1
    before, after = sample.recipe.user[0], sample.recipe.user[-1]
    assert isinstance(before, Words)
    assert isinstance(after, Words)
    inside = whole.removeprefix(before.text).removesuffix(after.text).replace(hidden[0], "")
    assert f"{FINITE[0].text}\n\n{FINITE[0].text}"[begins(sample) :].startswith(inside)
    assert "\n\n" + FINITE[0].text[:200] in inside


def test_where_contexts_of_an_endless_text_begin_does_not_depend_on_the_longest_length() -> None:
    def begin(*lengths: int) -> list[int]:
        task = niah(lengths=lengths, depths=[0.0, 0.5])
        tokens = task.text_tokens(ContextBudget(context_window=32_768, answer_tokens=48))
        (document,) = Synthetic().corpus(tokens=tokens, seed=1).documents
        blocks = blocks_of(task, document, context_budget=ContextBudget(context_window=32_768, answer_tokens=48))
        return [begins(sample) for index in range(5) for sample in blocks.block(500, index).samples]

    assert begin(500) == begin(500, 8_000)


def test_documents_shorter_than_the_length_are_not_drawn_and_all_others_are() -> None:
    short = replace(FINITE[0], document_id="short", text=FINITE[0].text[:3_000])
    task = niah(lengths=[300, 1_500], depths=[0.5])
    blocks = blocks_of(task, short, *FINITE[1:4])
    drawn = {
        length: {sample.document_id for index in range(60) for sample in blocks.block(length, index).samples}
        for length in (300, 1_500)
    }
    whole = {document.document_id for document in FINITE[1:4]}
    assert drawn == {300: {"short", *whole}, 1_500: whole}


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(length=st.integers(200, 2_500), depth=st.floats(0.0, 1.0), option=st.sampled_from(["niah", "tracing"]))
def test_a_prompt_is_never_longer_than_asked_wherever_it_begins(length: int, depth: float, option: str) -> None:
    task = shipped(option, lengths=[length], depths=[depth])
    for sample in blocks_of(task).block(length, 0).samples:
        counted = WordTokenizer().count_prompt(prompt(sample, *FINITE))
        assert counted <= length
        assert abs(counted - sample.built_tokens) <= 2


def test_a_block_of_tracing_has_each_distance_equally_often() -> None:
    task = shipped("tracing", lengths=[2_000], distances=[0.02, 0.3], depths=[0.0, 0.2, 0.4])
    for index in range(3):
        samples = blocks_of(task).block(2_000, index).samples
        far = Counter(int(sample.metadata["evidence_distance_tokens"]) > 300 for sample in samples)
        assert far == {False: 3, True: 3}


@pytest.mark.parametrize("option", PLANTED)
def test_with_several_haystacks_a_block_is_a_haystack_and_as_many_pieces_of_evidence(option: str) -> None:
    task = shipped(option, lengths=[600], haystacks=4, **few_depths(option))
    blocks = blocks_of(task, *FINITE[:4])
    clusters = [{sample.cluster for sample in blocks.block(600, i).samples} for i in range(task.most_blocks)]
    assert all(len(block) == task.block_evidence for block in clusters)
    assert sum(map(len, clusters)) == len(set().union(*clusters)) == 4


def test_a_block_of_a_packed_context_is_one_context() -> None:
    task = shipped("niah_multikey", lengths=[900])
    assert (task.block_samples, task.block_evidence) == (5, 1)
    samples = blocks_of(task).block(900, 3).samples
    assert len({begins(sample) for sample in samples}) == len({sample.cluster for sample in samples}) == 1
    assert len({sample.question for sample in samples}) == 5


def test_a_search_of_repeat_asks_each_list_of_a_length_and_depth_once() -> None:
    task = shipped("repeat", lengths=[300])
    assert task.most_blocks == len(task.pairs) == 24
    words = [word.casefold() for pair in task.pairs for word in (pair.common, pair.odd)]
    assert len(set(words)) == len(words)
    blocks = blocks_of(task)
    for depth in task.places:
        asked = [s.answers for i in range(task.most_blocks) for s in blocks.block(300, i).samples if s.depth == depth]
        assert len(set(asked)) == len(asked) == 24


@pytest.mark.parametrize("option", OPTIONS)
def test_a_fixed_number_of_trials_is_the_beginning_of_a_search(option: str) -> None:
    fixed = built(shipped(option, lengths=[500], trials=4, **few_depths(option)), *FINITE).samples
    blocks = blocks_of(shipped(option, lengths=[500], **few_depths(option)))
    searched = [sample for index in range(4) for sample in blocks.block(500, index).samples]
    assert {sample.block for sample in fixed} == {None}
    assert set(fixed) <= {replace(sample, block=None) for sample in searched}


PROMPTS = {
    "niah": ("2ead07146a82aa5d", "3c10a426c6327af0"),
    "niah_static": ("9ca88ce11fdf2903", "dd9f9e70ad94e602"),
    "niah_static_ja": ("76adbc18ddfe54e9", "f78af88af73bb043"),
    "niah_multi": ("06e72ac1210b6238", "2a53ca52fa4d6fea"),
    "niah_multi_static": ("edf69522a94aa16d", "eaf7e856d9969805"),
    "niah_multikey": ("3e2d18ffb3183fae", "e813aacf6c95b348"),
    "niah_semantic": ("81430f07d041bdd8", "0e7960d718da70ff"),
    "tracing": ("418c71db0a0aa0c6", "1763dd60e08794d9"),
    "aggregation": ("fcf167b761635fbc", "f6bda8501edf4f12"),
}
"""Digests of names and prompts with 1 haystack and with 3: another one orphans the answers that people have stored."""


@pytest.mark.parametrize(("option", "digests"), PROMPTS.items(), ids=PROMPTS)
def test_a_fixed_design_goes_on_asking_the_same_prompts(option: str, digests: tuple[str, str]) -> None:
    depths = {} if option == "aggregation" else {"depths": [0.0, 0.5, 1.0]}
    for haystacks, digest in zip((1, 3), digests, strict=True):
        task = shipped(option, lengths=[256, 512], trials=4, haystacks=haystacks, **depths)
        prompts = sorted((s.sample_id, render(s.recipe, BY_ID).sha256) for s in built(task, *TEXTS).samples)
        assert hashlib.sha256(json.dumps(prompts).encode()).hexdigest()[:16] == digest
