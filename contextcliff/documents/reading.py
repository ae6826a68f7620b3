"""The text of a document of any kind that is read: PDF, Word, OpenDocument, RTF, EPUB, HTML, Markdown, text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from contextcliff.documents.charsets import decoded
from contextcliff.documents.docx_text import docx_text
from contextcliff.documents.epub_text import epub_text
from contextcliff.documents.html_text import html_text
from contextcliff.documents.odt_text import odt_text
from contextcliff.documents.pdf_text import pdf_text
from contextcliff.documents.rtf_text import rtf_text
from contextcliff.documents.unreadable import UnreadableError

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_EDGES = " \t\n\f\v\u00a0"
"""What is no part of a text at its ends; an ideographic space is: it opens a Japanese paragraph."""


def read_document(path: Path) -> str:
    """Plain text with blank lines between paragraphs, without scripts, comments, navigation and running heads.

    Markdown stays as it is written. The suffix, one of `SUFFIXES`, says how to read; with any other a file is text.
    Raises `UnreadableError` for one that is broken, encrypted, in an unknown character set or without any text (a
    scan), `ConfigError` where the package that reads it is not installed.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"can't be read ({error.strerror})") from error
    text = _BLANK_LINES.sub("\n\n", _READERS.get(path.suffix.lower(), _plain)(data)).strip(_EDGES)
    if not text.strip():
        raise UnreadableError("holds no text")
    return text


def _html(data: bytes) -> str:
    return html_text(decoded(data, declares=True))


def _markdown(data: bytes) -> str:
    text, kept, position = _plain(data), [], 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept.append(text[position:start])
        position = end + len("-->")
    return "".join([*kept, text[position:]])


def _plain(data: bytes) -> str:
    text = decoded(data, declares=False)
    if "\0" in text:
        raise UnreadableError("is binary, not text")
    return text


_READERS: Mapping[str, Callable[[bytes], str]] = {
    ".pdf": pdf_text,
    ".docx": docx_text,
    ".odt": odt_text,
    ".rtf": rtf_text,
    ".epub": epub_text,
    ".html": _html,
    ".htm": _html,
    ".xhtml": _html,
    ".md": _markdown,
    ".txt": _plain,
}
SUFFIXES = tuple(_READERS)
"""Suffixes that tell a kind of document, in lower case."""
