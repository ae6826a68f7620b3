"""Every template of a catalogue is one of the source, and has its fields."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

import contextcliff
from contextcliff.records.note import Note, as_it_is
from contextcliff.reporting.text import catalogue

ROOT = Path(contextcliff.__file__).parent
ENGLISH_ONLY = "writing"
"""A package whose sentences have no Japanese yet."""


@cache
def texts() -> tuple[set[str], set[str]]:
    """The literals of the source, and the templates that a catalogue should have."""
    literals: set[str] = set()
    templates: set[str] = set()
    for source in ROOT.rglob("*.py"):
        is_said = source.relative_to(ROOT).parts[0] != ENGLISH_ONLY
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                literals.add(node.value)
            elif is_said and isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                first = node.args[0]
                if node.func.id in ("Note", "MethodNote") and isinstance(first, ast.Constant):
                    templates.add(str(first.value))
    return literals, templates - {"{text}"}


def test_every_template_of_the_source_has_its_japanese() -> None:
    assert sorted(texts()[1] - catalogue("ja").keys()) == []


def test_no_template_stands_twice_in_the_catalogue() -> None:
    lines = (ROOT / "locale" / "ja.yaml").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.startswith('"')]) == len(catalogue("ja"))


def fields(template: str) -> set[str]:
    """Its names, those within formats too."""
    parsed = [(name, spec or "") for _, name, spec, _ in Formatter().parse(template) if name is not None]
    return {name for name, _ in parsed}.union(*(fields(spec) for _, spec in parsed))


def test_every_template_of_the_catalogue_is_one_of_the_source() -> None:
    assert [each for each in catalogue("ja") if not {each, each.replace("\n", " ")} & texts()[0]] == []


def test_a_japanese_template_has_the_fields_of_the_english_one() -> None:
    assert [english for english, japanese in catalogue("ja").items() if fields(japanese) != fields(english)] == []


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
