"""The text of an OpenDocument file: paragraphs and tables in reading order, without notes and deleted words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from contextcliff.documents.archives import member, opened, xml_member
from contextcliff.documents.unreadable import UnreadableError

_OASIS = "{urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TEXT = f"{_OASIS}office:1.0}}", f"{_OASIS}text:1.0}}"
_TABLE, _DRAW, _SVG = f"{_OASIS}table:1.0}}", f"{_OASIS}drawing:1.0}}", f"{_OASIS}svg-compatible:1.0}}"
_CONTENT, _MANIFEST = "content.xml", "META-INF/manifest.xml"
_PARAGRAPHS = frozenset({f"{_TEXT}p", f"{_TEXT}h"})
_BOX = f"{_DRAW}text-box"
_INDEXES = ("table-of-content", "illustration-index", "table-index", "object-index", "user-index", "alphabetical-index")
_SILENT = frozenset(
    {
        *(f"{_TEXT}{name}" for name in (*_INDEXES, "note", "tracked-changes", "ruby-text")),
        *(f"{_OFFICE}{name}" for name in ("annotation", "annotation-end", "forms")),
        *(f"{_SVG}title", f"{_SVG}desc"),
        _BOX,
    }
)
"""Contents pages, notes, words deleted under change tracking, small readings; text boxes follow their paragraph."""
_SIGNS = {f"{_TEXT}tab": " ", f"{_TEXT}line-break": "\n", f"{_TEXT}s": " "}
_BLANKS = re.compile(r"[ \t\r\n]+")


def odt_text(data: bytes) -> str:
    """One paragraph a paragraph, one line a table row with its cells parted by `|`.

    Read with `lxml`. Raises `UnreadableError` for a broken or encrypted file.
    """
    container = opened(data, kind="ODT")
    if _MANIFEST in container.namelist() and b"encryption-data" in member(container, _MANIFEST, kind="ODT"):
        raise UnreadableError("is encrypted")
    body = xml_member(container, _CONTENT, kind="ODT").find(f"{_OFFICE}body/{_OFFICE}text")
    if body is None:
        raise UnreadableError("is broken: no text document")
    paragraphs = (text.strip() for text in _blocks(body))
    return "\n\n".join(text for text in paragraphs if text)


def _blocks(holder: Any) -> Iterator[str]:
    for child in holder.iterchildren("*"):
        if child.tag in _PARAGRAPHS:
            yield "".join(_words(child))
            for box in child.iter(_BOX):
                yield from _blocks(box)
        elif child.tag == f"{_TABLE}table":
            yield "\n".join(_row(row) for row in _inner(child, f"{_TABLE}table-row"))
        elif child.tag == f"{_DRAW}frame":
            for box in child.iterchildren(_BOX):
                yield from _blocks(box)
        elif child.tag not in _SILENT:
            yield from _blocks(child)  # sections, lists and their items hold paragraphs


def _row(row: Any) -> str:
    return " | ".join(" ".join(" ".join(_blocks(cell)).split()) for cell in _inner(row, f"{_TABLE}table-cell"))


def _inner(holder: Any, tag: str) -> Iterator[Any]:
    """The rows of a table, also those in a group or a head, or the cells of a row."""
    for child in holder.iterchildren("*"):
        if child.tag == tag:
            yield child
        elif child.tag not in _SILENT:
            yield from _inner(child, tag)


def _words(holder: Any) -> Iterator[str]:
    """The text of a paragraph; blanks are as in HTML, one for many."""
    yield _BLANKS.sub(" ", holder.text or "")
    for child in holder:
        if child.tag in _SIGNS:
            yield _SIGNS[child.tag]
        elif isinstance(child.tag, str) and child.tag not in _SILENT:
            yield from _words(child)
        yield _BLANKS.sub(" ", child.tail or "")
