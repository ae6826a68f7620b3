"""The text of an EPUB book: its chapters in the order of its spine, without the contents page."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from contextcliff.documents.archives import member, opened, xml_member
from contextcliff.documents.charsets import decoded
from contextcliff.documents.html_text import html_text
from contextcliff.documents.unreadable import UnreadableError

_CONTAINER, _LOCKS = "META-INF/container.xml", "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html"})
_CLOSED_AT_ONCE = re.compile(r"<(script|title|style|iframe|textarea)\b([^>]*)/>", re.I)
"""XHTML may write these so; an HTML parser would take the rest of the page for their content."""


def epub_text(data: bytes) -> str:
    """All pages of the spine. Raises `UnreadableError` for a broken book or one under copy protection."""
    container = opened(data, kind="EPUB")
    root = xml_member(container, _CONTAINER, kind="EPUB").find(".//{*}rootfile")
    package = "" if root is None else root.get("full-path", "")
    locked = set(_locked(container))
    pages = list(_pages(xml_member(container, package, kind="EPUB"), posixpath.dirname(package)))
    if not pages:
        raise UnreadableError("is broken: this EPUB file has no pages")
    if locked.intersection(pages):
        raise UnreadableError("is encrypted")
    texts = (_page(container, page) for page in pages)
    return "\n\n".join(text for text in texts if text)


def _pages(package: Any, folder: str) -> Iterator[str]:
    items = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _PAGES or "nav" in item.get("properties", "").split():
            continue
        yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))


def _locked(container: zipfile.ZipFile) -> Iterator[str]:
    """Files under copy protection; fonts are often listed too, which is no hindrance."""
    if _LOCKS in container.namelist():
        for reference in xml_member(container, _LOCKS, kind="EPUB").iterfind(".//{*}CipherReference"):
            yield posixpath.normpath(unquote(reference.get("URI", "")))


def _page(container: zipfile.ZipFile, name: str) -> str:
    markup = decoded(member(container, name, kind="EPUB"), declares=True)
    return html_text(_CLOSED_AT_ONCE.sub(r"<\1\2></\1>", markup))
