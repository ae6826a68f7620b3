"""The text of a Word document: paragraphs and tables in reading order, without headers, footers and deleted words."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from contextcliff.documents.containers import UnreadableError, import_reader, open_zip, read_member

_OLE = b"\xd0\xcf\x11\xe0"
"""First bytes of a compound file: an encrypted Word document is one and not a zip file, and so is one of Word 97."""
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_COMPATIBLE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_FALLBACK, _TEXT_BOX = f"{_COMPATIBLE}Fallback", f"{_WORD}txbxContent"
_SKIPPED = frozenset({f"{_WORD}del", f"{_WORD}moveFrom", _FALLBACK, _TEXT_BOX})
"""Deleted words, copies for older programs, and text boxes, which are read after the paragraph that anchors them."""
_CHARACTERS = {f"{_WORD}tab": " ", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"}


def docx_text(data: bytes) -> str:
    """Paragraphs with blank lines between them; one line per table row, its cells separated by ` | `.

    Read with `python-docx`. Raises `UnreadableError` for a damaged or encrypted file.
    """
    docx = import_reader("docx", kind="DOCX")
    if data.startswith(_OLE):
        raise UnreadableError("is encrypted or in the format of Word 97; save it as DOCX without a password")
    container = open_zip(data, kind="DOCX")
    for name in container.namelist():  # unpacked as a check: python-docx fails in many ways over a damaged member
        read_member(container, name, kind="DOCX")
    try:
        body = docx.Document(io.BytesIO(data)).element.body
    except (ValueError, KeyError, TypeError, AttributeError, SyntaxError, docx.opc.exceptions.OpcError) as error:
        raise UnreadableError("is not a valid DOCX file") from error
    paragraphs = (text.strip() for text in _blocks(body))
    return "\n\n".join(text for text in paragraphs if text)


def _blocks(holder: Any) -> Iterator[str]:
    for child in holder.iterchildren():
        if child.tag == f"{_WORD}p":
            yield "".join(_words(child))
            for box in child.iter(_TEXT_BOX):
                if next(box.iterancestors(_FALLBACK), None) is None:
                    yield from _blocks(box)
        elif child.tag == f"{_WORD}tbl":
            yield "\n".join(_row(row) for row in _table_parts(child, f"{_WORD}tr"))
        elif child.tag not in _SKIPPED:
            yield from _blocks(child)  # content controls and tracked insertions hold paragraphs


def _row(row: Any) -> str:
    return " | ".join(" ".join(" ".join(_blocks(cell)).split()) for cell in _table_parts(row, f"{_WORD}tc"))


def _table_parts(holder: Any, tag: str) -> Iterator[Any]:
    """The rows of a table or the cells of a row, inside content controls too."""
    for child in holder.iterchildren():
        if child.tag == tag:
            yield child
        elif child.tag not in _SKIPPED:
            yield from _table_parts(child, tag)


def _words(holder: Any) -> Iterator[str]:
    for child in holder.iterchildren():
        if child.tag == f"{_WORD}t":
            yield child.text or ""
        elif child.tag in _CHARACTERS:
            yield _CHARACTERS[child.tag]
        elif child.tag not in _SKIPPED:
            yield from _words(child)
