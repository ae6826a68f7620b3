"""Zip containers of others' making, opened with bounds."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any

from contextcliff.documents.unreadable import UnreadableError, needed

_MOST_BYTES = 512 << 20
"""Of all members together, unpacked: a book with its pictures has less."""
_MOST_MEMBERS = 20_000


def opened(data: bytes, *, kind: str) -> zipfile.ZipFile:
    """The container. Raises `UnreadableError` for one that is broken, locked or unpacks to more than 512 MiB."""
    try:
        container = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise UnreadableError(f"is broken: no {kind} file") from error
    members = container.infolist()
    if len(members) > _MOST_MEMBERS or sum(member.file_size for member in members) > _MOST_BYTES:
        raise UnreadableError("unpacks to more than 512 MiB")
    if any(member.flag_bits & 1 for member in members):
        raise UnreadableError("is encrypted")
    return container


def member(container: zipfile.ZipFile, name: str, *, kind: str) -> bytes:
    """One file in it, never more of it than its directory told. Raises `UnreadableError` where it is not to be had."""
    told = name[:80] if name.isprintable() else "a file"
    try:
        return container.read(name)
    except KeyError as error:
        raise UnreadableError(f"is broken: this {kind} file lacks {told}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise UnreadableError(f"is broken: {told} in it can't be unpacked") from error


def xml_member(container: zipfile.ZipFile, name: str, *, kind: str) -> Any:
    """One XML file in it, parsed. Raises `UnreadableError` for one that is absent or no XML, or nests too deeply."""
    etree = needed("lxml.etree", kind=kind)
    # Entities are not resolved: a document of a few lines could expand to gigabytes, or name a file of this machine.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(member(container, name, kind=kind), parser=parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableError(f"is broken: {name} in it is no XML") from error
