"""From bytes to text, by the character set that a file declares."""

from __future__ import annotations

import codecs
import re

from contextcliff.documents.unreadable import UnreadableError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"""<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)|<meta[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""", re.I
)
_LOOKED_AT = 4_096
"""Bytes in which a declaration is looked for; the HTML standard asks for it in the first 1,024."""
_READ_AS = {
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
"""What the WHATWG Encoding Standard reads instead of some names; a declaration that can be read isn't UTF-16."""


def decoded(data: bytes, *, declares: bool) -> str:
    """Text with Unix line ends, by its byte order mark, its declaration (`declares`: HTML and XML), else as UTF-8.

    Raises `UnreadableError` for bytes that are not what they are declared to be: a guess would damage the text.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _as(name, data[len(mark) :])
    found = _DECLARED.search(data[:_LOOKED_AT]) if declares else None
    if found is None:
        return _as("utf-8", data, why=", and tells no other character set")
    declared = (found[1] or found[2]).decode("ascii").lower()
    return _as(_READ_AS.get(declared, declared), data, why=", which it declares to be")


def _as(name: str, data: bytes, *, why: str = "") -> str:
    try:
        text = data.decode(name)
    except LookupError as error:
        raise UnreadableError(f"declares the character set {name}, which is unknown") from error
    except UnicodeError as error:
        raise UnreadableError(f"is not {name.upper()} text{why}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
