"""What is wrong with a configuration, in one line: from pydantic's errors to the key, its value and the way out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from contextcliff.composing import hint
from contextcliff.errors import ConfigError, one_line

_LONGEST_VALUE = 80
_KINDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
_LIMITS = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
"""Limits of a number, by the names that `annotated_types` gives them."""


def explain(error: ValidationError, cls: type, group: str) -> str:
    """The first thing that is wrong with the values of a settings class, by its key below `group`."""
    first = error.errors(include_url=False)[0]
    field, alternatives = _field_of(cls, first["loc"])
    key = _key_path(group, field)
    if alternatives:
        return f"{key}={shown_setting(first['input'])}: must be {' or '.join(alternatives)}"
    match first["type"]:
        case "unexpected_keyword_argument" | "extra_forbidden":
            siblings = _known_keys(cls, group, first["loc"][:-1])
            return f"{key}: unknown key; {hint(key, siblings)}"
        case "missing" | "missing_argument" | "missing_keyword_only_argument":
            return f"{key}: missing; give {key}=VALUE"
        case "value_error":
            return str(first["ctx"]["error"])
        case "tuple_type" | "list_type":
            return f"{key}={shown_setting(first['input'])}: must be a list; write {key}=[A,B]"
        case "too_short" | "string_too_short":
            return f"{key}={shown_setting(first['input'])}: must not be empty"
        case _:
            message = first["msg"].replace("Input should be", "must be")
            return f"{key}={shown_setting(first['input'])}: {message}"


_LARGEST = 10**15


def refuse_nonsense(values: Mapping[str, object], cls: type, group: str) -> None:
    """Raise `ConfigError` for true or false in a number's place, and for one that is not finite or beyond all use."""
    kinds = get_type_hints(cls, include_extras=True)
    for name, value in values.items():
        key, kind = _key_path(group, (name,)), kinds.get(name, object)
        if isinstance(value, Mapping):
            for inner in _parts(kind):
                if isinstance(inner, type) and is_dataclass(inner):
                    refuse_nonsense(value, inner, key)
        for leaf in _leaves(value):
            if isinstance(leaf, bool) and {int, float} & _parts(kind) and bool not in _parts(kind):
                raise ConfigError(f"{key}={shown_setting(value)}: true and false are no numbers; give a number")
            if isinstance(leaf, int | float) and not -_LARGEST <= leaf <= _LARGEST:
                raise ConfigError(f"{key}={shown_setting(value)}: must be a finite number, at most 10^15")


def _parts(kind: Any) -> set[Any]:
    """The types that a type is made of, itself among them."""
    inside = (_parts(part) for part in get_args(kind) if get_origin(kind) is not Literal)
    return {kind}.union(*inside) if kind.__hash__ else set().union(*inside)


def _leaves(value: object) -> Iterator[object]:
    """The plain values of lists within lists."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def shown_setting(value: object) -> str:
    """A value as it is typed in YAML, cut to a length that an error message can hold."""
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return one_line(text, longest=_LONGEST_VALUE)


def _field_of(cls: type, location: Sequence[int | str]) -> tuple[Sequence[int | str], Sequence[str]]:
    """The field that an error is about, and what it may be where it takes values of several kinds.

    Pydantic tries each kind and reports one error for each, under the field's name and then the kind's.
    """
    annotation: Any = cls
    for depth, part in enumerate(location):
        annotation = _bare(annotation)
        if get_origin(annotation) in (Union, UnionType):
            if depth + 1 < len(location):  # inside the list that it may be: the kind is no part of the key
                return (*location[:depth], *location[depth + 1 :]), ()
            kinds = [_described(kind) for kind in reversed(get_args(annotation))]
            return (location[:depth], [kind for kind in kinds if kind]) if all(kinds) else (location, ())
        if isinstance(part, int):
            annotation = next(iter(get_args(annotation)), object)
        else:
            annotation = get_type_hints(annotation, include_extras=True).get(part) if is_dataclass(annotation) else None
    return location, ()


def _bare(annotation: Any) -> Any:
    """A type without its limits, and without the None that it may be besides."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
        return _bare(kinds[0]) if len(kinds) == 1 else annotation
    return annotation


def _described(kind: Any) -> str:
    """A kind of value in words; empty where it is no plain value."""
    if kind is NoneType:
        return "null"
    if get_origin(kind) is tuple:
        return "a list, [A,B]"
    if get_origin(kind) is Literal:
        return " or ".join(map(str, get_args(kind)))
    limits: list[str] = []
    if get_origin(kind) is Annotated:
        kind, *given = get_args(kind)
        rules = [rule for field in given if isinstance(field, FieldInfo) for rule in field.metadata]
        limits = [
            f"{words} {getattr(rule, name)}" for rule in rules for name, words in _LIMITS.items() if hasattr(rule, name)
        ]
        if get_origin(kind) is tuple:
            return _described(kind)
    return " ".join([_KINDS[kind], " and ".join(limits)]).rstrip() if kind in _KINDS else ""


def _key_path(group: str, location: Sequence[int | str]) -> str:
    path = group
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _known_keys(cls: type, group: str, location: Sequence[int | str]) -> list[str]:
    for part in location:
        cls = get_args(cls)[0] if isinstance(part, int) else get_type_hints(cls).get(part, cls)
    return [_key_path(group, (*location, field.name)) for field in fields(cls)] if is_dataclass(cls) else []
