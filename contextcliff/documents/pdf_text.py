"""The text of a PDF: paragraphs made of its printed lines, without running heads and page numbers.

A PDF has no paragraphs, only lines with positions. A paragraph begins where a line is indented, has more space above it
or another font size. A line that ends although the next word would have fitted keeps its end: it is one of a verse, an
address or a table."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from contextcliff.documents.containers import UnreadableError, import_reader

_HYPHENS = frozenset({0x02, 0xFFFE})
"""PDFium's codes for a hyphen that divides a word between two lines."""
_LINE_ENDS = frozenset({0x0A, 0x0D}) | _HYPHENS
_PASSWORD_NEEDED = 4
"""PDFium's `FPDF_ERR_PASSWORD`."""
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_REPLACEMENTS: dict[int, str] = {
    **dict.fromkeys((*range(32), 127, 173, 65279, 65534, 65535), ""),
    **dict.fromkeys((9, 160), " "),
    **_LIGATURES,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A printed line. Positions are in points from the lower left corner of the page, of boxes as high as the font."""

    text: str
    left: float
    right: float
    bottom: float
    height: float
    hyphenated: bool
    """Whether the last word is divided at the end of the line; `text` is without that hyphen."""


def pdf_lines(data: bytes) -> list[list[Line]]:
    """The lines of each page; a page without text (a scan) has none. Read with PDFium (`pypdfium2`). Raises
    `UnreadableError` for a damaged or encrypted file."""
    pdfium = import_reader("pypdfium2", kind="PDF")
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        encrypted = error.err_code == _PASSWORD_NEEDED
        raise UnreadableError("is encrypted" if encrypted else "is not a valid PDF file") from error
    try:
        return [list(_page(document[number])) for number in range(len(document))]
    except pdfium.PdfiumError as error:
        raise UnreadableError("is damaged: a page can't be read") from error
    finally:
        document.close()


def _page(page: Any) -> Iterator[Line]:
    raw = import_reader("pypdfium2.raw", kind="PDF")
    text = page.get_textpage()
    codes = [raw.FPDFText_GetUnicode(text, index) for index in range(text.count_chars())]
    ends = [index for index, code in enumerate(codes) if code in _LINE_ENDS]
    for before, end in pairwise([-1, *ends, len(codes)]):
        inked = [index for index in range(before + 1, end) if not chr(codes[index]).isspace()]
        if inked:
            yield _line(text, codes, inked, hyphenated=end < len(codes) and codes[end] in _HYPHENS)
    text.close()
    page.close()


def _line(text: Any, codes: list[int], inked: list[int], *, hyphenated: bool) -> Line:
    first, middle, last = inked[0], inked[len(inked) // 2], inked[-1]
    # The middle letter gives the size: the first may be a large initial, the last the number of a footnote.
    _, bottom, _, top = text.get_charbox(middle, loose=True)
    # PDFium may give a character beyond the basic plane as two surrogates.
    words = "".join(map(chr, codes[first : last + 1])).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Line(
        text=" ".join(words.translate(_REPLACEMENTS).split(" ")),
        left=text.get_charbox(first, loose=True)[0],
        right=text.get_charbox(last, loose=True)[2],
        bottom=bottom,
        height=max(0.1, top - bottom),
        hyphenated=hyphenated,
    )


_MIN_HEAD_PAGES, _MIN_HEAD_SHARE = 3, 0.01
"""A running head is a line at the edge of at least so many pages, and of such a share of all pages."""
_PARAGRAPH_STEP = 1.25
"""A larger distance between two lines, in multiples of the usual one, ends a paragraph."""
_INDENT = 0.6
"""A line that starts so much further right than the one before, in line heights, begins a paragraph."""
_SIZE_RATIO = 1.15
"""Lines whose heights differ by a larger factor are of different font sizes."""
_MARGIN_QUANTILE = 0.8
"""The quantile of line ends that is used as the right margin."""
_DIVIDED = "\x02"
"""Marks the place where a line end divides a word."""
_DIVIDED_WORD = re.compile(rf"(?<!\w)(\w+){_DIVIDED}\s*(\w+)")


def pdf_text(data: bytes) -> str:
    """Paragraphs with blank lines between them. Raises `UnreadableError` for a damaged, encrypted or scanned file."""
    pages = [page for page in _without_running_heads(pdf_lines(data)) if page]
    if not pages:
        raise UnreadableError("holds no text (it is scanned or empty, and needs OCR first)")
    lines = [line for page in pages for line in page]
    steps = sorted(step for page in pages for one, other in pairwise(page) if (step := one.bottom - other.bottom) > 0)
    column = 2 * sorted(line.height for line in lines)[len(lines) // 2]
    # The lower quartile: with many paragraphs of one line the median is the step between paragraphs.
    usual = steps[len(steps) // 4] if steps else column
    ends: defaultdict[int, list[float]] = defaultdict(list)
    for line in lines:
        ends[round(line.left / column)].append(line.right)
    margins = {place: sorted(rights)[int(len(rights) * _MARGIN_QUANTILE)] for place, rights in ends.items()}

    def margin(line: Line) -> float:
        """The right margin that goes with where a line starts."""
        return max(margins.get(round(line.left / column) + off, line.right) for off in (-1, 0))

    text, previous = "", None
    for page in pages:
        for index, line in enumerate(page):
            if previous is not None:
                text += _separator(previous, page[index:], usual, margin(previous), across=not index)
            text += f"{line.text}{_DIVIDED}" if line.hyphenated else line.text
            previous = line
    return _with_joined_words(text).strip()


def _separator(previous: Line, rest: Sequence[Line], usual: float, margin: float, *, across: bool) -> str:
    """The separator of two lines, `across` a page or not: a blank line, a line end or a blank; empty inside a word.
    `usual` is the distance from line to line, `margin` the right margin of the line before."""
    line = rest[0]
    if previous.hyphenated:
        return ""
    step = previous.bottom - line.bottom
    across = across or step <= 0  # the next column
    left = sorted(other.left for other in rest)[len(rest) // 10] if across else previous.left
    smaller, larger = sorted((previous.height, line.height))
    begins = line.left - left > _INDENT * line.height or larger > _SIZE_RATIO * smaller
    # The first word of the line would have fitted at the end of the one before.
    letter, first_word = (line.right - line.left) / len(line.text), line.text.split(" ", 1)[0]
    is_short = margin - previous.right > letter * (len(first_word) + 1)
    if begins or (is_short if across else step > _PARAGRAPH_STEP * usual):
        return "\n\n"
    return "\n" if is_short else " "


def _without_running_heads(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without the lines that are equal, but for their numbers, at the edges of many pages."""
    orders = [sorted(range(len(page)), key=lambda index: page[index].bottom) for page in pages]
    edges = [{*order[:2], *order[-2:]} for order in orders]
    n_pages = Counter(key for page, edge in zip(pages, edges, strict=True) for key in {_key(page[i]) for i in edge})
    least = max(_MIN_HEAD_PAGES, len(pages) * _MIN_HEAD_SHARE)
    return [
        [line for index, line in enumerate(page) if index not in edge or n_pages[_key(line)] < least]
        for page, edge in zip(pages, edges, strict=True)
    ]


def _key(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text)


def _with_joined_words(text: str) -> str:
    """The text with divided words joined; with the hyphen where the text has the word in that form alone."""
    known = set(re.findall(r"\w+(?:-\w+)*", text)) if _DIVIDED in text else set()

    def join(halves: re.Match[str]) -> str:
        joined, hyphenated = halves[1] + halves[2], f"{halves[1]}-{halves[2]}"
        compound = halves[2][0].isupper() or (hyphenated in known and joined not in known)
        return hyphenated if compound else joined

    return _DIVIDED_WORD.sub(join, text).replace(_DIVIDED, "-")
