"""The text of an RTF file: paragraphs and tables in reading order, without notes, fields and deleted words.

`striprtf` reads the codes. What can't be told apart afterwards (ends of paragraphs, lines and cells) is marked before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from contextcliff.documents.unreadable import UnreadableError, needed

_MOST_BYTES = 64 << 20
"""Without pictures. A long novel has 2 MiB."""
_BINARY = re.compile(rb"\\bin(\d{1,10}) ?")
_DRAWN = re.compile(rb"[0-9A-Fa-f\r\n]{256,}")
"""A picture in hexadecimal digits: no word is as long."""
_PARAGRAPH, _CELL, _ROW, _ROW_BEGINS = "\ue000", "\ue001", "\ue002", "\ue003"
"""Characters of private use, which stand in no book."""
_MARKS = {
    "par": _PARAGRAPH, "sect": _PARAGRAPH, "page": _PARAGRAPH, "cell": _CELL, "row": _ROW, "trowd": _ROW_BEGINS,
    "nestcell": " ", "nestrow": " ", "tab": " ", "deleted": "\\*",
}  # fmt: skip
_WORD = re.compile(rf"(?<!\\)((?:\\\\)*)\\({'|'.join(_MARKS)})(?![A-Za-z0-9-]) ?")
_BROKEN_LINE = re.compile(r"(?<!\\)((?:\\\\)*)\\\r?\n")
_LINK = re.compile(r"(\\fldinst\b[^}]{0,200}?)HYPERLINK")
"""`striprtf` would write the address behind the words of a link."""


def rtf_text(data: bytes) -> str:
    """One paragraph a paragraph, one line a table row with its cells parted by `|`.

    Read with `striprtf`, in the file's code page and its fonts' character sets. Raises `UnreadableError` for a file
    that is broken, has bytes that are none of its code page's, or is longer than 64 MiB without its pictures.
    """
    striprtf = needed("striprtf.striprtf", kind="RTF")
    if not data.lstrip().startswith(b"{\\rtf"):
        raise UnreadableError("is broken: no RTF file")
    source = _DRAWN.sub(b"", _without_binary(data))
    if len(source) > _MOST_BYTES:
        raise UnreadableError("is longer than 64 MiB without its pictures")
    try:
        text = striprtf.rtf_to_text(_marked(source))
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not {error.encoding.upper()} text, which it declares to be") from error
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise UnreadableError("is broken: no RTF file") from error
    paragraphs = (text.strip() for text in _blocks(_whole(text)))
    return "\n\n".join(text for text in paragraphs if text)


def _without_binary(data: bytes) -> bytes:
    """The file without bytes that are counted and not written out: there may be braces among them."""
    pieces, position = list[bytes](), 0
    while (found := _BINARY.search(data, position)) is not None:
        pieces.append(data[position : found.start()])
        position = found.end() + int(found[1])
    return b"".join([*pieces, data[position:]])


def _marked(source: bytes) -> str:
    """Source with marks in the place of control words; bytes beyond ASCII are written as RTF writes them."""
    written = "".join(chr(byte) if byte < 0x80 else f"\\'{byte:02x}" for byte in source)
    written = _LINK.sub(r"\1LINK", _BROKEN_LINE.sub(rf"\1{{}}{_PARAGRAPH}", written))
    # The empty group ends what stands for a character that older programs don't know.
    return _WORD.sub(lambda found: f"{found[1]}{{}}{_MARKS[found[2]]}", written)


def _whole(text: str) -> str:
    """The text with characters beyond the first plane, which are written as two, put together."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _blocks(text: str) -> Iterator[str]:
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
