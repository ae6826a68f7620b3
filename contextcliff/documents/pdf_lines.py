"""The printed lines of a PDF, in the order in which its pages draw them, with the place of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from contextcliff.documents.unreadable import UnreadableError, needed

_HYPHENS = frozenset({0x02, 0xFFFE})
"""What PDFium tells for a hyphen that ends a line and goes on in the next."""
_LINE_ENDS = frozenset({0x0A, 0x0D}) | _HYPHENS
_PASSWORD_NEEDED = 4
"""PDFium's `FPDF_ERR_PASSWORD`."""
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_SIGNS: dict[int, str] = {
    **dict.fromkeys((*range(32), 127, 173, 65279, 65534, 65535), ""),
    **dict.fromkeys((9, 160), " "),
    **_LIGATURES,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of print; places in points from the page's lower left corner, of boxes as high as the font."""

    text: str
    left: float
    right: float
    bottom: float
    height: float
    hyphenated: bool
    """Its last word goes on in the next line; `text` is without the hyphen."""


def pdf_lines(data: bytes) -> list[list[Line]]:
    """The lines of each page; a page without text (a scan) has none.

    Read with PDFium (`pypdfium2`). Raises `UnreadableError` for a broken or encrypted file.
    """
    pdfium = needed("pypdfium2", kind="PDF")
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        told = "is encrypted" if error.err_code == _PASSWORD_NEEDED else "is broken: no PDF file"
        raise UnreadableError(told) from error
    try:
        return [list(_page(document[number])) for number in range(len(document))]
    except pdfium.PdfiumError as error:
        raise UnreadableError("is broken: a page of it can't be read") from error
    finally:
        document.close()


def _page(page: Any) -> Iterator[Line]:
    raw = needed("pypdfium2.raw", kind="PDF")
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
    # The middle letter tells the size: a first one may be an initial, a last one a note's number.
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
    # Beyond the basic plane PDFium may tell the halves of a pair one by one.
    whole = "".join(map(chr, codes)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(whole.translate(_SIGNS).split(" "))
