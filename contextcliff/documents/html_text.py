"""The text of HTML pages, alone or as the chapters of an EPUB book.

Paragraphs with blank lines between them, without scripts, menus and forms; of a book all pages in the order of its
spine, without the contents page."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from contextcliff.documents.containers import UnreadableError, decode, import_reader, open_zip, read_member, read_xml

_SKIPPED_NAMES = (
    "head script style noscript template nav footer svg math iframe object audio video canvas button select textarea "
    "datalist rt rp"
)
"""Elements whose text is left out; rt and rp are the readings beside Japanese characters (furigana)."""
_BLOCK_NAMES = (
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure form "
    "h1 h2 h3 h4 h5 h6 header hr html legend main ol p pre section summary table tbody tfoot thead ul"
)
_SKIPPED, _BLOCKS = frozenset(_SKIPPED_NAMES.split()), frozenset(_BLOCK_NAMES.split())
_ROWS = frozenset({"li", "tr"})
_CELLS = frozenset({"td", "th"})
_PARAGRAPH, _LINE, _ROW, _KEPT_BLANK = "\x1e", "\x1f", "\x1d", "\xa0"
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\xad]")
"""Control characters, some of which are the marks above, and soft hyphens."""


def html_text(markup: str) -> str:
    """Text in reading order: a paragraph per block, a line per list item and table row, cells separated by ` | `.

    Scripts, comments, navigation, footers and form controls are left out. Raises `UnreadableError` for a page nested
    deeper than 2,048 elements."""
    html = import_reader("lxml.html", kind="HTML")
    # Without huge_tree lxml stops at a smaller depth and drops the rest of the page silently.
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    source = _CONTROLS.sub("", markup).encode("utf-8", "replace")
    if not source.strip():
        return ""
    root = html.document_fromstring(source, parser=parser, ensure_head_body=True)
    faults = {entry.type_name for entry in parser.error_log}
    if "ERR_NO_MEMORY" in faults:
        raise MemoryError
    if "ERR_RESOURCE_LIMIT" in faults:
        raise UnreadableError("nests its elements too deeply to be read")
    # A line end between rows and for one `br`; a blank line between paragraphs and for several `br`.
    marks = f"[{_PARAGRAPH}{_LINE}{_ROW}]"
    text = re.sub(rf" ?({marks}) ?", r"\1", re.sub(r" {2,}", " ", "".join(_pieces(root))))
    return re.sub(f"{marks}+", _line_ends, text).replace(_KEPT_BLANK, " ").strip()


def _pieces(root: Any) -> Iterator[str]:
    """Text and marks in document order; iterative, so that deep nesting does not exhaust the stack."""
    pending: list[tuple[Any, bool]] = [(root, False)]
    while pending:
        element, is_done = pending.pop()
        if is_done:
            yield _mark_after_cell(element) if element.tag in _CELLS else _mark(element)
            yield _with_html_blanks(element, element.tail, inside=False)
            continue
        pending.append((element, True))
        yield _LINE if element.tag == "br" else _mark(element)
        if element.tag not in _SKIPPED and "hidden" not in element.attrib:
            yield _with_html_blanks(element, element.text, inside=True)
            pending.extend((child, False) for child in reversed(element))


def _with_html_blanks(element: Any, text: str | None, *, inside: bool) -> str:
    """Text with runs of blanks reduced to one, but for `pre`, which keeps its lines and blanks."""
    if not text:
        return ""
    holder = element if inside else element.getparent()
    if holder is not None and (holder.tag == "pre" or any(True for _ in holder.iterancestors("pre"))):
        return text.replace(" ", _KEPT_BLANK).replace("\t", _KEPT_BLANK).replace("\n", _LINE)
    return re.sub(r"[ \t\n\f]+", " ", text)


def _mark(element: Any) -> str:
    """What stands before an element and, but for cells and `br`, behind it."""
    return _PARAGRAPH if element.tag in _BLOCKS else _ROW if element.tag in _ROWS else ""


def _mark_after_cell(cell: Any) -> str:
    following = cell.getnext()
    if following is None or following.tag not in _CELLS:
        return ""
    # Cells that hold blocks are page layout, others are data.
    has_blocks = any(inner.tag in _BLOCKS for each in (cell, following) for inner in each.iterdescendants())
    return _PARAGRAPH if has_blocks else " | "


def _line_ends(run: re.Match[str]) -> str:
    one = _PARAGRAPH not in run[0] and (_ROW in run[0] or len(run[0]) == 1)
    return "\n" if one else "\n\n"


_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_PAGE_TYPES = frozenset({"application/xhtml+xml", "text/html"})
_SELF_CLOSED = re.compile(r"<(script|title|style|iframe|textarea)\b([^<>]*)/>", re.I)
"""Valid XHTML; an HTML parser would take the rest of the page for the content of such an element."""


def epub_text(data: bytes) -> str:
    """All pages of the spine. Raises `UnreadableError` for a damaged book and for one under copy protection."""
    container = open_zip(data, kind="EPUB")
    root = read_xml(container, _CONTAINER, kind="EPUB").find(".//{*}rootfile")
    package = "" if root is None else root.get("full-path", "")
    # The spine of a valid book names a page once.
    pages = dict.fromkeys(_pages(read_xml(container, package, kind="EPUB"), posixpath.dirname(package)))
    if not pages:
        raise UnreadableError("is not a valid EPUB file: it has no pages")
    if _ENCRYPTION in container.namelist():  # often fonts alone
        locked = read_xml(container, _ENCRYPTION, kind="EPUB").iterfind(".//{*}CipherReference")
        if not pages.keys().isdisjoint(posixpath.normpath(unquote(each.get("URI", ""))) for each in locked):
            raise UnreadableError("is encrypted")
    markups = (decode(read_member(container, page, kind="EPUB"), declares=True) for page in pages)
    return "\n\n".join(filter(None, (html_text(_SELF_CLOSED.sub(r"<\1\2></\1>", markup)) for markup in markups)))


def _pages(package: Any, folder: str) -> Iterator[str]:
    items = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if (
            item is not None
            and item.get("media-type") in _PAGE_TYPES
            and "nav" not in item.get("properties", "").split()
        ):
            yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
