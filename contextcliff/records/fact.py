"""Facts: what a computation says of its result, as data. A language says them (`reporting/words`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One statement with its figures. A subclass names the kind of statement.

    In a file a fact stands as its sentence in English, so that one read back is a `Note` of that text.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Accept a fact of this class; where any fact is accepted, a sentence too."""
        from contextcliff.records.note import as_it_is  # which is a fact itself

        accepted = core_schema.is_instance_schema(cls)
        if cls is not Fact:
            return accepted
        return core_schema.union_schema(
            [accepted, core_schema.no_info_after_validator_function(as_it_is, core_schema.str_schema())]
        )
