"""A sentence as an English template and its figures; the template is the key of its translation, as in gettext."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

Catalogue = Mapping[str, str]
"""Translated templates by the English ones; empty for English."""
ENGLISH: Catalogue = {}


@dataclass(frozen=True, init=False)
class Note:
    """One sentence, without a full stop. `str` gives it in English; a file holds that, and reads it back as it is.

    A field's format is one of Python's, or
    - `{n:samples}`, a plural noun: `1 sample`, `1,200 samples`; `{n:{noun}}` where the noun is itself a note;
    - `{noun:one}`: a plural noun that is a note, in the singular;
    - `{what:unsaid}`: nothing, of a figure that only another language says;
    - `{n:is/are}`: the first word for one, the second for every other number;
    - `{value:percent}`: as many digits as it needs (`95%`, `99.5%`).
    A figure may be a note itself, or a sequence: its items stand behind commas, with `{items:and}` the last behind
    `and`."""

    template: str
    figures: Mapping[str, object]

    def __init__(self, template: str, /, **figures: object) -> None:
        object.__setattr__(self, "template", template)
        object.__setattr__(self, "figures", figures)

    def said(self, catalogue: Catalogue) -> str:
        """The sentence in the catalogue's language; in English where that lacks the template."""
        return _Said(catalogue).vformat(catalogue.get(self.template, self.template), (), self.figures)

    def __str__(self) -> str:
        return self.said(ENGLISH)

    def __hash__(self) -> int:
        return hash(self.template)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.union_schema(
            [
                core_schema.is_instance_schema(cls),
                core_schema.no_info_after_validator_function(as_it_is, core_schema.str_schema()),
            ]
        )


class MethodNote(Note):
    """A note on how the numbers were made, which asks nothing of the reader."""


def as_it_is(text: str) -> Note:
    """A sentence that is known in English only, as one from a file."""
    return Note("{text}", text=text)


class _Said(Formatter):
    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "unsaid":
            return ""
        if isinstance(value, Note):
            said = value.said(self._catalogue)
            return said[:-1] if format_spec == "one" else format(said, format_spec)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return self._listed([self.format_field(each, "") for each in value], last=format_spec)
        if "/" in format_spec:
            one, _, more = format_spec.partition("/")
            return one if value == 1 else more
        if format_spec == "percent":
            return f"{100.0 * value:.6g}%"
        if format_spec[-2:-1].isalpha():
            return f"{value:,} {format_spec[:-1] if value == 1 else format_spec}"
        return format(value, format_spec)

    def _listed(self, words: Sequence[str], *, last: str) -> str:
        comma = self._catalogue.get(", ", ", ")
        if last != "and" or len(words) < 2:
            return comma.join(words)
        return f"{comma.join(words[:-1])}{self._catalogue.get(' and ', ' and ')}{words[-1]}"
