"""One English sentence for each kind of fact; every module of `english_*` adds those of one subject."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from contextcliff.records.fact import Fact
from contextcliff.records.note import Note


@singledispatch
def say(fact: Fact) -> str:
    """The sentence, without a capital and without a full stop. Raises `TypeError` for a kind that nothing says."""
    raise TypeError(f"no English sentence is written for {type(fact).__name__}")


@say.register
def _note(note: Note) -> str:
    return str(note)


def amount(n: int, noun: str) -> str:
    """`1 sample`, `1,200 samples`; `noun` is the plural."""
    return f"{n:,} {noun[:-1] if n == 1 else noun}"


def are(n: int) -> str:
    """The verb that goes with so many."""
    return "is" if n == 1 else "are"


def listed(words: Sequence[str]) -> str:
    """Words with an `and` before the last."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
