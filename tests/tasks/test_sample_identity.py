"""Two prompts never have one `sample_id`, and one fingerprint never stands for two sets of prompts: for every key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from types import NoneType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from omegaconf import OmegaConf
from pydantic import TypeAdapter, ValidationError

from contextcliff.composing import conf_dir
from contextcliff.config import _class_at
from contextcliff.datasets.synthetic import Synthetic
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document, Question, Span
from contextcliff.records.sample import render
from contextcliff.seeding import digest_of
from contextcliff.tasks.task import ContextBudget, Materials, Task
from contextcliff.text.tokenizers import WordTokenizer

OPTIONS = sorted(file.stem for file in (conf_dir() / "task").glob("*.yaml"))
ROOM = ContextBudget(context_window=4_096, answer_tokens=48)
TEXTS = Synthetic().corpus(tokens=2_500, seed=1, count=9).documents
NEEDLE_TASKS = {"lengths": [512, 700], "trials": 2, "controls": True}
SMALL: dict[str, dict[str, Any]] = {
    "ruler_niah_multikey_3": {**NEEDLE_TASKS, "depths": [0.0, 0.5, 1.0]},
    "qa": {"samples_per_bin": 4, "min_samples": 1},
    "continuation": {"max_tokens": 64, "start_context": 256, "max_context": 1024, "rounds": 2},
    "mrcr": {"lengths": [2_048, 2_200], "trials": 2, "controls": True},
    **{option: {"lengths": [700, 900], "trials": 2, "controls": True} for option in ("ruler_cwe", "ruler_fwe")},
    **{
        option: {"lengths": [700, 900], "depths": [0.0, 0.5, 1.0], "trials": 2, "controls": True}
        for option in ("qa_distractors", "ruler_qa_1", "ruler_qa_2")
    },
}
OTHER: dict[str, Any] = {
    "metric": "em", "levels": [1], "max_context_tokens": 900, "word_list": None, "max_context": 512,
    "length_grid": {"min": 600, "max": 800, "count": 2, "spacing": "log"},
    "depth_grid": {"min": 0.1, "max": 0.9, "count": 2, "spacing": "sigmoid"},
    "length_fractions": [0.2, 0.21], "distances": [0.1], "topics": ["food"], "divisions": 2, "max_count": 9,
    "haystacks": 3, "resolution": 8, "like": "first", "alpha": 1.5,
}  # fmt: skip
"""Other values of keys whose kind does not tell one."""
LONGER = {"length_grid": {"min": 2_100, "max": 2_300, "count": 2, "spacing": "log"}, "length_fractions": [0.6, 0.61]}
OTHER_OF: dict[str, dict[str, Any]] = {"mrcr": LONGER}
"""Those of tasks that need more room."""


def values_of(option: str) -> dict[str, Any]:
    values: Any = OmegaConf.to_container(OmegaConf.load(conf_dir() / "task" / f"{option}.yaml"))
    values.pop("defaults", None)
    return {**values, **SMALL.get(option, NEEDLE_TASKS)}


def questions() -> tuple[Question, ...]:
    def of(document: Document, position: int) -> Question:
        choices = ("a lamp", "a key", "a rope") if position % 2 else ()
        return Question(
            question_id=f"{document.document_id}-{position}",
            document_id=document.document_id,
            text=f"What is the thing numbered {position}?",
            answers=("a key",),
            kind="choice" if choices else "short",
            choices=choices,
            evidence=(Span(start=0, end=40),),
            level=1 + position % 2,
        )

    return tuple(of(document, position) for document in CORPUS_DOCUMENTS for position in range(4))


CORPUS_DOCUMENTS = tuple(
    Document(document_id=f"d{place}", title=f"d{place}", text=text.text[: 1_500 * (1 + place)], language="en")
    for place, text in enumerate(TEXTS[:4])
)
QUESTIONS, PROSE = Corpus(documents=CORPUS_DOCUMENTS, questions=questions()), Corpus(documents=TEXTS)
MATERIALS = {"qa": QUESTIONS, "qa_distractors": QUESTIONS, "continuation": Corpus(documents=TEXTS[:1])}


def prompts(task: Task) -> dict[str, str]:
    """The digest of every prompt, controls included, by `sample_id`."""
    corpus = MATERIALS.get(task.name, PROSE)
    built = task.build(
        Materials(corpus=corpus, tokenizer=WordTokenizer(), context_budget=ROOM, seed=0, text_identity="text", bins=2)
    )
    known = {document.document_id: document for document in corpus.documents}
    found: dict[str, str] = {}
    for sample in (*built.samples, *built.controls):
        digest = render(sample.recipe, known).sha256
        assert found.setdefault(sample.sample_id, digest) == digest
    return found


def made(values: Mapping[str, Any]) -> Task:
    values = {key: value for key, value in values.items() if key not in ("judge", "embedding")}
    cls = _class_at(values["_target_"], "task")
    task: Task = TypeAdapter(cls).validate_python({key: value for key, value in values.items() if key != "_target_"})
    return task


@cache
def shipped(option: str) -> tuple[Task, dict[str, str]]:
    task = made(values_of(option))
    return task, prompts(task)


def others(value: Any, kind: Any) -> Iterator[Any]:
    """Other values of a key: every other literal, another number, more words."""
    if get_origin(kind) is Union:
        yield from (other for inner in get_args(kind) if inner is not NoneType for other in others(value, inner))
    elif get_origin(kind) is Literal:
        yield from (other for other in get_args(kind) if other != value)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, max(1, value - 1))
    elif isinstance(value, float):
        yield value / 2
    elif isinstance(value, str):
        yield from (re.sub(r"^", "Now. ", value, count=1), f"{value} Now.")
    elif isinstance(value, list):
        yield from (value[:-1], [*value, *value[:1]])
        if value and isinstance(value[0], dict):
            yield [
                {**value[0], key: f"{said} Now."} if isinstance(said, str) else value[0]
                for key, said in value[0].items()
            ]


def varied(option: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every key of a task, and of its needle, with another value each."""
    values = values_of(option)
    kinds = get_type_hints(_class_at(values["_target_"], "task"))
    for key, value in values.items():
        if key == "_target_":
            continue
        if key == "needle":
            inner = get_type_hints(kinds[key])
            for name, said in value.items():
                for other in others(said, inner[name]):
                    yield f"{key}.{name}", {**values, key: {**value, name: other}}
            continue
        given = {**OTHER, **OTHER_OF.get(option, {})}
        for other in [given[key]] if key in given else others(value, kinds[key]):
            yield key, {**values, key: other}


ALIKE = (
    *("aggregation", "niah_multi", "niah_multi_static", "niah_multikey", "niah_semantic", "niah_static"),
    *("niah_static_ja", "tracing", "ruler_qa_1", "ruler_qa_2"),
    *(name for name in OPTIONS if name.startswith("ruler_niah") or name == "ruler_vt"),
)
"""Tasks that are built as `niah` or `qa_distractors` is."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "option", [pytest.param(name, marks=[pytest.mark.slow] if name in ALIKE else []) for name in OPTIONS]
)
def test_a_key_that_changes_a_prompt_changes_its_sample_id_and_the_fingerprint(option: str) -> None:
    task, before = shipped(option)
    built, refused = set(), set()
    for key, values in varied(option):
        try:
            other = made(values)
            after = prompts(other)
        except (ValidationError, ConfigError):
            refused.add(key)
            continue
        built.add(key)
        changed = [name for name in before.keys() & after.keys() if before[name] != after[name]]
        assert not changed, f"{key}: {changed[:2]} stand for two prompts"
        if before != after:
            assert digest_of(dict(task.identity())) != digest_of(dict(other.identity())), key
    # Every key was tried with a value that builds; a needle's kind and match need others beside them.
    assert refused - built <= {"needle.kind", "needle.match", "needle.keywords", "needle.answer"}
    assert built >= {field.name for field in fields(task)} - {"needle", "word_list", "pairs"}


def test_what_is_only_judged_or_kept_leaves_the_fingerprint() -> None:
    changes: dict[str, dict[str, Any]] = {
        "qa": {"metric": "em", "save_contexts": True, "like": "a-run"},
        "continuation": {"min_tokens_fraction": 0.2, "save_contexts": True, "like": "first"},
        "niah": {"save_contexts": True, "like": "first"},
    }
    for option, change in changes.items():
        task, _ = shipped(option)
        assert task.identity() == made({**values_of(option), **change}).identity()
