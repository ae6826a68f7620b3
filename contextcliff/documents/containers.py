"""Untrusted files: zip containers with limits, bytes decoded by their declared character set, and faults."""

from __future__ import annotations

import codecs
import importlib
import io
import re
import zipfile
import zlib
from typing import Any

from contextcliff.errors import ConfigError

_MAX_UNPACKED_BYTES = 512 << 20
"""All members together; a book with its pictures has less."""
_MAX_NAME = 80
"""Characters of a member's name in messages."""


class UnreadableError(Exception):
    """A document whose text can't be read. `reason` follows the file's name in a message: `is encrypted`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def open_zip(data: bytes, *, kind: str) -> zipfile.ZipFile:
    """Open the container. `kind` (`EPUB`) names the format in messages. Raises `UnreadableError` for one that is
    damaged, encrypted, or unpacks to more than 512 MiB."""
    try:
        container = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise UnreadableError(f"is not a valid {kind} file") from error
    members = container.infolist()
    if sum(member.file_size for member in members) > _MAX_UNPACKED_BYTES:
        raise UnreadableError("unpacks to more than 512 MiB")
    if any(member.flag_bits & 1 for member in members):
        raise UnreadableError("is encrypted")
    return container


def read_member(container: zipfile.ZipFile, name: str, *, kind: str) -> bytes:
    """The content of one member; `zipfile` reads no more of it than the container's directory declares. Raises
    `UnreadableError` where it is missing or damaged."""
    shown = name[:_MAX_NAME] if name.isprintable() else "a file"
    try:
        return container.read(name)
    except KeyError as error:
        raise UnreadableError(f"is not a valid {kind} file: {shown} is missing from it") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise UnreadableError(f"is damaged: {shown} in it can't be unpacked") from error


def read_xml(container: zipfile.ZipFile, name: str, *, kind: str) -> Any:
    """The root element of one XML member. Raises `UnreadableError` where it is missing, not XML or too deep."""
    etree = import_reader("lxml.etree", kind=kind)
    # Entities stay unresolved: a few lines of them can expand to gigabytes, or name a file of this machine.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(read_member(container, name, kind=kind), parser=parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableError(f"is not a valid {kind} file: {name} in it is not XML") from error


_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_DECLARATION = re.compile(
    rb"""<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)|<meta[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""", re.I
)
_SEARCHED_BYTES = 4_096
"""A declaration is searched for in so many bytes; the HTML standard asks for it in the first 1,024."""
_REPLACEMENTS = {
    **dict.fromkeys(("shift_jis", "windows-31j"), "cp932"),
    **dict.fromkeys(("iso8859-1", "ascii"), "cp1252"),
    "iso8859-9": "cp1254",
    **dict.fromkeys(("iso8859-11", "tis-620"), "cp874"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "euc_kr": "cp949",
    **dict.fromkeys(("utf-16", "utf-16-le", "utf-16-be"), "utf-8"),
}
"""Character sets that the WHATWG Encoding Standard reads instead of the declared ones.

A declaration that is readable as ASCII can't be in a UTF-16 file."""
_NO_WRITING = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})
"""Python's encodings that no page is in; `punycode` takes quadratic time."""


def decode(data: bytes, *, declares: bool) -> str:
    """The text, with Unix line ends.

    The character set is that of the byte order mark, else (with `declares`) that of an HTML or XML declaration, else
    UTF-8. Raises `UnreadableError` for bytes that are not valid in it: guessing another one would damage the text."""
    for mark, name in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return _decode_as(name, data[len(mark) :])
    declaration = _DECLARATION.search(data[:_SEARCHED_BYTES]) if declares else None
    if declaration is None:
        return _decode_as("utf-8", data, detail=", and declares no other character set")
    declared = (declaration[1] or declaration[2]).decode("ascii").lower().removeprefix("x-")
    try:
        name = codecs.lookup(_REPLACEMENTS.get(declared, declared)).name
        known = "" if name in _NO_WRITING else _REPLACEMENTS.get(name, name)
        b"a".decode(known)  # a codec such as `rot13` gives no text
    except LookupError as error:
        raise UnreadableError(f"declares the character set {declared[:_MAX_NAME]}, which is unknown") from error
    return _decode_as(known, data, detail=", although it declares to be")


def _decode_as(name: str, data: bytes, *, detail: str = "") -> str:
    try:
        text = data.decode(name)
    except UnicodeError as error:
        raise UnreadableError(f"is not {name.upper()} text{detail}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def import_reader(module: str, *, kind: str) -> Any:
    """Import a module of the extra `docs-in`; `kind` (`PDF`) names the format in the message. Raises `ConfigError` with
    the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"{kind} files are read with {module.partition('.')[0]}, which is not installed; run "
            "pip install 'contextcliff[docs-in]'"
        ) from error
