"""What holds for every task of the needle family, as it is shipped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from contextcliff.records.corpus import Document
from contextcliff.records.sample import Passage, Words
from contextcliff.tasks.needles.haystack import prepare
from contextcliff.tasks.needles.planting import Planter
from contextcliff.tasks.task import ScoringContext
from contextcliff.text.sentences import sentence_starts
from contextcliff.text.tokenizers import WordTokenizer
from tests.tasks.made_tasks import shipped
from tests.tasks.needles import OPTIONS, ROOM, TEXT, TEXTS, built, materials, prompt, said

LENGTHS = (400, 1_500)
HIDING = [option for option in OPTIONS if option != "repeat"]


def small(option: str, **changes: Any) -> Any:
    depths = {} if option == "aggregation" else {"depths": (0.0, 0.5, 1.0) if option != "niah_multi" else (0.0, 0.4)}
    return shipped(option, **{"lengths": LENGTHS, "trials": 2, **depths, **changes})


@pytest.mark.parametrize("option", HIDING)
def test_what_is_hidden_stands_between_two_sentences_of_the_text(option: str) -> None:
    starts = set(sentence_starts(TEXT.text))
    for sample in built(small(option, haystacks=1)).samples:
        stretches = [piece for piece in sample.recipe.user if isinstance(piece, Passage)]
        assert [piece.start for piece in stretches] == [0, *(piece.end for piece in stretches[:-1])]
        assert {piece.end for piece in stretches[:-1]} <= starts


@pytest.mark.parametrize("option", OPTIONS)
def test_needles_stand_at_their_depths_in_prose(option: str) -> None:
    first = replace(ROOM, most_lengths=3)
    assert not [note for note in built(shipped(option), context_budget=first).notes if "from its depth" in note]


STRETCH = "tide ledger harbour lamp over the wall and on " * 600
SPARSE = replace(TEXT, text=f"{TEXT.text[:1_500].rsplit('. ', 1)[0]}. {STRETCH}. {TEXT.text}")


def test_notes_count_the_samples_that_they_are_asked_about_and_not_those_that_were_built() -> None:
    depths = {"depths": (0.0, 0.25, 0.5, 0.75, 1.0)}
    blocks = small("niah", lengths=(4_000,), trials="auto", haystacks=1, **depths).blocks(materials(SPARSE))
    first, _ = blocks.block(4_000, 0), blocks.block(4_000, 1)
    notes = blocks.maker.notes({sample.sample_id for sample in first.samples})
    assert notes[-1].startswith("3 of 5 samples have a needle more than 0.25")


def test_needles_that_few_sentences_keep_from_their_depth_are_told() -> None:
    found = built(small("niah", lengths=(4_000,), depths=(0.0, 0.25, 0.5, 0.75, 1.0), trials=1, haystacks=1), SPARSE)
    assert found.notes[-1] == (
        "3 of 5 samples have a needle more than 0.25 of the text from its depth (the farthest 0.93), since needles go "
        "in where a sentence begins and few begin there; take another text, or longer contexts"
    )


@pytest.mark.parametrize("option", HIDING)
def test_controls_have_the_evidence_alone_and_the_text_without_it(option: str) -> None:
    run = built(small(option, controls=True))
    by_id = {control.sample_id: control for control in run.controls}
    for sample in run.samples:
        ceiling, floor = (by_id[name] for name in sample.controls)
        assert not [piece for piece in ceiling.recipe.user if isinstance(piece, Passage)]
        hidden = [piece.text for piece in sample.recipe.user[1:-1] if isinstance(piece, Words)]
        assert not any(text.strip() in prompt(floor).user for text in hidden if text.strip())
        if option not in ("aggregation", "niah_static_ja"):
            assert all(answer in prompt(ceiling).user for answer in sample.answers)


@pytest.mark.parametrize("option", HIDING)
def test_several_haystacks_are_the_clusters_of_the_samples(option: str) -> None:
    samples = built(small(option, haystacks=4, trials=8)).samples
    assert {sample.cluster for sample in samples} == {document.document_id for document in TEXTS[:4]}
    for length in LENGTHS:
        sizes = [
            sum(s.cluster == document.document_id and s.context_tokens == length for s in samples)
            for document in TEXTS[:4]
        ]
        assert max(sizes) - min(sizes) == 0
    assert all(sample.cluster == sample.document_id for sample in samples)


def test_a_japanese_needle_goes_in_after_a_japanese_full_stop() -> None:
    text = "それは遠い星の夜でした。駅には誰もいません。汽車の音だけが野原に響いています。\n\n" * 200
    document = Document(document_id="ja", title="ja", text=text, language="ja")
    task = small("niah_static_ja", haystacks=1)
    for sample in built(task, document).samples:
        before, _ = (piece for piece in sample.recipe.user if isinstance(piece, Passage))
        assert before.end == 0 or text[: before.end].rstrip().endswith("。")
        assert "隠している。 " not in prompt(sample, document).user
        assert task.score(sample, said("銅の水差しの底に隠しています。"), ScoringContext()).value == 1.0
        assert task.score(sample, said("水差しの中です。"), ScoringContext()).value == 0.0


@pytest.mark.parametrize(
    ("redrawn", "said"),
    [
        (0, ()),
        (1, ("1 needle was drawn again, since the text held its words already",)),
        (3, ("3 needles were drawn again, since the text held their words already",)),
    ],
)
def test_needles_that_were_drawn_again_are_counted(redrawn: int, said: tuple[str, ...]) -> None:
    planter = Planter(
        task=small("niah"),
        materials=materials(TEXT),
        haystacks=[prepare(TEXT, tokens=100, tokenizer=WordTokenizer())],
        asked="",
        redrawn={"one": redrawn, "another": 9},
        off={"one": 0.0, "another": 0.0},
    )
    assert planter.notes({"one"}) == said
