"""The text of a PDF: paragraphs put together from printed lines, without running heads and page numbers.

A PDF has no paragraphs, only lines with places. A new one begins where a line is set in, stands apart or is of another
size. A line that ends although the next word had room ends on purpose: a verse, an address, a row of a table.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from contextcliff.documents.pdf_lines import Line, pdf_lines
from contextcliff.documents.unreadable import UnreadableError

_REPEATED, _REPEATED_SHARE = 3, 0.01
"""At least so many pages, and such a share of all, have the same line at an edge before it is a running head."""
_STANDS_APART = 1.25
"""A step down of more than so many usual ones ends a paragraph."""
_SET_IN = 0.6
"""A line that starts so much further right than the one before, in heights of a line, opens a paragraph."""
_OTHER_SIZE = 1.15
_FULL_LINES = 0.8
"""The quantile of line ends that is taken for the right margin."""
_GOES_ON = "\x02"
_BROKEN_WORD = re.compile(rf"(?<!\w)(\w+){_GOES_ON}\s*(\w+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Measure:
    """How a document is set: its usual step from line to line, and where lines end, by where they start."""

    step: float
    column: float
    margins: Mapping[int, float]

    def right(self, line: Line) -> float:
        """The right margin of the line's column."""
        return max(self.margins.get(self.place(line) + off, line.right) for off in (-1, 0))

    def place(self, line: Line) -> int:
        """Which column the line starts in."""
        return round(line.left / self.column)


def pdf_text(data: bytes) -> str:
    """Paragraphs with blank lines between them. Raises `UnreadableError` for a broken, encrypted or scanned file."""
    pages = [page for page in _without_running_heads(pdf_lines(data)) if page]
    if not pages:
        raise UnreadableError("holds no text (it is scanned or empty, and needs OCR first)")
    measure = _measured(pages)
    pieces = [_written(pages[0][0])]
    for position, page in enumerate(pages):
        if position:
            pieces += [_across(pages[position - 1][-1], page, measure), _written(page[0])]
        for index, previous in enumerate(page[:-1]):
            pieces += [_between(previous, page[index + 1 :], measure), _written(page[index + 1])]
    return _with_whole_words("".join(pieces)).strip()


def _written(line: Line) -> str:
    return f"{line.text}{_GOES_ON}" if line.hyphenated else line.text


def _between(previous: Line, rest: Sequence[Line], measure: _Measure) -> str:
    """What stands between two lines of a page: a blank line, a line's end or a blank; nothing inside of a word."""
    if previous.hyphenated:
        return ""
    line = rest[0]
    step = previous.bottom - line.bottom
    if step <= 0:  # the next column
        return _across(previous, rest, measure)
    set_in = line.left - previous.left > _SET_IN * line.height
    if set_in or step > _STANDS_APART * measure.step or _other_size(previous, line):
        return "\n\n"
    return "\n" if _ends_on_purpose(previous, line, measure) else " "


def _across(previous: Line, rest: Sequence[Line], measure: _Measure) -> str:
    """What stands between the last line of a page or column and the lines of the next."""
    if previous.hyphenated:
        return ""
    line = rest[0]
    outermost = sorted(other.left for other in rest)[len(rest) // 10]
    set_in = line.left - outermost > _SET_IN * line.height
    ended = set_in or _other_size(previous, line) or _ends_on_purpose(previous, line, measure)
    return "\n\n" if ended else " "


def _other_size(previous: Line, line: Line) -> bool:
    smaller, larger = sorted((previous.height, line.height))
    return larger > _OTHER_SIZE * smaller


def _ends_on_purpose(previous: Line, line: Line, measure: _Measure) -> bool:
    letter = (line.right - line.left) / len(line.text)
    first_word = line.text.split(" ", 1)[0]
    return measure.right(previous) - previous.right > letter * (len(first_word) + 1)


def _measured(pages: Sequence[Sequence[Line]]) -> _Measure:
    lines = [line for page in pages for line in page]
    steps = sorted(step for page in pages for one, other in pairwise(page) if (step := one.bottom - other.bottom) > 0)
    column = 2 * sorted(line.height for line in lines)[len(lines) // 2]
    ends: defaultdict[int, list[float]] = defaultdict(list)
    for line in lines:
        ends[round(line.left / column)].append(line.right)
    margins = {place: sorted(found)[int(len(found) * _FULL_LINES)] for place, found in ends.items()}
    # Paragraphs of one line stand apart: the lower quartile is a step inside of paragraphs where the median is not.
    return _Measure(step=steps[len(steps) // 4] if steps else column, column=column, margins=margins)


def _without_running_heads(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Lines at the edge of many pages that are the same but for their numbers."""
    edges = [_edges(page) for page in pages]
    seen = Counter(key for page, found in zip(pages, edges, strict=True) for key in {_key(page[i]) for i in found})
    least = max(_REPEATED, len(pages) * _REPEATED_SHARE)
    return [
        [line for index, line in enumerate(page) if index not in found or seen[_key(line)] < least]
        for page, found in zip(pages, edges, strict=True)
    ]


def _edges(page: Sequence[Line]) -> frozenset[int]:
    """Where its two highest and two lowest lines are."""
    order = sorted(range(len(page)), key=lambda index: page[index].bottom)
    return frozenset([*order[:2], *order[-2:]])


def _key(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text)


def _with_whole_words(text: str) -> str:
    """Words that a line's end broke: with their hyphen where only that form stands elsewhere in the text."""
    known = set(_words(text)) if _GOES_ON in text else set()

    def whole(found: re.Match[str]) -> str:
        joined, hyphened = found[1] + found[2], f"{found[1]}-{found[2]}"
        compound = found[2][0].isupper() or (hyphened in known and joined not in known)
        return hyphened if compound else joined

    return _BROKEN_WORD.sub(whole, text).replace(_GOES_ON, "-")


def _words(text: str) -> Iterator[str]:
    return (match[0] for match in re.finditer(r"\w+(?:-\w+)*", text))
