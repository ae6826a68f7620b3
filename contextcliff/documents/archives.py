"""Zip containers (DOCX, ODT, EPUB) from untrusted sources, read with limits on their size."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any

from contextcliff.documents.unreadable import UnreadableError, import_reader

_MAX_UNPACKED_BYTES = 512 << 20
"""All members together; a book with its pictures has less."""
_MAX_MEMBERS = 20_000
_MAX_NAME = 80
"""Characters of a member's name in messages."""


def open_zip(data: bytes, *, kind: str) -> zipfile.ZipFile:
    """Open the container. `kind` (`EPUB`) names the format in messages.

    Raises `UnreadableError` for one that is damaged, encrypted, or unpacks to more than 512 MiB.
    """
    try:
        container = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise UnreadableError(f"is not a valid {kind} file") from error
    members = container.infolist()
    if len(members) > _MAX_MEMBERS or sum(member.file_size for member in members) > _MAX_UNPACKED_BYTES:
        raise UnreadableError("unpacks to more than 512 MiB")
    if any(member.flag_bits & 1 for member in members):
        raise UnreadableError("is encrypted")
    return container


def read_member(container: zipfile.ZipFile, name: str, *, kind: str) -> bytes:
    """The content of one member; `zipfile` reads no more of it than the container's directory declares.

    Raises `UnreadableError` where it is missing or damaged.
    """
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
