"""Facts: what a computation says of its result, as data. A language says them (`reporting/words`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One statement with its figures. A subclass names the kind of statement.

    In a file a fact stands as its sentence in English, so that one read back is a `Said`.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Accept a fact of this class; where any fact is accepted, a sentence too."""
        accepted = core_schema.is_instance_schema(cls)
        if not issubclass(Said, cls):
            return accepted
        return core_schema.union_schema(
            [accepted, core_schema.no_info_after_validator_function(_said, core_schema.str_schema())]
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Said(Fact):
    """A statement of which only the sentence is known: one from a file, or one that a text's source made."""

    text: str


def said(texts: Iterable[str]) -> tuple[Said, ...]:
    """Statements of which only the sentences are known."""
    return tuple(map(_said, texts))


def _said(text: str) -> Said:
    return Said(text=text)
