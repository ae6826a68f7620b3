"""Every template of a catalogue is one of the source, and has its fields."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

import contextcliff
from contextcliff.records.note import Note, as_it_is
from contextcliff.reporting.language import catalogue

JOINING = {", ", " and "}


ROOT = Path(contextcliff.__file__).parent
ENGLISH_ONLY = {"writing"}
"""Packages whose sentences have no Japanese yet."""


@cache
def nodes(*, without: frozenset[str] = frozenset()) -> tuple[ast.AST, ...]:
    sources = (file for file in ROOT.rglob("*.py") if file.relative_to(ROOT).parts[0] not in without)
    return tuple(node for source in sources for node in ast.walk(ast.parse(source.read_text("utf-8"))))


@cache
def literals() -> frozenset[str]:
    return frozenset(node.value for node in nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str))


def templates() -> set[str]:
    """The templates of the source that a catalogue should have."""
    calls = (node for node in nodes(without=frozenset(ENGLISH_ONLY)) if isinstance(node, ast.Call))
    made = (call for call in calls if isinstance(call.func, ast.Name) and call.func.id in ("Note", "MethodNote"))
    notes = (call.args[0] for call in made if call.args)
    return {ast.literal_eval(first) for first in notes if isinstance(first, ast.Constant)} - {"{text}"}


def test_every_template_of_the_source_has_its_japanese() -> None:
    assert sorted(templates() - catalogue("ja").keys()) == []


def test_no_template_stands_twice_in_the_catalogue() -> None:
    lines = (ROOT / "locale" / "ja.yaml").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.startswith('"')]) == len(catalogue("ja"))


def fields(template: str) -> set[str]:
    """Its names, those within formats too."""
    parsed = [(name, spec or "") for _, name, spec, _ in Formatter().parse(template) if name is not None]
    return {name for name, _ in parsed}.union(*(fields(spec) for _, spec in parsed))


@pytest.mark.parametrize("template", sorted(catalogue("ja").keys() - JOINING))
def test_a_japanese_template_has_the_fields_of_an_english_one_in_the_source(template: str) -> None:
    assert {template, template.replace("\n", " ")} & literals()
    assert fields(catalogue("ja")[template]) == fields(template)


@pytest.mark.parametrize(
    ("note", "english"),
    [
        (Note("{n:samples} {n:is/are} unscored", n=1), "1 sample is unscored"),
        (Note("{n:samples} {n:is/are} unscored", n=1_200), "1,200 samples are unscored"),
        (Note("{n:longer lengths}", n=1), "1 longer length"),
        (
            Note("{n:{noun}} of {noun:one}", n=2, noun=Note("scored {noun}", noun=Note("texts"))),
            "2 scored texts of scored text",
        ),
        (Note("at {confidence:percent}", confidence=0.975), "at 97.5%"),
        (Note("{score:.2f} at {tokens:,}", score=0.8, tokens=8192), "0.80 at 8,192"),
        (Note("at {lengths:and}", lengths=("1", Note("{n:,}", n=2000), "3")), "at 1, 2,000 and 3"),
        (Note("at {lengths}", lengths=("1", "2")), "at 1, 2"),
        (as_it_is("{not a field}"), "{not a field}"),
    ],
)
def test_a_note_says_its_template_with_its_figures(note: Note, english: str) -> None:
    assert str(note) == english


def test_a_note_is_said_in_the_language_of_the_catalogue_with_its_parts() -> None:
    japanese = {"{n:samples} at {lengths:and}": "{lengths:and}で {n:,} 件", "longer": "より長い", " and ": "、"}
    note = Note("{n:samples} at {lengths:and}", n=1, lengths=(Note("longer"), Note("unknown here")))
    assert note.said(japanese) == "より長い、unknown hereで 1 件"
