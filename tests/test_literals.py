"""A value that is none of a key's allowed ones is answered with all of them, in every shipped configuration class."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from omegaconf import OmegaConf

from contextcliff.composing import conf_dir
from contextcliff.config import _build_group, _class_at
from contextcliff.errors import ConfigError
from tests.compositions import composed
from tests.test_shipped_configuration import OPTIONS

WRONG = "emoji"


def literals(cls: type, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every key of a class, and of the classes in it, that takes one of a few words, and how the words are listed."""
    hints = get_type_hints(cls, include_extras=True)
    for field in fields(cls):
        kinds = [kind for kind in alternatives(hints[field.name]) if kind is not types.NoneType]
        for kind in kinds:
            if get_origin(kind) is Literal:
                yield (
                    f"{prefix}{field.name}",
                    listed(get_args(kind), beside=[other for other in kinds if other != kind]),
                )
            elif isinstance(kind, type) and is_dataclass(kind):
                yield from literals(kind, f"{prefix}{field.name}.")


def listed(words: tuple[Any, ...], *, beside: list[Any]) -> str:
    if beside:
        assert beside == [int] or get_origin(beside[0]) is tuple
        return " or ".join(
            [*words, "a whole number above 0 and at most 100000" if beside == [int] else "a list, [A,B]"]
        )
    *first, final = [repr(word) for word in words]
    return f"{', '.join(first)} or {final}" if first else final


def alternatives(kind: Any) -> Iterator[Any]:
    if get_origin(kind) is Annotated:
        yield from alternatives(get_args(kind)[0])
    elif get_origin(kind) in (Union, types.UnionType):
        for part in get_args(kind):
            yield from alternatives(part)
    else:
        yield kind


def cases() -> list[tuple[str, str, str, str]]:
    """Each key of each class once, by the first option that has the class."""
    found: dict[tuple[type, str], tuple[str, str, str, str]] = {}
    for group, option in ((group, option) for group, options in OPTIONS.items() for option in options):
        values: Any = OmegaConf.to_container(OmegaConf.load(conf_dir() / group / f"{option}.yaml"), resolve=False)
        if (target := values.get("_target_")) is not None:
            cls = _class_at(target, group)
            for key, allowed in literals(cls):
                found.setdefault((cls, key), (group, option, key, allowed))
    return list(found.values())


@pytest.mark.parametrize(("group", "option", "key", "allowed"), cases(), ids=lambda part: str(part)[:40])
def test_a_wrong_word_lists_the_right_ones(group: str, option: str, key: str, allowed: str) -> None:
    node: Any = OmegaConf.to_container(composed(f"{group}={option}")[group], resolve=True)
    section = node
    *parents, last = key.split(".")
    for parent in parents:
        section = section[parent]
    section[last] = WRONG
    with pytest.raises(ConfigError) as raised:
        _build_group(group, node)
    assert str(raised.value) == f"{group}.{key}={WRONG}: must be {allowed}"
