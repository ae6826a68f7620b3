"""One Japanese sentence for each kind of fact; every module of `japanese_*` adds those of one subject."""

from __future__ import annotations

from functools import singledispatch

from contextcliff.records.fact import Fact, NoSamples, Said
from contextcliff.reporting.words import english_say


@singledispatch
def say(fact: Fact) -> str:
    """The sentence, without a full stop; in English where a kind has no Japanese one (facts on prose)."""
    return english_say.say(fact)


@say.register
def _said(fact: Said) -> str:
    return fact.text


@say.register
def _no_samples(_: NoSamples) -> str:
    return "分析するサンプルがない"
