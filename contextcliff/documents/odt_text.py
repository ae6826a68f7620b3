"""The text of an OpenDocument file: paragraphs and tables in reading order, without notes and deleted words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from contextcliff.documents.containers import UnreadableError, open_zip, read_member, read_xml

_OASIS = "{urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TEXT = f"{_OASIS}office:1.0}}", f"{_OASIS}text:1.0}}"
_TABLE, _DRAW, _SVG = f"{_OASIS}table:1.0}}", f"{_OASIS}drawing:1.0}}", f"{_OASIS}svg-compatible:1.0}}"
_CONTENT, _MANIFEST = "content.xml", "META-INF/manifest.xml"
_PARAGRAPHS = frozenset({f"{_TEXT}p", f"{_TEXT}h"})
_TEXT_BOX = f"{_DRAW}text-box"
_INDEXES = ("table-of-content", "illustration-index", "table-index", "object-index", "user-index", "alphabetical-index")
_SKIPPED = frozenset(
    {
        *(f"{_TEXT}{name}" for name in (*_INDEXES, "note", "tracked-changes", "ruby-text")),
        *(f"{_OFFICE}{name}" for name in ("annotation", "annotation-end", "forms")),
        *(f"{_SVG}title", f"{_SVG}desc"),
        _TEXT_BOX,
    }
)
"""Contents pages, notes, tracked deletions, furigana, and text boxes, which are read after their paragraph."""
_CHARACTERS = {f"{_TEXT}tab": " ", f"{_TEXT}line-break": "\n", f"{_TEXT}s": " "}
_BLANKS = re.compile(r"[ \t\r\n]+")


def odt_text(data: bytes) -> str:
    """Paragraphs with blank lines between them; one line per table row, its cells separated by ` | `.

    Read with `lxml`. Raises `UnreadableError` for a damaged or encrypted file.
    """
    container = open_zip(data, kind="ODT")
    if _MANIFEST in container.namelist() and b"encryption-data" in read_member(container, _MANIFEST, kind="ODT"):
        raise UnreadableError("is encrypted")
    body = read_xml(container, _CONTENT, kind="ODT").find(f"{_OFFICE}body/{_OFFICE}text")
    if body is None:
        raise UnreadableError("is not a valid ODT file: it holds no text document")
    paragraphs = (text.strip() for text in _blocks(body))
    return "\n\n".join(text for text in paragraphs if text)


def _blocks(holder: Any) -> Iterator[str]:
    for child in holder.iterchildren("*"):
        if child.tag in _PARAGRAPHS:
            yield "".join(_words(child))
            for box in child.iter(_TEXT_BOX):
                yield from _blocks(box)
        elif child.tag == f"{_TABLE}table":
            yield "\n".join(_row(row) for row in _table_parts(child, f"{_TABLE}table-row"))
        elif child.tag == f"{_DRAW}frame":
            for box in child.iterchildren(_TEXT_BOX):
                yield from _blocks(box)
        elif child.tag not in _SKIPPED:
            yield from _blocks(child)  # sections, lists and their items hold paragraphs


def _row(row: Any) -> str:
    return " | ".join(" ".join(" ".join(_blocks(cell)).split()) for cell in _table_parts(row, f"{_TABLE}table-cell"))


def _table_parts(holder: Any, tag: str) -> Iterator[Any]:
    """The rows of a table, inside groups and header rows too, or the cells of a row."""
    for child in holder.iterchildren("*"):
        if child.tag == tag:
            yield child
        elif child.tag not in _SKIPPED:
            yield from _table_parts(child, tag)


def _words(holder: Any) -> Iterator[str]:
    """The text of a paragraph, with runs of blanks reduced to one."""
    yield _BLANKS.sub(" ", holder.text or "")
    for child in holder:
        if child.tag in _CHARACTERS:
            yield _CHARACTERS[child.tag]
        elif isinstance(child.tag, str) and child.tag not in _SKIPPED:
            yield from _words(child)
        yield _BLANKS.sub(" ", child.tail or "")
