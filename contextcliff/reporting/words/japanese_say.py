"""One Japanese sentence for each kind of fact; every module of `japanese_*` adds those of one subject."""

from __future__ import annotations

from functools import singledispatch

from contextcliff.records.fact import Fact
from contextcliff.records.note import Note
from contextcliff.reporting.language import catalogue
from contextcliff.reporting.words import english_say


@singledispatch
def say(fact: Fact) -> str:
    """The sentence, without a full stop; in English where a kind has no Japanese one (facts on prose)."""
    return english_say.say(fact)


@say.register
def _note(note: Note) -> str:
    return note.said(catalogue("ja"))


def label(text: str) -> str:
    """The Japanese of a heading or a name; what has none stays as it is."""
    return catalogue("ja").get(text, text)
