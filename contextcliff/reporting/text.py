"""The languages of reports, and text from outside made fit for a terminal, a spreadsheet and full-width letters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from contextcliff.errors import visible
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


_RUN_BY_A_SPREADSHEET = ("=", "+", "-", "@", "\t", "\r")


def tame(text: str) -> str:
    """The text with escapes for what has no shape but line feeds, tabs and spaces: what a model says can't move the
    cursor, set colours or turn the direction of writing where a file is shown raw."""
    return visible(text.replace("\r\n", "\n").replace("\r", "\n"), keep="\n\t")


def tame_cell(text: str) -> str:
    """As `tame`, for a cell of a table: a text that a spreadsheet would run as a formula begins with an apostrophe."""
    shown = tame(text)
    return f"'{shown}" if shown.startswith(_RUN_BY_A_SPREADSHEET) else shown


_PLAIN_SIGNS = str.maketrans(
    {"–": "-", "—": "-", "−": "-", "…": "...", "·": "-", "“": '"', "”": '"', "‘": "'", "’": "'"}
)


def shown(text: str, *, console: Console) -> Text:
    """Text that this console can show, never read for markup: control characters, and characters that its encoding
    lacks, are escapes."""
    plain = visible("".join(" " if char.isspace() else char for char in text))
    encoding = console.encoding
    try:
        plain.encode(encoding)
    except UnicodeEncodeError:
        plain = plain.translate(_PLAIN_SIGNS)
    return Text(plain.encode(encoding, errors="backslashreplace").decode(encoding))


_NOT_FIRST = "、。，．・：；？！ー～）」』】"
_NOT_LAST = "（「『【"
_PIECE = re.compile(rf" +|[{_NOT_LAST}]*(?:[^ -~–—]|[!-~–—]+)[{_NOT_FIRST}]*")
"""Spaces; or a full-width character, or a run of half-width ones, with the marks that may not be parted from it."""


def has_full_width(text: str) -> bool:
    """Whether some character takes two cells."""
    return cell_len(text) > len(text)


def broken(text: str, *, width: int) -> Iterator[str]:
    """The text in lines of at most `width` cells; a piece that is longer than a line has a line of its own."""
    line = ""
    for piece in _PIECE.findall(text):
        if line and cell_len(line) + cell_len(piece) > width and piece.strip():
            yield line.rstrip()
            line = ""
        if line or piece.strip():
            line += piece
    if line.strip():
        yield line.rstrip()
