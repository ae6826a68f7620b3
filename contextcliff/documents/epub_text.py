"""The text of an EPUB book: its chapters in the order of its spine, without the contents page."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from contextcliff.documents.containers import UnreadableError, decode, open_zip, read_member, read_xml
from contextcliff.documents.html_text import html_text

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_PAGE_TYPES = frozenset({"application/xhtml+xml", "text/html"})
_SELF_CLOSED = re.compile(r"<(script|title|style|iframe|textarea)\b([^>]*)/>", re.I)
"""Valid XHTML; an HTML parser would take the rest of the page for the content of such an element."""


def epub_text(data: bytes) -> str:
    """All pages of the spine. Raises `UnreadableError` for a damaged book and for one under copy protection."""
    container = open_zip(data, kind="EPUB")
    root = read_xml(container, _CONTAINER, kind="EPUB").find(".//{*}rootfile")
    package = "" if root is None else root.get("full-path", "")
    encrypted = set(_encrypted_files(container))
    pages = list(_pages(read_xml(container, package, kind="EPUB"), posixpath.dirname(package)))
    if not pages:
        raise UnreadableError("is not a valid EPUB file: it has no pages")
    if encrypted.intersection(pages):
        raise UnreadableError("is encrypted")
    texts = (_page(container, page) for page in pages)
    return "\n\n".join(text for text in texts if text)


def _pages(package: Any, folder: str) -> Iterator[str]:
    items = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _PAGE_TYPES or "nav" in item.get("properties", "").split():
            continue
        yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))


def _encrypted_files(container: zipfile.ZipFile) -> Iterator[str]:
    """Files under copy protection. Often these are fonts alone, and the pages can be read."""
    if _ENCRYPTION in container.namelist():
        for reference in read_xml(container, _ENCRYPTION, kind="EPUB").iterfind(".//{*}CipherReference"):
            yield posixpath.normpath(unquote(reference.get("URI", "")))


def _page(container: zipfile.ZipFile, name: str) -> str:
    markup = decode(read_member(container, name, kind="EPUB"), declares=True)
    return html_text(_SELF_CLOSED.sub(r"<\1\2></\1>", markup))
