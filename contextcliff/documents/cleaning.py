"""Cleans the text of a book to plain paragraphs: repairs Unicode, removes licences, joins hard-wrapped lines.

Kept as they are: the lines of verse, lists and letter heads, curly quotes, italics marks, full-width and half-width
Japanese, and hyphens at line ends, because a divided word can't be told from a hyphenated one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

_START = re.compile(
    r"""\s*(?:
        \*{3}\s?START\ OF\ (?:THE|THIS)\ (?:COPYRIGHTED\ )?PROJECT\ GUTENBERG\b
        | \*END\ ?\*?\ ?THE\ SMALL\ PRINT!                             # until 2003, at the foot of the header
        | To\ contact\ Project\ Gutenberg\ of\ Australia\ go\ to\b     # the last line of its header
    )""",
    re.I | re.X,
)
_END = re.compile(
    r"""\s*(?:
        \*{3}\s?END\ OF\ (?:THE|THIS)\ (?:COPYRIGHTED\ )?PROJECT\ GUTENBERG\b
        | \**\s?(?:The\ )?End\ of\ (?:the\ |this\ )?Project\ Gutenberg(?:['’]s|\ E-?(?:book|text))\b
    )""",
    re.I | re.X,
)
_AUSTRALIAN_START = re.compile(r"\s*To contact Project Gutenberg of Australia\b", re.I)
_AUSTRALIAN_END = re.compile(r"\s*(?:Project Gutenberg (?:of )?Australia$|This site is full of FREE ebooks)", re.I)
_CREDIT = re.compile(
    r"""\s*(?:Produced\ by | E-?text\ (?:prepared|produced)\ by | (?:Transcribed|Scanned)\ (?:by|from) | Credits?:
        | This\ e-?(?:text|book)\ was\ (?:prepared|produced|scanned|transcribed)
        | Note:\ Project\ Gutenberg\ also\ has | (?:Title|Author):\s | -{3,}$)""",
    re.I | re.X,
)
_MAX_REMOVED_CHARACTERS = 40_000
"""The longest headers and licences have some 20,000; a longer passage between markers is text and stays."""
_MAX_MARKER_LINES = 4
"""Lines of a marker with a long title."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Marker:
    """The lines from `first` to before `after`. An `edge` is the beginning or end of the file."""

    kind: Literal["start", "end", "edge"]
    first: int
    after: int


def without_licence(lines: Sequence[str]) -> list[str]:
    """The lines of the book, or of each book in a file of several; all lines where there is no marker.

    Removed are the markers, the text before the first start, between an end and the next start and after the last end,
    and the credits right after a start.
    """
    markers = _markers(lines)
    if not markers:
        return list(lines)
    edges = [_Marker(kind="edge", first=0, after=0), *markers, _Marker(kind="edge", first=len(lines), after=len(lines))]
    kept: list[str] = []
    for left, right in pairwise(edges):
        between = lines[left.after : right.first]
        if not _is_boilerplate(left, right, between):
            kept += [*([""] if kept else []), *(_without_credits(between) if left.kind == "start" else between)]
    return kept


def _is_boilerplate(left: _Marker, right: _Marker, between: Sequence[str]) -> bool:
    """Whether the lines between two markers are header or licence."""
    if sum(map(len, between)) > _MAX_REMOVED_CHARACTERS:
        return False
    if left.kind == "end":
        return True
    # A header can have two starts, its own and that of the small print. Other text between two starts is a book whose
    # end is not marked.
    small_print = left.kind == "start" and any("project gutenberg" in line.lower() for line in between)
    return right.kind == "start" and (left.kind == "edge" or small_print)


def _markers(lines: Sequence[str]) -> list[_Marker]:
    markers: list[_Marker] = []
    australian = False
    for number, line in enumerate(lines):
        if markers and number < markers[-1].after:
            continue
        if _START.match(line):
            australian |= _AUSTRALIAN_START.match(line) is not None
            markers.append(_Marker(kind="start", first=number, after=_end_of_marker(lines, number)))
        elif _END.match(line) or (australian and _AUSTRALIAN_END.match(line)):
            markers.append(_Marker(kind="end", first=number, after=_end_of_marker(lines, number)))
    return markers


def _end_of_marker(lines: Sequence[str], first: int) -> int:
    """The line after a marker; one with a long title goes on to the line that ends with asterisks."""
    line = lines[first].strip()
    if line.startswith("***") and not line.endswith("***"):
        for number in range(first + 1, min(first + _MAX_MARKER_LINES, len(lines))):
            if not lines[number].strip():
                break
            if lines[number].rstrip().endswith("***"):
                return number + 1
    return first + 1


def _without_credits(lines: Sequence[str]) -> Sequence[str]:
    """The lines without the first paragraphs, where these say who made the file."""
    first = 0
    while True:
        while first < len(lines) and not lines[first].strip():
            first += 1
        if first == len(lines) or not _CREDIT.match(lines[first]):
            return lines[first:]
        while first < len(lines) and lines[first].strip():
            first += 1


_BLANK_LINES = re.compile(r"\n{3,}")
_BREAKS = str.maketrans({"\u2029": "\n\n", "\f": "\n"})
"""Paragraph and page separators, which `ftfy` would turn into line ends or keep."""
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
"""Soft hyphen, zero-width space, word joiner, byte order mark.

The joiners of Persian, Hindi and emoji (U+200C, U+200D) and direction marks stay: they are part of the spelling.
"""
_NO_BREAK_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u202f"), " ")
_REPLACEMENTS = {**_INVISIBLE, **_NO_BREAK_SPACES}


def clean_text(text: str) -> str:
    """The text as paragraphs with one blank line between them. A clean text is returned unchanged.

    `ftfy` (Speer 2019) repairs mojibake, ligatures, line ends and control characters, and normalises to NFC; HTML
    entities stay, since this is plain text. Lines are joined where one width explains most breaks (`unwrap`). The
    result has no blanks at line ends and at most one line end after the last line.
    """
    # Repeated, since one step can uncover work for another: a soft hyphen hides mojibake, a broken line a marker.
    while (cleaned := _clean_once(text)) != text:
        text = cleaned
    return text


def _clean_once(text: str) -> str:
    repaired = _fix_unicode(text.translate(_BREAKS)).translate(_REPLACEMENTS)
    lines = [line.rstrip(" \t") if line.strip() else "" for line in repaired.split("\n")]
    book = _BLANK_LINES.sub("\n\n", "\n".join(without_licence(lines))).lstrip("\n")
    body = book.rstrip("\n")
    return unwrap(body) + ("\n" if body and body != book else "")


def _fix_unicode(text: str) -> str:
    import ftfy

    return ftfy.fix_text(
        text,
        ftfy.TextFixerConfig(
            unescape_html=False, uncurl_quotes=False, fix_character_width=False, normalization="NFC", explain=False
        ),
    )


_WIDTHS = range(40, 121)
"""Widths, in columns, to which prose is wrapped."""
_WITHIN = 0.95
"""Share of the wrapped lines that keep to the width."""
_MIN_BREAKS = 20
"""Breaks of a text that is tested for a width: fewer lines of a poem can be of equal length by chance."""
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
    r"\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, Chinese and Japanese: they set no spaces between words, and lines break anywhere."""
_UNSPACED_BREAK = re.compile(rf"[{_UNSPACED}]\n|\n\s*[{_UNSPACED}]")
_BLANKS = re.compile(r"[ \t]+")
_NO_BLANK = re.compile(r"[^\W_]-\n(?=[^\W_])|[^\s-](?:--|—)\n|\n(?=(?:--|—)\S)")
"""A break at which a hyphen or a dash stands: it stays, without a blank beside it."""


def unwrap(text: str) -> str:
    """The text with one line per paragraph, if it is hard-wrapped. Verse, letter heads and lists keep their lines.

    Paragraphs are separated by one blank line, also those that only a line that is set in begins.
    """
    paragraphs = [paragraph.split("\n") for paragraph in text.split("\n\n")]
    used = sorted(len(line) for lines in paragraphs for line in lines[:-1])
    if len(used) < _MIN_BREAKS:
        return text
    width = used[int(_WITHIN * len(used))]
    forced = sum(_is_forced(*lines, width) for paragraph in paragraphs for lines in pairwise(paragraph))
    longer = sum(len(line) for lines in paragraphs for line in lines if len(line) > width)
    if width not in _WIDTHS or 2 * forced <= len(used) or 2 * longer > len(text):
        return text
    return "\n\n".join(_joined(lines, width) for lines in paragraphs)


def _is_forced(line: str, following: str, width: int) -> bool:
    words = following.split(maxsplit=1)
    if not words or _UNSPACED_BREAK.search(f"{line}\n{following}"):
        return False
    return len(line) + 1 + len(words[0]) > width


def _joined(lines: Sequence[str], width: int) -> str:
    breaks = list(pairwise(lines))
    if breaks and 2 * sum(_is_forced(*each, width) for each in breaks) <= len(breaks):
        return "\n".join(lines)
    # In a list or a play continuation lines are set in; in prose without blank lines the first of a paragraph is.
    deeper = [each for each in breaks if _is_deeper(*each)]
    opens = 2 * sum(_is_forced(*each, width) for each in deeper) < len(deeper)
    joined = lines[0]
    for each in breaks:
        following = each[1].lstrip()
        if opens and _indent(each[1]) and (each in deeper or not _is_forced(*each, width)):
            joined += f"\n\n{following}"
        else:
            joined += ("" if _NO_BLANK.search(f"{each[0]}\n{following}") else " ") + following
    return _BLANKS.sub(" ", joined).strip(" ")


def _is_deeper(line: str, following: str) -> bool:
    return _indent(following) > _indent(line) + 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
