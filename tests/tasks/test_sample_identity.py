"""Two prompts never have one `sample_id`, and one fingerprint never stands for two sets of prompts: for every key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import TypeAdapter, ValidationError

from contextcliff.errors import ConfigError
from contextcliff.records.sample import render
from contextcliff.seeding import digest_of
from contextcliff.tasks.task import Task
from tests.tasks import made_tasks
from tests.tasks.test_every_task import ALL, changed, shipped

OTHER: dict[str, Any] = {
    "metric": "em", "levels": [1], "max_context_tokens": 900, "word_list": None, "max_context": 512,
    "length_grid": {"min": 2_100, "max": 2_300, "count": 2, "spacing": "log"},
    "depth_grid": {"min": 0.1, "max": 0.9, "count": 2, "spacing": "sigmoid"},
    "length_fractions": [0.14, 0.15], "distances": [0.1], "topics": ["food"], "divisions": 2, "max_count": 9,
    "haystacks": 1, "resolution": 8, "like": "first", "alpha": 1.5, "longest_pairs": 40,
}  # fmt: skip
"""Other values of keys whose kind does not tell one."""


def prompts(option: str, task: Task) -> dict[str, str]:
    """The digest of every prompt, controls included, by `sample_id`."""
    _, materials, documents = shipped(option)
    built, found = task.build(materials), dict[str, str]()
    for sample in (*built.samples, *built.controls):
        digest = render(sample.recipe, documents).sha256
        assert found.setdefault(sample.sample_id, digest) == digest
    return found


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
        if value and isinstance(value[0], int):
            yield [each + 1 for each in value]
        if value and isinstance(value[0], dict):
            yield [
                {**value[0], key: f"{said} Now."} if isinstance(said, str) else value[0]
                for key, said in value[0].items()
            ]


def varied(task: Task) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The values of a task with another one for a key or for one of its needle's, each key in turn."""
    values: dict[str, Any] = TypeAdapter(type(task)).dump_python(task, mode="json")
    kinds = get_type_hints(type(task))
    for key, value in values.items():
        if key == "needle":
            inner = get_type_hints(kinds[key])
            for name, said in value.items():
                for other in others(said, inner[name]):
                    yield f"{key}.{name}", {**values, key: {**value, name: other}}
        else:
            for other in [OTHER[key]] if key in OTHER else others(value, kinds[key]):
                yield key, {**values, key: other}


@pytest.mark.slow
@pytest.mark.parametrize("option", ALL)
def test_a_key_that_changes_a_prompt_changes_its_sample_id_and_the_fingerprint(option: str) -> None:
    task = changed(shipped(option)[0], controls=True)
    before = prompts(option, task)
    built, refused = set(), set()
    for key, values in varied(task):
        try:
            other = TypeAdapter(type(task)).validate_python(values)
            after = prompts(option, other)
        except (ValidationError, ConfigError):
            refused.add(key)
            continue
        built.add(key)
        mixed_up = [name for name in before.keys() & after.keys() if before[name] != after[name]]
        assert not mixed_up, f"{key}: {mixed_up[:2]} stand for two prompts"
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
        assert made_tasks.shipped(option).identity() == made_tasks.shipped(option, **change).identity()
