"""The text of an RTF file: paragraphs and tables in reading order, without notes, fields and deleted words.

`striprtf` reads the codes. Its output does not tell the ends of paragraphs, lines and cells apart, so these are marked
beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from contextcliff.documents.containers import UnreadableError, import_reader

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
    paragraphs = (text.strip() for text in _blocks(_with_joined_surrogates(text)))
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
