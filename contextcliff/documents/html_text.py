"""The text of an HTML page: paragraphs with blank lines between them, without what surrounds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from contextcliff.documents.unreadable import UnreadableError, needed

_SILENT_NAMES = (
    "head script style noscript template nav footer svg math iframe object audio video canvas button select textarea "
    "datalist rt rp"
)
"""Elements whose text is no part of the page's own; rt and rp are the small readings beside Japanese characters."""
_BLOCK_NAMES = (
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure form "
    "h1 h2 h3 h4 h5 h6 header hr html legend main ol p pre section summary table tbody tfoot thead ul"
)
_SILENT, _BLOCKS = frozenset(_SILENT_NAMES.split()), frozenset(_BLOCK_NAMES.split())
_ROWS = frozenset({"li", "tr"})
_CELLS = frozenset({"td", "th"})
_PARAGRAPH, _LINE, _ROW, _KEPT_BLANK = "\x1e", "\x1f", "\x1d", "\xa0"
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\xad]")
"""Control characters, which the marks above are made of, and soft hyphens."""


def html_text(markup: str) -> str:
    """Text in reading order: one paragraph a block, one line a list item and a table row, cells parted by `|`.

    Scripts, styles, comments, navigation, footers and form controls are left out; an unclosed element is closed as a
    browser would. Empty where the page holds no text. Raises `UnreadableError` for a page nested deeper than 2,048.
    """
    html = needed("lxml.html", kind="HTML")
    # The depth limit that huge_tree lifts would cut off the rest of the page without a word.
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    source = _CONTROLS.sub("", markup).encode("utf-8", "replace")
    if not source.strip():
        return ""
    root = html.document_fromstring(source, parser=parser, ensure_head_body=True)
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        raise UnreadableError("nests its elements too deeply to be read")
    return _laid_out("".join(_pieces(root)))


def _pieces(root: Any) -> Iterator[str]:
    """Text and marks in document order, from a walk that no depth of nesting exhausts."""
    todo: list[tuple[Any, bool]] = [(root, False)]
    while todo:
        element, left = todo.pop()
        if left:
            yield _mark_after(element)
            yield _flowing(element, element.tail, inside=False)
            continue
        todo.append((element, True))
        yield _mark_before(element)
        if element.tag not in _SILENT and "hidden" not in element.attrib:
            yield _flowing(element, element.text, inside=True)
            todo.extend((child, False) for child in reversed(element))


def _flowing(element: Any, text: str | None, *, inside: bool) -> str:
    """Text with its blanks as HTML has them: one for many, but for `pre`, which keeps its lines and blanks."""
    if not text:
        return ""
    holder = element if inside else element.getparent()
    if holder is not None and (holder.tag == "pre" or any(True for _ in holder.iterancestors("pre"))):
        return text.replace(" ", _KEPT_BLANK).replace("\t", _KEPT_BLANK).replace("\n", _LINE)
    return re.sub(r"[ \t\n\f]+", " ", text)


def _mark_before(element: Any) -> str:
    if element.tag == "br":
        return _LINE
    return _PARAGRAPH if element.tag in _BLOCKS else _ROW if element.tag in _ROWS else ""


def _mark_after(element: Any) -> str:
    if element.tag not in _CELLS:
        return "" if element.tag == "br" else _mark_before(element)
    following = element.getnext()
    if following is None or following.tag not in _CELLS:
        return ""
    # A cell that holds blocks lays out a page; others are data.
    return " | " if _is_plain(element) and _is_plain(following) else _PARAGRAPH


def _is_plain(cell: Any) -> bool:
    return not any(inner.tag in _BLOCKS for inner in cell.iterdescendants())


def _laid_out(text: str) -> str:
    text = re.sub(rf" ?([{_PARAGRAPH}{_LINE}{_ROW}]) ?", r"\1", re.sub(r" {2,}", " ", text))
    text = re.sub(rf"[{_PARAGRAPH}{_LINE}{_ROW}]+", lambda run: _line_ends(run[0]), text)
    return text.replace(_KEPT_BLANK, " ").strip()


def _line_ends(marks: str) -> str:
    """One line's end between rows and after a `br`; a blank line between paragraphs and for several `br`."""
    one = _PARAGRAPH not in marks and (_ROW in marks or len(marks) == 1)
    return "\n" if one else "\n\n"
