"""Every key of every option under hostile values: each is taken, or refused in one short line that names the key."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from omegaconf import OmegaConf

from contextcliff.composing import nodes
from contextcliff.config import _class_at, _Plain, build_invocation
from contextcliff.errors import _LONGEST_LINE, ConfigError
from contextcliff.settings import GivenPath
from tests.compositions import composed
from tests.test_shipped_configuration import CHOSEN

NO_NUMBERS: tuple[Any, ...] = (math.inf, math.nan, 2**63, 10**30, [10**30], [math.inf], [True], [[1]])
TOO_LONG = "é" * 300
HOSTILE: tuple[Any, ...] = (
    *(None, True, -1, 10**9, 1e-320, 0.5, *NO_NUMBERS),
    *("", "emoji", "a\nb\x1b[31m", "x " * 2_500, TOO_LONG, "${x", "a.b", "http://["),
    *([], [{}], ["x"], {}, {1: 2}, {"_target_": "builtins.dict"}),
)
BESIDE = {"judge": "qa", "embedding": "continuation"}
"""The tasks that take the groups which others refuse."""
OPTIONS = [
    {"task": task, "engine": "simulated", **{key: option for key, option in chosen.items() if key in keys}}
    for chosen in CHOSEN
    for keys, task in (
        (set(chosen) - set(BESIDE), chosen.get("task", "niah")),
        *(({group}, task) for group, task in BESIDE.items() if group in chosen),
    )
]


def cases(options: list[dict[str, str]]) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """Plain values of a composed configuration, a key of them and its kind: each key of each class once."""
    seen: set[tuple[object, str]] = set()
    for chosen in options:
        config = composed("tracking=none", *(f"{key}={option}" for key, option in chosen.items() if key != "tracking"))
        plain: Any = OmegaConf.to_container(config, resolve=True)
        for key, _ in nodes(plain):
            group = plain[key.partition(".")[0]]
            kind = group.get("_target_") if isinstance(group, dict) else None
            if (kind, key) not in seen:
                seen.add((kind, key))
                yield plain, key, kind_of(plain, key)


def kind_of(plain: dict[str, Any], key: str) -> Any:
    """What a class says of a key, or of the mapping that holds it; None for a group."""
    kind: Any = _Plain
    for depth, part in enumerate(path := key.split(".")):
        node = plain
        for name in path[: depth + 1]:
            node = node[name]
        kinds = get_type_hints(kind, include_extras=True) if is_dataclass(kind) else {}
        if isinstance(node, dict) and "_target_" in node:
            kind = _class_at(node["_target_"], ".".join(path[: depth + 1]))
        else:
            kind = kinds.get(part, kind)
    return None if isinstance(kind, type) and is_dataclass(kind) else kind


def parts(kind: Any) -> list[Any]:
    return [kind, *(part for inner in get_args(kind) for part in parts(inner))]


def fault(plain: dict[str, Any], key: str, kind: Any, value: Any) -> str:
    """What is wrong with how a value is taken or refused; empty where nothing is."""
    values = deepcopy(plain)
    *path, last = key.split(".")
    node = values
    for part in path:
        node = node[part]
    node[last] = deepcopy(value)
    try:
        build_invocation(values, [f"{key}=x"])
    except ConfigError as error:
        line = str(error)
        words = [word for part in parts(kind) if get_origin(part) is Literal for word in map(str, get_args(part))]
        wrong = {
            "is not on one line": not line.isprintable(),
            "is long": len(line) > _LONGEST_LINE + 1,
            "names another key": (key.rpartition(".")[0] or key) not in line,
            "hides what is allowed": value == "emoji"
            and "a list" not in line
            and not all(map(line.__contains__, words)),
        }
    else:
        line = ""
        wrong = {
            "was taken as a number": value in NO_NUMBERS and "extra_body" not in key,
            "was taken as 1": value is True and {int, float} & set(parts(kind)) and bool not in parts(kind),
            "was taken as a path": value == TOO_LONG and GivenPath in parts(kind),
        }
    return "".join(f"{key}={value!r:.40}: {line:.200} {name}" for name, holds in wrong.items() if holds)


def test_a_sample_of_hostile_values_is_taken_or_refused_in_a_line() -> None:
    drawn = random.Random(36)
    found = list(cases(drawn.sample(OPTIONS, 6)))
    assert [said for _ in range(500) if (said := fault(*drawn.choice(found), drawn.choice(HOSTILE)))] == []


@pytest.mark.slow
def test_every_hostile_value_is_taken_or_refused_in_a_line() -> None:
    assert [said for case in cases(OPTIONS) for value in HOSTILE if (said := fault(*case, value))] == []
