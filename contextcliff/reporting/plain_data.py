"""Records as JSON's own types, facts as their English sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from contextcliff.records.fact import Fact
from contextcliff.reporting.words.english import say


def plain_data(value: object) -> object:
    """Dataclasses and mappings as dictionaries, sequences as lists, facts as text, the rest as it is.

    Unlike `dataclasses.asdict` it copies no value, and so takes read-only mappings too.
    """
    if isinstance(value, Fact):
        return say(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_data(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(item) for item in value]
    return value
