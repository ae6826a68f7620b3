"""One Japanese sentence for each kind of fact; every module of `japanese_*` adds those of one subject."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from contextcliff.records.amounts import Quantity, SampleCount, SharedBy, Unit
from contextcliff.records.cap_reason import Part
from contextcliff.records.fact import Fact, NoSamples
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


@say.register
def _no_samples(_: NoSamples) -> str:
    return "分析するサンプルがない"


UNITS: dict[Unit, str] = {"samples": "サンプル", "questions": "質問", "distinct samples": "異なるサンプル"}
THIRDS: Mapping[str, str] = {"first": "前", "middle": "中", "last": "後ろ"}
QUANTITIES: Mapping[Quantity, str] = {"score": "スコア", "healthy": "健全率"}
SHARED: dict[SharedBy, str] = {"texts": "テキスト", "contexts": "コンテキスト"}


def amount(n: int, unit: Unit) -> str:
    """`サンプル 20 件`."""
    return f"{UNITS[unit]} {n:,} 件"


def counted(count: SampleCount, *, scored: bool = False) -> str:
    """`採点済みのサンプル 20 件（テキスト 8 個）`."""
    where = f"（{SHARED[count.shared_by]} {count.n_shared:,} 個）" if count.n_shared else ""
    return f"{'採点済みの' if scored else ''}{amount(count.n, count.unit)}{where}"


def portion(part: Part, noun: str) -> str:
    """`サンプル 20 件中 3 件`, `サンプル全 20 件`, `唯一のサンプル`."""
    if part.n < part.total:
        return f"{noun} {part.total:,} 件中 {part.n:,} 件"
    return f"唯一の{noun}" if part.total == 1 else f"{noun}全 {part.total:,} 件"


def at_lengths(n: int, total: int) -> str:
    """`長さ 3 種類中 1 種類`, `長さ 3 種類のすべて`, `唯一の長さ`."""
    if n < total:
        return f"長さ {total:,} 種類中 {n:,} 種類"
    return "唯一の長さ" if total == 1 else f"長さ {total:,} 種類のすべて"


def label(text: str) -> str:
    """The Japanese of a heading or a name; what has none stays as it is."""
    return catalogue("ja").get(text, text)
