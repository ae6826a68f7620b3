"""The text of Word, OpenDocument and RTF files: paragraphs and tables in reading order.

Headers, footers, notes and deleted words are left out. Word and OpenDocument nest paragraphs, tables and text boxes
alike, under names of their own: one walk over the tree reads both, by the vocabulary of each. `striprtf` reads the
codes of RTF; its output does not tell the ends of paragraphs, lines and cells apart, so these are marked beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from contextcliff.documents.containers import UnreadableError, import_reader, open_zip, read_member, read_xml

_OLE = b"\xd0\xcf\x11\xe0"
"""First bytes of a compound file: an encrypted Word document is one and not a zip file, and so is one of Word 97."""
_BODY = re.compile(r"word/document\d*\.xml")
_MANIFEST = "META-INF/manifest.xml"
_BLANKS = re.compile(r"[ \t\r\n]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Vocabulary:
    """The tags of a format, with their namespaces; empty: the format has none."""

    paragraphs: frozenset[str]
    table: str
    row: str
    cell: str
    text_box: str
    """Read after the paragraph that anchors it."""
    text: str = ""
    """What alone holds words. Empty: every element does, and a run of blanks in it is one blank."""
    characters: Mapping[str, str]
    """Elements that stand for a character."""
    skipped: frozenset[str]


_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_COPIES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_DOCX = _Vocabulary(
    paragraphs=frozenset({f"{_WORD}p"}),
    table=f"{_WORD}tbl",
    row=f"{_WORD}tr",
    cell=f"{_WORD}tc",
    text_box=f"{_WORD}txbxContent",
    text=f"{_WORD}t",
    characters={f"{_WORD}tab": " ", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"},
    # Deleted words, copies for older programs, and text boxes, which are read after their paragraph.
    skipped=frozenset({f"{_WORD}del", f"{_WORD}moveFrom", _COPIES, f"{_WORD}txbxContent"}),
)

_OASIS = "{urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TEXT = f"{_OASIS}office:1.0}}", f"{_OASIS}text:1.0}}"
_TABLE, _DRAW, _SVG = f"{_OASIS}table:1.0}}", f"{_OASIS}drawing:1.0}}", f"{_OASIS}svg-compatible:1.0}}"
_INDEXES = ("table-of-content", "illustration-index", "table-index", "object-index", "user-index", "alphabetical-index")
_ODT = _Vocabulary(
    paragraphs=frozenset({f"{_TEXT}p", f"{_TEXT}h"}),
    table=f"{_TABLE}table",
    row=f"{_TABLE}table-row",
    cell=f"{_TABLE}table-cell",
    text_box=f"{_DRAW}text-box",
    characters={f"{_TEXT}tab": " ", f"{_TEXT}line-break": "\n", f"{_TEXT}s": " "},
    # Contents pages, notes, tracked deletions, furigana, and text boxes, which are read after their paragraph.
    skipped=frozenset(
        {
            *(f"{_TEXT}{name}" for name in (*_INDEXES, "note", "tracked-changes", "ruby-text")),
            *(f"{_OFFICE}{name}" for name in ("annotation", "annotation-end", "forms")),
            *(f"{_SVG}title", f"{_SVG}desc"),
            f"{_DRAW}text-box",
        }
    ),
)


def docx_text(data: bytes) -> str:
    """Paragraphs with blank lines between them; one line per table row, its cells separated by ` | `. Raises
    `UnreadableError` for a damaged or encrypted file."""
    if data.startswith(_OLE):
        raise UnreadableError("is encrypted or in the format of Word 97; save it as DOCX without a password")
    container = open_zip(data, kind="DOCX")
    name = next(filter(_BODY.fullmatch, container.namelist()), "word/document.xml")
    return _text(read_xml(container, name, kind="DOCX").find(f"{_WORD}body"), _DOCX, kind="DOCX")


def odt_text(data: bytes) -> str:
    """As `docx_text`, of an OpenDocument file."""
    container = open_zip(data, kind="ODT")
    if _MANIFEST in container.namelist() and b"encryption-data" in read_member(container, _MANIFEST, kind="ODT"):
        raise UnreadableError("is encrypted")
    body = read_xml(container, "content.xml", kind="ODT").find(f"{_OFFICE}body/{_OFFICE}text")
    return _text(body, _ODT, kind="ODT")


def _text(body: Any, tags: _Vocabulary, *, kind: str) -> str:
    if body is None:
        raise UnreadableError(f"is not a valid {kind} file: it holds no text document")
    return _joined(_blocks(body, tags))


def _joined(paragraphs: Iterable[str]) -> str:
    return "\n\n".join(filter(None, (paragraph.strip() for paragraph in paragraphs)))


def _blocks(holder: Any, tags: _Vocabulary) -> Iterator[str]:
    for child in holder.iterchildren("*"):
        if child.tag in tags.paragraphs:
            yield "".join(_words(child, tags))
            for box in child.iter(tags.text_box):
                # Not a copy of one, nor one in another box, with which it is read.
                between = takewhile(lambda outer: outer is not child, box.iterancestors())  # noqa: B023
                if not any(outer.tag in tags.skipped for outer in between):
                    yield from _blocks(box, tags)
        elif child.tag == tags.table:
            yield "\n".join(_row(row, tags) for row in _table_parts(child, tags.row, tags))
        elif child.tag == tags.text_box or child.tag not in tags.skipped:
            yield from _blocks(child, tags)  # sections, lists, content controls and tracked insertions hold paragraphs


def _row(row: Any, tags: _Vocabulary) -> str:
    cells = _table_parts(row, tags.cell, tags)
    return " | ".join(" ".join(" ".join(_blocks(cell, tags)).split()) for cell in cells)


def _table_parts(holder: Any, tag: str, tags: _Vocabulary) -> Iterator[Any]:
    """The rows of a table or the cells of a row, inside groups, header rows and content controls too."""
    for child in holder.iterchildren("*"):
        if child.tag == tag:
            yield child
        elif child.tag not in tags.skipped:
            yield from _table_parts(child, tag, tags)


def _words(holder: Any, tags: _Vocabulary) -> Iterator[str]:
    """The text of a paragraph or of a part of one."""

    def own(text: str | None) -> str:
        if tags.text:
            return text or "" if holder.tag == tags.text else ""
        return _BLANKS.sub(" ", text or "")

    yield own(holder.text)
    for child in holder:
        if child.tag in tags.characters:
            yield tags.characters[child.tag]
        elif isinstance(child.tag, str) and child.tag not in tags.skipped:
            yield from _words(child, tags)
        yield own(child.tail)


_BINARY = re.compile(rb"\\bin(\d{1,10}) ?")
"""Before so many raw bytes, which may include braces."""
_PICTURE = re.compile(rb"[0-9A-Fa-f\r\n]{256,}")
"""A picture in hexadecimal digits; no word is as long."""
_PARAGRAPH, _CELL, _ROW, _ROW_BEGINS = "\ue000", "\ue001", "\ue002", "\ue003"
"""Private-use characters, which books do not have."""
_MARKS = {
    "par": _PARAGRAPH, "sect": _PARAGRAPH, "page": _PARAGRAPH, "cell": _CELL, "row": _ROW, "trowd": _ROW_BEGINS,
    "nestcell": " ", "nestrow": " ", "tab": " ", "deleted": "\\*",
}  # fmt: skip
_CONTROL_WORD = re.compile(rf"(?<!\\)((?:\\\\)*)\\({'|'.join(_MARKS)})(?![A-Za-z0-9-]) ?")
_ESCAPED_LINE_END = re.compile(r"(?<!\\)((?:\\\\)*)\\\r?\n")
_LINK = re.compile(r"(\\fldinst\b[^}]{0,200}?)HYPERLINK")
"""Renamed, or `striprtf` would add the address after the words of a link."""
_TABLES = re.compile(f"(?:{_ROW_BEGINS}[^{_ROW}]*{_ROW})+")


def rtf_text(data: bytes) -> str:
    """As `docx_text`, of a file in Rich Text Format.

    Read with `striprtf`, in the code page of the file and the character sets of its fonts. Raises `UnreadableError` for
    a file that is damaged or has bytes that its code page lacks."""
    striprtf = import_reader("striprtf.striprtf", kind="RTF")
    if not data.lstrip().startswith(b"{\\rtf"):
        raise UnreadableError("is not a valid RTF file")
    while binary := _BINARY.search(data):
        data = data[: binary.start()] + data[binary.end() + int(binary[1]) :]
    try:
        text = striprtf.rtf_to_text(_marked(_PICTURE.sub(b"", data)))
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not {error.encoding.upper()} text, although it declares to be") from error
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise UnreadableError("is not a valid RTF file") from error
    # Characters beyond the basic plane are written as two surrogates.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    paragraphs = re.sub(f"[{_CELL}{_ROW}{_ROW_BEGINS}]", " ", _TABLES.sub(_rtf_table, whole)).split(_PARAGRAPH)
    return _joined("\n".join(line.strip() for line in each.split("\n")) for each in paragraphs)


def _marked(source: bytes) -> str:
    """The source with marks in place of control words, and with bytes beyond ASCII in RTF's own escapes."""
    escaped = "".join(chr(byte) if byte < 0x80 else f"\\'{byte:02x}" for byte in source)
    escaped = _LINK.sub(r"\1LINK", _ESCAPED_LINE_END.sub(rf"\1{{}}{_PARAGRAPH}", escaped))
    # The empty group ends the fallback characters of a \u escape before it: readers skip those, and the mark with them.
    return _CONTROL_WORD.sub(lambda word: f"{word[1]}{{}}{_MARKS[word[2]]}", escaped)


def _rtf_table(table: re.Match[str]) -> str:
    rows = (row.split(_CELL)[:-1] for row in table[0].split(_ROW)[:-1])
    cells = ([" ".join(re.sub(f"[{_PARAGRAPH}{_ROW_BEGINS}]", " ", cell).split()) for cell in row] for row in rows)
    return f"{_PARAGRAPH}{chr(10).join(map(' | '.join, cells))}{_PARAGRAPH}"
