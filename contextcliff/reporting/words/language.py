"""The languages that a report can be shown in."""

from __future__ import annotations

from typing import Protocol

from contextcliff.records.fact import Fact
from contextcliff.reporting.reporting_settings import LanguageName
from contextcliff.reporting.words import english, japanese


class Language(Protocol):
    """What the module of a language says."""

    def say(self, fact: Fact, /) -> str:
        """One sentence for a fact, without a full stop."""
        ...

    def label(self, text: str, /) -> str:
        """A heading or the name of a figure, which sections write in English."""
        ...


LANGUAGES: dict[LanguageName, Language] = {"en": english, "ja": japanese}


def shown_in(name: LanguageName, *, encoding: str) -> Language:
    """The language of that name; English where the console's encoding lacks its letters."""
    language = LANGUAGES[name]
    try:
        language.label("Failure risk report").encode(encoding)
    except UnicodeEncodeError:
        return LANGUAGES["en"]
    return language


def text_of(value: str | Fact, language: Language) -> str:
    """A fact as its sentence; text is the run's own, and stays as it is."""
    return value if isinstance(value, str) else language.say(value)
