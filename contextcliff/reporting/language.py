"""The languages that a report can be shown in: English, and those that `contextcliff/locale` has a catalogue of."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from contextcliff.findings.finding import Shown
from contextcliff.records.note import ENGLISH, Catalogue, Note


@cache
def catalogue(language: str) -> Catalogue:
    """The templates of a language by the English ones: none for `en`."""
    if language == "en":
        return ENGLISH
    import yaml  # type: ignore[import-untyped]

    text = (files("contextcliff") / "locale" / f"{language}.yaml").read_text(encoding="utf-8")
    found: dict[str, str] = yaml.safe_load(text)
    return found


def shown_in(language: str, *, encoding: str) -> Catalogue:
    """The catalogue of a language; English where the console's encoding lacks its letters."""
    found = catalogue(language)
    try:
        "".join(found.values()).encode(encoding)
    except UnicodeEncodeError:
        return ENGLISH
    return found


def text_of(value: Shown, language: Catalogue) -> str:
    """A note as its sentence; text is the run's own, and stays as it is."""
    return value.said(language) if isinstance(value, Note) else value


def named(text: str, language: Catalogue) -> str:
    """A heading or a name, which findings write in English."""
    return language.get(text, text)


def labelled(label: str, text: Shown, language: Catalogue) -> str:
    """`Label: sentence`; an empty label is none."""
    said = text_of(text, language)
    return f"{named(label, language)}: {said}" if label else said
