"""The text of Word, OpenDocument and RTF files: paragraphs and tables in reading order.

Headers, footers, notes and deleted words are left out. Word and OpenDocument nest paragraphs, tables and text boxes
alike, under names of their own: one walk over the tree reads both, by the vocabulary of each. `striprtf` reads the
codes of RTF; its output does not tell the ends of paragraphs, lines and cells apart, so these are marked beforehand.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from contextcliff.documents.containers import UnreadableError, import_reader, open_zip, read_member, read_xml

_OLE = b"\xd0\xcf\x11\xe0"
"""First bytes of a compound file: an encrypted Word document is one and not a zip file, and so is one of Word 97."""
_CONTENT, _MANIFEST = "content.xml", "META-INF/manifest.xml"
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
    frame: str = ""
    """What may hold a text box outside a paragraph."""
    copies: str = ""
    """What repeats a text box for older programs."""
    text: str = ""
    """What alone holds words. Empty: every element does, and a run of blanks in it is one blank."""
    characters: Mapping[str, str]
    """Elements that stand for a character."""
    skipped: frozenset[str]


_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_DOCX = _Vocabulary(
    paragraphs=frozenset({f"{_WORD}p"}),
    table=f"{_WORD}tbl",
    row=f"{_WORD}tr",
    cell=f"{_WORD}tc",
    text_box=f"{_WORD}txbxContent",
    copies=_FALLBACK,
    text=f"{_WORD}t",
    characters={f"{_WORD}tab": " ", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"},
    # Deleted words, copies for older programs, and text boxes, which are read after their paragraph.
    skipped=frozenset({f"{_WORD}del", f"{_WORD}moveFrom", _FALLBACK, f"{_WORD}txbxContent"}),
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
    frame=f"{_DRAW}frame",
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
    return _text(body, _DOCX)


def odt_text(data: bytes) -> str:
    """As `docx_text`, of an OpenDocument file. Read with `lxml`."""
    container = open_zip(data, kind="ODT")
    if _MANIFEST in container.namelist() and b"encryption-data" in read_member(container, _MANIFEST, kind="ODT"):
        raise UnreadableError("is encrypted")
    body = read_xml(container, _CONTENT, kind="ODT").find(f"{_OFFICE}body/{_OFFICE}text")
    if body is None:
        raise UnreadableError("is not a valid ODT file: it holds no text document")
    return _text(body, _ODT)


def _text(body: Any, tags: _Vocabulary) -> str:
    paragraphs = (text.strip() for text in _blocks(body, tags))
    return "\n\n".join(text for text in paragraphs if text)


def _blocks(holder: Any, tags: _Vocabulary) -> Iterator[str]:
    for child in holder.iterchildren("*"):
        if child.tag in tags.paragraphs:
            yield "".join(_words(child, tags))
            for box in child.iter(tags.text_box):
                if not _is_repeated(box, child, tags):
                    yield from _blocks(box, tags)
        elif child.tag == tags.table:
            yield "\n".join(_row(row, tags) for row in _table_parts(child, tags.row, tags))
        elif child.tag == tags.frame:
            for box in child.iterchildren(tags.text_box):
                yield from _blocks(box, tags)
        elif child.tag not in tags.skipped:
            yield from _blocks(child, tags)  # sections, lists, content controls and tracked insertions hold paragraphs


def _is_repeated(box: Any, paragraph: Any, tags: _Vocabulary) -> bool:
    """Whether a text box of a paragraph is a copy, or in another box, with which it is read."""
    between = takewhile(lambda outer: outer is not paragraph, box.iterancestors())
    return any(outer.tag in (tags.copies, tags.text_box) for outer in between)


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
    yield _own_words(holder, holder.text, tags)
    for child in holder:
        if child.tag in tags.characters:
            yield tags.characters[child.tag]
        elif isinstance(child.tag, str) and child.tag not in tags.skipped:
            yield from _words(child, tags)
        yield _own_words(holder, child.tail, tags)


def _own_words(holder: Any, text: str | None, tags: _Vocabulary) -> str:
    """Text that stands directly in an element, as far as its format counts it."""
    if tags.text:
        return text or "" if holder.tag == tags.text else ""
    return _BLANKS.sub(" ", text or "")


_MAX_BYTES = 64 << 20
"""Without pictures. A long novel has 2 MiB."""
_BINARY = re.compile(rb"\\bin(\d{1,10}) ?")
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


def rtf_text(data: bytes) -> str:
    """Paragraphs with blank lines between them; one line per table row, its cells separated by ` | `.

    Read with `striprtf`, in the code page of the file and the character sets of its fonts. Raises `UnreadableError` for
    a file that is damaged, has bytes that its code page lacks, or is longer than 64 MiB without its pictures.
    """
    striprtf = import_reader("striprtf.striprtf", kind="RTF")
    if not data.lstrip().startswith(b"{\\rtf"):
        raise UnreadableError("is not a valid RTF file")
    source = _PICTURE.sub(b"", _without_binary(data))
    if len(source) > _MAX_BYTES:
        raise UnreadableError("is longer than 64 MiB without its pictures")
    try:
        text = striprtf.rtf_to_text(_marked(source))
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not {error.encoding.upper()} text, although it declares to be") from error
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise UnreadableError("is not a valid RTF file") from error
    paragraphs = (text.strip() for text in _rtf_blocks(_with_joined_surrogates(text)))
    return "\n\n".join(text for text in paragraphs if text)


def _without_binary(data: bytes) -> bytes:
    """The file without its `\\bin` data, which is raw bytes of a given number and may include braces."""
    pieces, position = list[bytes](), 0
    while (binary := _BINARY.search(data, position)) is not None:
        pieces.append(data[position : binary.start()])
        position = binary.end() + int(binary[1])
    return b"".join([*pieces, data[position:]])


def _marked(source: bytes) -> str:
    """The source with marks in place of control words, and with bytes beyond ASCII in RTF's own escapes."""
    escaped = "".join(chr(byte) if byte < 0x80 else f"\\'{byte:02x}" for byte in source)
    escaped = _LINK.sub(r"\1LINK", _ESCAPED_LINE_END.sub(rf"\1{{}}{_PARAGRAPH}", escaped))
    # The empty group ends the fallback characters of a \u escape before it: readers skip those, and the mark with them.
    return _CONTROL_WORD.sub(lambda word: f"{word[1]}{{}}{_MARKS[word[2]]}", escaped)


def _with_joined_surrogates(text: str) -> str:
    """The text with the surrogate pairs that RTF writes for characters beyond the basic plane joined."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _rtf_blocks(text: str) -> Iterator[str]:
    rows: list[str] = []
    *ended, rest = text.split(_ROW)
    for piece in ended:
        before, _, row = piece.partition(_ROW_BEGINS)
        if before.strip(f"{_PARAGRAPH} \n"):
            yield "\n".join(rows)
            rows = []
            yield from _paragraphs(before)
        *cells, _ = row.split(_CELL)
        rows.append(" | ".join(" ".join(re.sub(f"[{_PARAGRAPH}{_ROW_BEGINS}]", " ", cell).split()) for cell in cells))
    yield "\n".join(rows)
    yield from _paragraphs(rest)


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in re.sub(f"[{_CELL}{_ROW_BEGINS}]", " ", text).split(_PARAGRAPH):
        yield "\n".join(line.strip() for line in paragraph.split("\n"))
