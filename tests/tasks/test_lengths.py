"""The lengths of a task: those that a window and the texts hold, those that are given, and the size that meets one.
Which texts a task of prose takes: one that is chosen, and never the words of a question set."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.datasets.documents import Documents
from contextcliff.datasets.essays import Essays
from contextcliff.datasets.stories import Stories
from contextcliff.datasets.synthetic import Synthetic
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document
from contextcliff.records.sample import Passage
from contextcliff.tasks.grid import fit
from contextcliff.tasks.task import ContextBudget, Materials, one_text, several_texts
from tests.compositions import line_of
from tests.tasks.made_tasks import materials, shipped
from tests.tasks.needles import TEXT, build, niah

WORDS = "The cat sat on the mat by the door. "
LENGTHS = (4_096, 8_192, 16_384, 32_768, 65_536, 131_072)


def room(window: int, **changes: Any) -> ContextBudget:
    return ContextBudget(context_window=window, answer_tokens=32, **changes)


@pytest.mark.parametrize(
    ("option", "window", "lengths"),
    [
        ("niah", 8_192, (512, 1_024, 2_048, 4_096, 7_992)),
        ("niah", 4_300, (512, 1_024, 2_048, 4_100)),
        ("niah", 600, (400,)),
        ("mrcr", 8_192, (1_024, 2_048, 4_096, 7_936)),
        ("repeat", 2_048, (256, 512, 960)),
    ],
)
def test_they_double_up_to_what_the_window_holds_beside_the_answer(
    option: str, window: int, lengths: tuple[int, ...]
) -> None:
    task = shipped(option)
    assert task.lengths_in(room(window)) == lengths
    assert task.longest_context(room(window)) == lengths[-1]


def test_a_model_may_have_fewer_of_them_and_a_text_may_end_them() -> None:
    assert niah().lengths_in(room(8_192, most_lengths=3)) == (512, 1_024, 2_048)
    ended = room(32_768, text_tokens=9_000)
    assert niah().lengths_in(ended) == (512, 1_024, 2_048, 4_096, 8_192, 9_000)
    assert niah().length_notes(ended) == (
        "the texts hold 9,000 tokens, and the lengths end there; give more text for longer ones",
    )
    assert niah().length_notes(room(32_768)) == ()


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"lengths": (700, 900)}, (700, 900)),
        ({"length_fractions": (0.1, 0.2)}, (819, 1_638)),
        ({"length_grid": {"min": 700, "max": 900, "count": 2}}, (700, 900)),
    ],
)
def test_lengths_that_are_given_are_asked_whatever_ends_the_others(
    given: dict[str, Any], asked: tuple[int, ...]
) -> None:
    task = niah(**given)
    assert task.traits.lengths_given
    assert task.lengths_in(room(8_192, most_lengths=1, text_tokens=600)) == asked
    assert "shortest" not in task.identity()


def test_one_that_leaves_no_room_for_the_answer_or_for_text_is_refused() -> None:
    assert niah(lengths=[7_900]).longest_context(room(8_192)) == 7_900
    with pytest.raises(ConfigError, match="the longest that fits is 7,168"):
        niah(lengths=[7_900]).longest_context(ContextBudget(context_window=8_192, answer_tokens=1_024))
    with pytest.raises(ConfigError, match=r"task.lengths: 50 is too short: .* takes \d+ tokens"):
        build(niah(lengths=[50]))


def of_text(text: str, *, window: int, **about: str) -> Materials:
    document = Document(document_id="own", title="own", text=text, **about)  # type: ignore[arg-type]
    return replace(materials(Corpus(documents=(document,))), context_budget=room(window))


@pytest.mark.parametrize("haystacks", ["fresh", 1])
def test_generated_prose_stands_in_where_the_text_is_too_short(haystacks: str | int) -> None:
    own = of_text(WORDS * 200, window=4_096)
    filler = Synthetic().corpus(tokens=40_000, seed=0).documents
    keys = {"trials": 1, "depths": (0.5,), "haystacks": haystacks}
    plan = niah(**keys).build(replace(own, corpus=replace(own.corpus, filler=filler)))
    cut_from = {
        sample.context_tokens: {piece.document_id for piece in sample.recipe.user if isinstance(piece, Passage)}
        for sample in plan.samples
    }
    texts = {"own"}, {filler[0].document_id}
    assert cut_from == {512: texts[0], 1_024: texts[0], 2_048: texts[1], 3_896: texts[1]}
    assert plan.notes == ("the text holds 2,001 tokens: from 2,048 on the prompts are of generated prose",)
    assert plan.samples[0] == niah(**keys, lengths=(512,)).build(own).samples[0]


def test_a_text_that_no_prose_can_stand_in_for_ends_the_lengths() -> None:
    japanese = of_text("これは短い文である。" * 100, window=4_096, language="ja")
    assert shipped("niah").text_holds(japanese) == 1_000
    assert shipped("mrcr").text_holds(japanese) == 3_425_280


@pytest.mark.parametrize(
    ("window", "asked"),
    [
        (200_000, LENGTHS),
        (131_072, (*LENGTHS[:-1], 130_872)),
        (40_960, LENGTHS[:4]),
        (8_192, (4_096, 7_992)),
        (4_300, (4_096,)),
    ],
)
def test_of_those_beyond_a_models_window_the_longest_that_fits_stands_for_its_own(
    window: int, asked: tuple[int, ...]
) -> None:
    task, fitting = niah(lengths=LENGTHS), room(window, fits_lengths=True)
    assert task.lengths_in(fitting) == asked
    assert task.longest_context(fitting) == asked[-1]


def test_what_was_shortened_and_what_was_left_out_is_noted_and_where_none_fits_what_does() -> None:
    task = niah(lengths=LENGTHS)
    assert task.length_notes(room(65_536, fits_lengths=True)) == (
        "asked at 65,336 tokens in the place of 65,536, which with its answer is more than the window of 65,536",
        "left out, since the window of 65,536 can't hold them: 131,072",
    )
    assert task.length_notes(room(200_000, fits_lengths=True)) == ()
    with pytest.raises(ConfigError) as refused:
        task.lengths_in(room(2_048, fits_lengths=True))
    assert str(refused.value) == (
        "task.lengths: none of 4,096, 8,192, 16,384, 32,768, 65,536, 131,072 fits into model.context_window=2,048; the "
        "longest that fits is 1,848"
    )


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=400),
    st.integers(1, 3_000),
    st.integers(0, 9_000),
    st.integers(0, 9),
)
def test_the_largest_size_within_the_budget_is_found(steps: list[int], frame: int, budget: int, near: int) -> None:
    tokens = [frame + sum(steps[:size]) for size in range(len(steps) + 1)]
    asked: list[int] = []

    def tokens_of(size: int) -> int:
        asked.append(size)
        return tokens[size]

    if frame > budget:
        with pytest.raises(ConfigError, match=rf"task.lengths: {budget:,} is too short: .* takes {frame:,} tokens.*x"):
            fit(tokens_of, budget, least=0, most=len(steps), lower="x")
        return
    size = fit(tokens_of, budget, least=0, most=len(steps), near=near)
    assert tokens[size] <= budget
    assert size == len(steps) or tokens[size + 1] > budget or tokens[size] >= budget - near
    assert len(asked) <= 30


NOVELS = tuple(Document(document_id=name, title=name, text=TEXT.text) for name in ("emma.txt", "persuasion.txt"))


def novels(folder: Path) -> Path:
    (folder / "novels").mkdir()
    for name in ("emma", "persuasion"):
        (folder / "novels" / f"{name}.txt").write_text(f"{TEXT.text}\n\nThe end of {name}.", encoding="utf-8")
    return folder / "novels"


def test_a_folder_of_novels_is_refused_with_their_names_and_the_way_out() -> None:
    with pytest.raises(ConfigError) as raised:
        one_text(Corpus(documents=NOVELS), task="continuation")
    assert str(raised.value) == (
        "dataset: holds 2 texts (emma.txt, persuasion.txt), and task=continuation goes on with one; choose it with "
        "dataset=essays dataset.path=FILE, or list the files of one long text in order, dataset.paths=[FILE,FILE]"
    )


def test_one_novel_in_a_folder_is_taken_and_files_that_are_listed_are_one_text(tmp_path: Path) -> None:
    folder = novels(tmp_path)
    listed = tuple(str(folder / f"{name}.txt") for name in ("persuasion", "emma"))
    assert one_text(Essays(paths=listed).corpus(tokens=1, seed=0), task="continuation").title == "persuasion, emma"
    (folder / "emma.txt").unlink()
    for dataset in (Essays(path=str(folder)), Documents(path=str(folder))):
        assert one_text(dataset.corpus(tokens=1, seed=0), task="continuation").title.startswith("persuasion")


def test_more_haystacks_than_texts_are_refused() -> None:
    with pytest.raises(ConfigError) as raised:
        several_texts(Corpus(documents=NOVELS), task="niah", count=5)
    assert str(raised.value) == (
        "task.haystacks=5: the dataset has 2 texts; ask for no more, or take dataset=essays, which joins them and "
        "begins anywhere"
    )


@pytest.mark.parametrize("task", ["continuation", "niah"])
def test_a_question_set_is_no_prose(task: str) -> None:
    corpus = Stories().corpus(tokens=1, seed=0)
    expected = (
        f"dataset: this one has {len(corpus.questions)} questions on {len(corpus.documents)} texts, and task={task} "
        "asks none of them; take task=qa, or a dataset of prose: essays, documents without questions, synthetic"
    )
    assert line_of(f"task={task}", "dataset=stories", "engine=simulated", "action=plan") == expected


NO_PROSE = "and no prose; give a text, or ask the questions of a JSON Lines or Parquet file with dataset=jsonl task=qa"


@pytest.mark.parametrize(
    ("name", "data"), [("q.jsonl", '{"question": "Who?"}'), ("q.csv", "question,answers"), ("q.parquet", "PAR1\0")]
)
def test_a_file_of_questions_is_no_novel(tmp_path: Path, name: str, data: str) -> None:
    file = tmp_path / name
    file.write_text(data, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        Essays(path=str(file)).corpus(tokens=1, seed=0)
    assert str(raised.value) == f"dataset.path: {file} holds rows {NO_PROSE}"


@pytest.mark.parametrize("text", ["[Illustration]\n\nIt rained.", "{sic} It rained.", "[1] It rained.", '"Yes."'])
def test_prose_may_begin_with_a_bracket(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    assert Essays(path=str(tmp_path / "a.txt")).corpus(tokens=1, seed=0).documents[0].text == f"{text}\n"
