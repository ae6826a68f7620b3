"""The languages that a report can be shown in: English, and what `contextcliff/locale` has."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from contextcliff.records.note import ENGLISH, Catalogue


@cache
def catalogue(language: str) -> Catalogue:
    """The templates of a language by the English ones: none for `en`."""
    if language == "en":
        return ENGLISH
    import yaml  # type: ignore[import-untyped]

    text = (files("contextcliff") / "locale" / f"{language}.yaml").read_text(encoding="utf-8")
    found: dict[str, str] = yaml.safe_load(text)
    return found
