"""The printed lines of a PDF with their positions, in the order in which the pages draw them."""

from __future__ import annotations

from collections.abc import Iterator
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
    """The lines of each page; a page without text (a scan) has none.

    Read with PDFium (`pypdfium2`). Raises `UnreadableError` for a damaged or encrypted file.
    """
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
    return Line(
        text=_words(codes[first : last + 1]),
        left=text.get_charbox(first, loose=True)[0],
        right=text.get_charbox(last, loose=True)[2],
        bottom=bottom,
        height=max(0.1, top - bottom),
        hyphenated=hyphenated,
    )


def _words(codes: list[int]) -> str:
    # PDFium may give a character beyond the basic plane as two surrogates.
    text = "".join(map(chr, codes)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(text.translate(_REPLACEMENTS).split(" "))
