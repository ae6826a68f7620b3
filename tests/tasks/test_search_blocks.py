"""The samples of a search: blocks that are the same whenever they are built, over text that begins anywhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from contextcliff.datasets.synthetic import Synthetic
from contextcliff.records.corpus import Corpus, Document
from contextcliff.records.sample import Passage, Sample, Words
from contextcliff.tasks.grid import DesignedLengths
from contextcliff.tasks.task import ContextBudget, Materials
from contextcliff.text.sentences import sentence_starts
from contextcliff.text.tokenizers import WordTokenizer
from tests.tasks.made_tasks import shipped
from tests.tasks.needles import OPTIONS, ROOM, TEXTS, niah, prompt

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


def test_a_search_of_repeat_asks_each_list_of_a_length_and_depth_once() -> None:
    task = shipped("repeat", lengths=[300])
    assert task.most_blocks == len(task.pairs) == 24
    words = [word.casefold() for pair in task.pairs for word in (pair.common, pair.odd)]
    assert len(set(words)) == len(words)
    blocks = blocks_of(task)
    for depth in task.places:
        asked = [s.answers for i in range(task.most_blocks) for s in blocks.block(300, i).samples if s.depth == depth]
        assert len(set(asked)) == len(asked) == 24
