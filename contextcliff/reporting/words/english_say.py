"""One English sentence for each kind of fact; every module of `english_*` adds those of one subject."""

from __future__ import annotations

from functools import singledispatch

from contextcliff.records.fact import Fact, NoSamples, Said


@singledispatch
def say(fact: Fact) -> str:
    """The sentence, without a capital and without a full stop. Raises `TypeError` for a kind that nothing says."""
    raise TypeError(f"no English sentence is written for {type(fact).__name__}")


@say.register
def _said(fact: Said) -> str:
    return fact.text


@say.register
def _no_samples(_: NoSamples) -> str:
    return "there are no samples to analyse"
