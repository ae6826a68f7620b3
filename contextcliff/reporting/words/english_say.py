"""One English sentence for each kind of fact; every module of `english_*` adds those of one subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch

from contextcliff.records.amounts import Quantity, SampleCount
from contextcliff.records.fact import Fact, NoSamples
from contextcliff.records.note import Note


@singledispatch
def say(fact: Fact) -> str:
    """The sentence, without a capital and without a full stop. Raises `TypeError` for a kind that nothing says."""
    raise TypeError(f"no English sentence is written for {type(fact).__name__}")


@say.register
def _note(note: Note) -> str:
    return str(note)


@say.register
def _no_samples(_: NoSamples) -> str:
    return "there are no samples to analyse"


QUANTITIES: Mapping[Quantity, str] = {"score": "score", "healthy": "healthy share"}
"""What the lengths are tested on."""


def amount(n: int, noun: str) -> str:
    """`1 sample`, `1,200 samples`; `noun` is the plural."""
    return f"{n:,} {noun[:-1] if n == 1 else noun}"


def portion(n: int, total: int, noun: str) -> str:
    """`3 of 20 samples`, `all 20 samples`, `both samples`, `the only sample`; at least one of `noun`, the plural."""
    if n < total:
        return f"{n:,} of {total:,} {noun}"
    return {1: f"the only {noun[:-1]}", 2: f"both {noun}"}.get(total, f"all {total:,} {noun}")


def are(n: int) -> str:
    """The verb that goes with so many."""
    return "is" if n == 1 else "are"


def counted(count: SampleCount, *, scored: bool = False, each: str = "") -> str:
    """`20 samples a length in 8 texts`: `each` is said of the samples."""
    noun = f"scored {count.unit}" if scored else count.unit
    where = f" in {amount(count.n_shared, count.shared_by)}" if count.n_shared else ""
    return f"{amount(count.n, noun)}{each}{where}"


def listed(words: Sequence[str]) -> str:
    """Words with an `and` before the last."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
