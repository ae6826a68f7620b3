"""What holds of every task as it is shipped. `tests/golden/test_prompts.py` has what each of them asks."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import fields, replace
from functools import cache
from itertools import islice, product
from string import Formatter
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from contextcliff.composing import conf_dir
from contextcliff.records.corpus import Document
from contextcliff.records.note import Note
from contextcliff.records.sample import Sample, render
from contextcliff.reporting.text import catalogue
from contextcliff.tasks.grid import DesignedLengths
from contextcliff.tasks.task import ContextBudget, Materials, ScoringContext, Task, TaskPlan, draws
from contextcliff.text.tokenizers import WordTokenizer
from tests import compositions
from tests.make import known
from tests.tasks import made_tasks
from tests.tasks.needles import ALIKE, RULER, said

ALL = sorted(file.stem for file in (conf_dir() / "task").glob("*.yaml"))
ROOM = ContextBudget(context_window=16_384, answer_tokens=48)
SMALL = {
    **{"lengths": (1_024, 2_048), "depths": (0.25, 0.75), "trials": 2, "repeats": 2, "rounds": 2},
    **{"samples_per_bin": 4, "min_samples": 1, "max_tokens": 128},
}
LONGER = {"mrcr": {"lengths": (2_048, 4_096), "max_tokens": 1_024}}


@cache
def shipped(option: str) -> tuple[Task, Materials, dict[str, Document]]:
    """A task at few lengths and depths, with its dataset, and the documents of this."""
    invocation = compositions.built(*compositions.without_hub(option), "engine=simulated")
    task = changed(invocation.task, **{**SMALL, **LONGER.get(option, {})})
    corpus = invocation.dataset.corpus(tokens=task.text_tokens(ROOM), seed=0, count=task.traits.texts)
    materials = Materials(
        corpus=corpus, tokenizer=WordTokenizer(), context_budget=ROOM, seed=0, text_identity="text", bins=2
    )
    return task, materials, {document.document_id: document for document in corpus.documents}


def changed(task: Task, **values: Any) -> Task:
    """The task with other values of the keys that it has."""
    known = {field.name for field in fields(task)}
    return replace(task, **{key: value for key, value in values.items() if key in known})


@cache
def built(option: str, *, seed: int = 0, **values: Any) -> TaskPlan:
    task, materials, _ = shipped(option)
    return changed(task, **values).build(replace(materials, seed=seed))


def options(*, without: tuple[str, ...] = ()) -> list[Any]:
    """The options of a test; those that are another task's with other words are slow: the golden prompts have them."""
    slow = {*ALIKE, *RULER, "ruler_qa_1", "ruler_qa_2"}
    return [
        pytest.param(option, marks=[pytest.mark.slow] * (option in slow)) for option in ALL if option not in without
    ]


OPTIONS = options()
CONTROLLED = options(without=("continuation",))
DESIGNED = options(without=("continuation", "qa"))
"""Named here, since to compose every option takes each of pytest's workers seconds before its first test."""


CLAIMED = {
    "niah": "In a needle test the model finds S hidden facts in prompts of L",
    "aggregation": "In a counting test the model answers S questions right in prompts of L",
    "babilong_qa1": "In a test of scattered facts the model answers S questions right in prompts of L",
    "tracing": "In a tracing test the model follows S variables in prompts of L",
    "qa": "In a test of questions the model answers S questions right in prompts of L",
    "ruler_cwe": "In a test of word lists the model names S words asked for in prompts of L",
    "repeat": "In a copying test the model earns S points in prompts of L",
    "mrcr": "In a test of conversations the model earns S points in prompts of L",
    "graphwalks": "In a graph test the model earns S points in prompts of L",
    "continuation": "In a writing test the model keeps S rounds healthy in prompts of L",
}


def test_every_task_has_a_sentence_for_what_it_asks_in_two_languages() -> None:
    said = {}
    for option in ALL:
        claim = made_tasks.shipped(option).claim_by(())
        words = {"whether": "", "share": "S", "lengths": "L"}
        english, japanese = str(Note(claim.template, **words)), Note(claim.template, **words).said(catalogue("ja"))
        assert set(words) == set(claim_fields(claim.template)) == set(claim_fields(catalogue("ja")[claim.template]))
        assert english != japanese
        said[option] = english
    assert {option: said[option] for option in CLAIMED} == CLAIMED
    assert set(said.values()) == set(CLAIMED.values())
    assert made_tasks.shipped("qa").claim_by(("contains", "f1")).template.count("earns {share} points") == 1


def claim_fields(template: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(template) if name]


def test_options_are_told_apart_as_their_classes_are() -> None:
    tasks = {option: made_tasks.shipped(option) for option in ALL}
    assert [option for option in ALL if not hasattr(tasks[option], "controls")] == ["continuation"]
    assert [name for name in ALL if not isinstance(tasks[name], DesignedLengths)] == ["continuation", "qa"]


@pytest.mark.parametrize("option", OPTIONS)
def test_a_prompt_is_as_long_as_asked_and_its_tokens_are_counted(option: str) -> None:
    samples = built(option).samples
    assert len({sample.sample_id for sample in samples}) == len(samples)
    for sample in samples:
        counted = WordTokenizer().count_prompt(render(sample.recipe, shipped(option)[2]))
        assert abs(counted - sample.built_tokens) <= 3
        assert counted <= (sample.context_tokens if option != "qa" else ROOM.context_window)
        if isinstance(shipped(option)[0], DesignedLengths):
            assert sample.context_tokens - counted <= max(16, sample.context_tokens // 100)


@pytest.mark.parametrize("option", OPTIONS)
def test_a_perfect_answer_scores_1_and_a_wrong_or_empty_one_0_with_a_tag(option: str) -> None:
    task, _, documents = shipped(option)
    for sample in built(option).samples:
        context = ScoringContext(document=documents.get(sample.document_id))

        def score(answer: str, sample: Sample = sample, context: ScoringContext = context) -> tuple[float, str | None]:
            found = task.score(sample, said(answer), context)
            return known(found.value), found.failure

        assert score(" \n") == score("") == (0.0, "empty")
        if task.traits.has_references:
            assert score(sample.reference.reply or "; ".join(sample.answers)) == (1.0, None)
            value, tag = score("xyzzy plugh")
            assert value == 0.0
            assert tag is not None
            assert all(score(wrong)[0] < 0.5 for wrong in sample.reference.distractors)


@pytest.mark.slow
@pytest.mark.parametrize("option", CONTROLLED)  # prose is measured
def test_the_time_of_a_score_grows_with_the_answer_and_not_with_its_square(option: str) -> None:
    task, _, documents = shipped(option)
    sample = built(option).samples[0]
    context = ScoringContext(document=documents.get(sample.document_id))
    right = sample.reference.reply or (sample.answers[0] if sample.answers else "said")
    ends = (", ", "か")
    pieces = ("\n", "1 ", "1'234 ", "犬", "\u200b", '{"', "Final Answer: [", *(right[:32] + end for end in ends))
    began = process_time()
    for piece, characters in product(pieces, (30_000, 300_000)):
        task.score(sample, said((piece * characters)[:characters] + "x"), context)
    # To read an answer again at each of its blanks or commas takes minutes here, to read it once a tenth of a second.
    assert process_time() - began < 30


@pytest.mark.parametrize("option", OPTIONS)
def test_the_same_seed_makes_the_same_samples_and_another_seed_others(option: str) -> None:
    task, materials, _ = shipped(option)
    assert task.build(materials) == built(option)
    others = set(built(option, seed=1).samples)
    assert others.isdisjoint(built(option).samples) or (option == "qa" and others != set(built(option).samples))


@pytest.mark.parametrize("option", DESIGNED)
def test_another_length_or_trial_changes_no_other_sample(option: str) -> None:
    few = built(option, lengths=shipped(option)[0].lengths[:1], trials=1)  # type: ignore[attr-defined]
    assert set(few.samples) < set(built(option).samples)


@pytest.mark.parametrize("option", DESIGNED)
def test_the_samples_of_a_search_are_those_of_the_grid_whenever_they_are_made(option: str) -> None:
    task, materials, _ = shipped(option)
    searched: Any = changed(task, trials="auto")
    length = searched.lengths[0]
    forth, back = searched.steps(materials), searched.steps(materials)
    plans = [forth.step(length, index) for index in range(4)]
    assert [plan.samples for plan in plans] == [back.step(length, index).samples for index in (3, 2, 1, 0)][::-1]
    assert [{sample.step for sample in plan.samples} for plan in plans] == [{0}, {1}, {2}, {3}]
    samples = [replace(sample, step=None) for plan in plans for sample in plan.samples]
    fixed = built(option, lengths=(length,), trials=1 + max(sample.trial for sample in samples)).samples
    assert {sample.sample_id: sample.recipe for sample in samples}.items() <= {
        sample.sample_id: sample.recipe for sample in fixed
    }.items()


@pytest.mark.parametrize("option", CONTROLLED)
def test_each_sample_has_a_ceiling_and_a_floor_that_ask_the_same(option: str) -> None:
    plan = built(option, controls=True)
    controls = {control.sample_id: control for control in plan.controls}
    assert len(controls) == len(plan.controls)
    assert {replace(sample, controls=()) for sample in plan.samples} == set(built(option).samples)
    for sample in plan.samples:
        ceiling, floor = (controls[name] for name in sample.controls)
        assert {ceiling.control, floor.control} == {"ceiling", "floor"}
        assert min(ceiling.built_tokens, floor.built_tokens) < sample.built_tokens
        if option != "repeat":  # which copies a shorter list
            assert ceiling.answers == floor.answers == sample.answers
            assert sample.question in (ceiling.question, floor.question)


SIZES = {"places": st.integers(1, 60), "turns": st.integers(1, 6)}


@given(**SIZES, more=st.integers(0, 40))
def test_the_samples_of_a_length_stay_those_that_they_are_when_more_are_asked(
    places: int, turns: int, more: int
) -> None:
    few = list(islice(draws(7, "niah", 4096, places=places, turns=turns), 40))
    many = list(islice(draws(7, "niah", 4096, places=places, turns=turns), 40 + more))
    assert many[:40] == few
    assert len({*many}) == len(many)


@given(**SIZES)
def test_trials_of_a_place_and_a_kind_are_used_from_the_first_on(places: int, turns: int) -> None:
    trials = defaultdict(list)
    for place, trial in islice(draws(7, "niah", 4096, places=places, turns=turns), 200):
        assert 0 <= place < places
        trials[place, trial % turns].append(trial // turns)
    assert all(used == list(range(len(used))) for used in trials.values())


def test_every_sample_falls_on_each_place_and_kind_alike_whatever_came_before() -> None:
    drawn = [list(islice(draws(seed, "niah", 4096, places=5, turns=2), 3)) for seed in range(2_000)]
    for number in range(3):
        counts = Counter((row[number][0], row[number][1] % 2) for row in drawn)
        assert stats.chisquare([counts[place, turn] for place in range(5) for turn in range(2)]).pvalue > 1e-4
    repeated = sum(row[0][0] == row[1][0] for row in drawn)
    assert stats.binomtest(repeated, 2_000, 1 / 5).pvalue > 1e-4


def test_seeds_tasks_and_lengths_have_draws_of_their_own() -> None:
    coordinates = [(0, "niah", 4096), (1, "niah", 4096), (0, "tracing", 4096), (0, "niah", 8192)]
    assert len({tuple(islice(draws(*each, places=11), 20)) for each in coordinates}) == len(coordinates)
