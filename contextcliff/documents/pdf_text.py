"""The text of a PDF: paragraphs made of its printed lines, without running heads and page numbers.

A PDF has no paragraphs, only lines with positions. A paragraph begins where a line is indented, has more space above it
or another font size. A line that ends although the next word would have fitted keeps its end: it is one of a verse, an
address or a table.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from contextcliff.documents.containers import UnreadableError
from contextcliff.documents.pdf_lines import Line, pdf_lines

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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Layout:
    """How a document is set. Lengths are in points."""

    step: float
    """The usual distance from line to line."""
    column: float
    """Width of the classes of left positions."""
    margins: Mapping[int, float]
    """The right margin of each class of left positions."""

    def right(self, line: Line) -> float:
        """The right margin that goes with where the line starts."""
        return max(self.margins.get(self.place(line) + off, line.right) for off in (-1, 0))

    def place(self, line: Line) -> int:
        """The class of left positions that the line starts in."""
        return round(line.left / self.column)


def pdf_text(data: bytes) -> str:
    """Paragraphs with blank lines between them. Raises `UnreadableError` for a damaged, encrypted or scanned file."""
    pages = [page for page in _without_running_heads(pdf_lines(data)) if page]
    if not pages:
        raise UnreadableError("holds no text (it is scanned or empty, and needs OCR first)")
    layout = _layout(pages)
    pieces = [_marked_text(pages[0][0])]
    for position, page in enumerate(pages):
        if position:
            pieces += [_separator_across(pages[position - 1][-1], page, layout), _marked_text(page[0])]
        for index, previous in enumerate(page[:-1]):
            pieces += [_separator(previous, page[index + 1 :], layout), _marked_text(page[index + 1])]
    return _with_joined_words("".join(pieces)).strip()


def _marked_text(line: Line) -> str:
    return f"{line.text}{_DIVIDED}" if line.hyphenated else line.text


def _separator(previous: Line, rest: Sequence[Line], layout: _Layout) -> str:
    """The separator of two lines of a page: a blank line, a line end or a blank; empty inside a word."""
    if previous.hyphenated:
        return ""
    line = rest[0]
    step = previous.bottom - line.bottom
    if step <= 0:  # the next column
        return _separator_across(previous, rest, layout)
    indented = line.left - previous.left > _INDENT * line.height
    if indented or step > _PARAGRAPH_STEP * layout.step or _differs_in_size(previous, line):
        return "\n\n"
    return "\n" if _ends_short(previous, line, layout) else " "


def _separator_across(previous: Line, rest: Sequence[Line], layout: _Layout) -> str:
    """The separator of the last line of a page or column and the first of the next."""
    if previous.hyphenated:
        return ""
    line = rest[0]
    outermost = sorted(other.left for other in rest)[len(rest) // 10]
    indented = line.left - outermost > _INDENT * line.height
    ended = indented or _differs_in_size(previous, line) or _ends_short(previous, line, layout)
    return "\n\n" if ended else " "


def _differs_in_size(previous: Line, line: Line) -> bool:
    smaller, larger = sorted((previous.height, line.height))
    return larger > _SIZE_RATIO * smaller


def _ends_short(previous: Line, line: Line, layout: _Layout) -> bool:
    """Whether the first word of the next line would have fitted at the end of this one."""
    letter_width = (line.right - line.left) / len(line.text)
    first_word = line.text.split(" ", 1)[0]
    return layout.right(previous) - previous.right > letter_width * (len(first_word) + 1)


def _layout(pages: Sequence[Sequence[Line]]) -> _Layout:
    lines = [line for page in pages for line in page]
    steps = sorted(step for page in pages for one, other in pairwise(page) if (step := one.bottom - other.bottom) > 0)
    column = 2 * sorted(line.height for line in lines)[len(lines) // 2]
    ends: defaultdict[int, list[float]] = defaultdict(list)
    for line in lines:
        ends[round(line.left / column)].append(line.right)
    margins = {place: sorted(rights)[int(len(rights) * _MARGIN_QUANTILE)] for place, rights in ends.items()}
    # The lower quartile: with many paragraphs of one line the median is the step between paragraphs.
    return _Layout(step=steps[len(steps) // 4] if steps else column, column=column, margins=margins)


def _without_running_heads(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without the lines that are equal, but for their numbers, at the edges of many pages."""
    edges = [_edges(page) for page in pages]
    n_pages = Counter(key for page, edge in zip(pages, edges, strict=True) for key in {_key(page[i]) for i in edge})
    least = max(_MIN_HEAD_PAGES, len(pages) * _MIN_HEAD_SHARE)
    return [
        [line for index, line in enumerate(page) if index not in edge or n_pages[_key(line)] < least]
        for page, edge in zip(pages, edges, strict=True)
    ]


def _edges(page: Sequence[Line]) -> frozenset[int]:
    """Indices of the two highest and the two lowest lines."""
    order = sorted(range(len(page)), key=lambda index: page[index].bottom)
    return frozenset([*order[:2], *order[-2:]])


def _key(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text)


def _with_joined_words(text: str) -> str:
    """The text with divided words joined; with the hyphen where the text has the word in that form alone."""
    known = set(_words(text)) if _DIVIDED in text else set()

    def join(halves: re.Match[str]) -> str:
        joined, hyphenated = halves[1] + halves[2], f"{halves[1]}-{halves[2]}"
        compound = halves[2][0].isupper() or (hyphenated in known and joined not in known)
        return hyphenated if compound else joined

    return _DIVIDED_WORD.sub(join, text).replace(_DIVIDED, "-")


def _words(text: str) -> Iterator[str]:
    return (match[0] for match in re.finditer(r"\w+(?:-\w+)*", text))
