"""Decodes the bytes of a file by the character set that it declares."""

from __future__ import annotations

import codecs
import re

from contextcliff.documents.unreadable import UnreadableError

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark starts with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARATION = re.compile(
    rb"""<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)|<meta[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""", re.I
)
_SEARCHED_BYTES = 4_096
"""A declaration is searched for in so many bytes; the HTML standard asks for it in the first 1,024."""
_REPLACEMENTS = {
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc-kr": "cp949",
    "utf-16": "utf-8",
}
"""Character sets that the WHATWG Encoding Standard reads instead of the declared ones.

A declaration that is readable as ASCII can't be in a UTF-16 file.
"""


def decode(data: bytes, *, declares: bool) -> str:
    """The text, with Unix line ends.

    The character set is that of the byte order mark, else (with `declares`) that of an HTML or XML declaration, else
    UTF-8. Raises `UnreadableError` for bytes that are not valid in it: guessing another one would damage the text.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode_as(name, data[len(mark) :])
    declaration = _DECLARATION.search(data[:_SEARCHED_BYTES]) if declares else None
    if declaration is None:
        return _decode_as("utf-8", data, detail=", and declares no other character set")
    declared = (declaration[1] or declaration[2]).decode("ascii").lower()
    return _decode_as(_REPLACEMENTS.get(declared, declared), data, detail=", although it declares to be")


def _decode_as(name: str, data: bytes, *, detail: str = "") -> str:
    try:
        text = data.decode(name)
    except LookupError as error:
        raise UnreadableError(f"declares the character set {name}, which is unknown") from error
    except UnicodeError as error:
        raise UnreadableError(f"is not {name.upper()} text{detail}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
