"""How many samples there are, as data and said: `20 samples in 8 texts`, `3 of 20 samples`."""

from __future__ import annotations

from typing import Literal

from contextcliff.records.note import Note
from contextcliff.records.search_record import ThirdName

Unit = Literal["samples", "questions", "distinct samples"]
SharedBy = Literal["texts", "contexts"]
"""What samples have in common: whole texts, or contexts cut from one text."""
Noun = Unit | SharedBy | Literal["answers", "prompts"]

Quantity = Literal["score", "healthy"]
"""What the lengths are tested on."""
QUANTITIES: dict[Quantity, Note] = {"score": Note("score"), "healthy": Note("healthy share")}
THIRDS_OF_DEPTH: dict[ThirdName, Note] = {
    "first": Note("first third"),
    "middle": Note("middle third"),
    "last": Note("last third"),
}


def threshold_figure(value: float) -> str:
    """A threshold: two decimals, three where two would round it to another number."""
    return f"{value:.2f}" if abs(value - round(value, 2)) < 1e-9 else f"{value:.3f}".rstrip("0")


def amount(n: int, noun: Noun) -> Note:
    """`1 sample`, `1,200 samples`."""
    return Note("{n:{noun}}", n=n, noun=Note(noun))


def portion(n: int, total: int, noun: Noun) -> Note:
    """`3 of 20 samples`, `all 20 samples`, `both samples`, `the only sample`; at least one."""
    if n < total:
        return Note("{n:,} of {total:,} {noun}", n=n, total=total, noun=Note(noun))
    if total == 1:
        return Note("the only {noun:one}", noun=Note(noun))
    return Note("both {noun}", noun=Note(noun)) if total == 2 else Note("all {n:,} {noun}", n=total, noun=Note(noun))


def of_lengths(n: int, total: int) -> Note:
    if n < total:
        return Note("{n:,} of {total:,} lengths", n=n, total=total)
    if total == 1:
        return Note("the only length")
    return Note("both lengths") if total == 2 else Note("all {n:,} lengths", n=total)


def span(low: float, high: float, style: str) -> str:
    """Both ends, or one where they read alike; `style` is a format of Python's."""
    first, last = format(low, style), format(high, style)
    return first if first == last else f"{first}–{last}"


def counted(
    n: int, unit: Unit, n_shared: int, shared_by: SharedBy, *, scored: bool = False, each_length: bool = False
) -> Note:
    """`20 samples a length in 8 texts`; Japanese says that it is a length's in the sentence around it. `n_shared` is 0
    where each sample has a text of its own."""
    noun = Note("scored {noun}", noun=Note(unit)) if scored else Note(unit)
    shared = Note(" in {n:{noun}}", n=n_shared, noun=Note(shared_by)) if n_shared else ""
    if each_length:
        return Note("{n:{noun}} a length{shared}", n=n, noun=noun, shared=shared)
    return Note("{n:{noun}}{shared}", n=n, noun=noun, shared=shared)


def are_unscored(n: int, total: int) -> Note:
    return Note("{samples} {n:is/are} unscored", samples=portion(n, total, "samples"), n=n)


def none_scored(n: int, noun: Unit) -> Note:
    if n == 1:
        return Note("the only {noun:one} was not scored", noun=Note(noun))
    return Note("none of {n:,} {noun} was scored", n=n, noun=Note(noun))
