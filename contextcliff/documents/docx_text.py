"""The text of a Word document: paragraphs and tables in reading order, without heads, feet and deleted words."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from contextcliff.documents.archives import member, opened
from contextcliff.documents.unreadable import UnreadableError, needed

_OLE = b"\xd0\xcf\x11\xe0"
"""An encrypted Word document is a compound file, not a zip; so is one of Word 97."""
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_COMPATIBLE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_FALLBACK, _BOX = f"{_COMPATIBLE}Fallback", f"{_WORD}txbxContent"
_SILENT = frozenset({f"{_WORD}del", f"{_WORD}moveFrom", _FALLBACK, _BOX})
"""Deleted words, the second copy that older programs read, and text boxes, which follow the paragraph they hang on."""
_SIGNS = {f"{_WORD}tab": " ", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"}


def docx_text(data: bytes) -> str:
    """One paragraph a paragraph, one line a table row with its cells parted by `|`.

    Read with `python-docx`. Raises `UnreadableError` for a broken or encrypted file.
    """
    docx = needed("docx", kind="DOCX")
    if data.startswith(_OLE):
        raise UnreadableError("is encrypted, or of Word 97 (save it as DOCX without a password)")
    container = opened(data, kind="DOCX")
    for name in container.namelist():  # unpacked once to be checked: python-docx has many ways to fail over a bad zip
        member(container, name, kind="DOCX")
    try:
        body = docx.Document(io.BytesIO(data)).element.body
    except (ValueError, KeyError, TypeError, AttributeError, SyntaxError, docx.opc.exceptions.OpcError) as error:
        raise UnreadableError("is broken: no DOCX file") from error
    paragraphs = (text.strip() for text in _blocks(body))
    return "\n\n".join(text for text in paragraphs if text)


def _blocks(holder: Any) -> Iterator[str]:
    for child in holder.iterchildren():
        if child.tag == f"{_WORD}p":
            yield "".join(_words(child))
            for box in child.iter(_BOX):
                if next(box.iterancestors(_FALLBACK), None) is None:
                    yield from _blocks(box)
        elif child.tag == f"{_WORD}tbl":
            yield "\n".join(_row(row) for row in _inner(child, f"{_WORD}tr"))
        elif child.tag not in _SILENT:
            yield from _blocks(child)  # content controls and tracked insertions hold paragraphs


def _row(row: Any) -> str:
    return " | ".join(" ".join(" ".join(_blocks(cell)).split()) for cell in _inner(row, f"{_WORD}tc"))


def _inner(holder: Any, tag: str) -> Iterator[Any]:
    """The rows of a table or the cells of a row, also where a content control stands between."""
    for child in holder.iterchildren():
        if child.tag == tag:
            yield child
        elif child.tag not in _SILENT:
            yield from _inner(child, tag)


def _words(holder: Any) -> Iterator[str]:
    for child in holder.iterchildren():
        if child.tag == f"{_WORD}t":
            yield child.text or ""
        elif child.tag in _SIGNS:
            yield _SIGNS[child.tag]
        elif child.tag not in _SILENT:
            yield from _words(child)
