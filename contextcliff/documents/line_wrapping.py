"""Joins hard-wrapped lines to paragraphs, where one wrap width explains the line breaks of the text.

A break is forced where the first word of the next line would not have fitted within the width. The width is the one
that forces most breaks among the lines that keep to it. Verse, lists and letter heads have breaks that it does not
force. A long line whose sentence continues in lower case is joined too: books were corrected after they were wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

_MIN_WIDTH, _MAX_WIDTH = 40, 120
"""Widths, in columns, that are considered."""
_MIN_BREAKS = 20
"""Breaks of a text that is tested for a width: fewer lines of a poem can be of equal length by chance."""
_MIN_NARROW_BREAKS = 3
"""Breaks of a paragraph that may have a smaller width than the document."""
_LONG_LINE = 0.8
"""Fraction of the width. Lines of verse are seldom as long; those of letters in novels mostly are."""
_SPARE_COLUMNS = 10
"""Columns left after the next word where a line of prose was ended on purpose; a correction leaves fewer."""
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
    r"\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, Chinese and Japanese: they set no spaces between words, and lines break anywhere."""
_UNSPACED_START, _UNSPACED_END = re.compile(rf"[{_UNSPACED}]"), re.compile(rf"[{_UNSPACED}]\Z")
_FIRST_WORD = re.compile(r"[ \t]*([^ \t]+)")
_INDENT = re.compile(r"[ \t]*")
_BLANKS = re.compile(r"[ \t]+")
_TYPEWRITTEN = re.compile(r"(?<=[^ \t])  (?=[^ \t])")
_HYPHENATED = re.compile(r"[^\W_]-\Z")
_DASHED = re.compile(r"[^\s-](?:--|—)\Z")
_DASH_FIRST = re.compile(r"(?:--|—)[^\s-]")
_OPENED_WORD = re.compile(r"""["'“‘«(\[_*]*[^\W_]""")
_WORD = re.compile(r"[^\W_]")
_PARTING_DASH = re.compile(r"(?<=[^\W_])(?:--|—)(?=[^\W_])")
_OPENING_DASH = re.compile(r"(?<=[^\W_] )(?:--|—)(?=[^\W_])")
_LOWER_CASE = re.compile(r"\W*([^\W\d_])")
_SENTENCE_END = re.compile(r"""[.!?:…]["'”’»)\]]*\Z""")
_SENTENCE_START = re.compile(r"""["'“‘«(\[]*[^\W_a-z]""")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Break:
    """The break between two lines of a paragraph. Lengths are in columns."""

    used: int
    """Length of the line before the break."""
    next_word: int
    """Length of the next line's first word and the blank before it; 0 in scripts without spaces."""
    deeper: bool
    """Whether the next line is indented further."""
    lower: bool
    """Whether the next line starts in lower case."""

    def forced(self, width: int) -> bool:
        """Whether the next word would not have fitted on the line."""
        return self.next_word > 0 and self.used + self.next_word > width

    def runs_on(self, width: int) -> bool:
        """Whether the break is inside a sentence: it is forced, or after a long line and before lower case."""
        return self.forced(width) or (self.lower and self.used + self.next_word > _LONG_LINE * width)


def unwrap(text: str) -> str:
    """The text with one line per paragraph, if it is hard-wrapped. Verse, letter heads and lists keep their lines.

    Paragraphs are separated by one blank line, also those that start with an indented line only, or after a line that
    ends a sentence well short of the width. Hyphens and dashes at line ends, and dashes at line starts, stay without a
    blank beside them; a dash at a line start gets a blank before it where the text sets dashes so.
    """
    paragraphs = [paragraph.split("\n") for paragraph in text.split("\n\n")]
    width = _wrap_width(paragraphs)
    if width is None:
        return text
    blank = len(_OPENING_DASH.findall(text)) > len(_PARTING_DASH.findall(text))
    return "\n\n".join(_joined(lines, width, before_dash=" " if blank else "") for lines in paragraphs)


def _wrap_width(paragraphs: Sequence[Sequence[str]]) -> int | None:
    """The width in columns that forces most breaks; None for a text that is not hard-wrapped.

    A width scores the share of breaks that it forces, minus the share of text in lines longer than it.
    """
    lengths = [len(line) for lines in paragraphs for line in lines]
    breaks = [one for lines in paragraphs for one in _breaks(lines)]
    if len(breaks) < _MIN_BREAKS:
        return None
    forced_steps, characters_of_length = [0] * (_MAX_WIDTH + 2), [0] * (_MAX_WIDTH + 2)
    for one in breaks:
        if one.next_word and one.used <= _MAX_WIDTH:
            forced_steps[one.used] += 1
            forced_steps[min(one.used + one.next_word, _MAX_WIDTH + 1)] -= 1
    for length in lengths:
        characters_of_length[min(length, _MAX_WIDTH + 1)] += length
    forced, characters = list(accumulate(forced_steps)), sum(lengths)
    within = list(accumulate(characters_of_length))
    scores = {
        width: forced[width] / len(breaks) - (characters - within[width]) / characters
        for width in range(_MIN_WIDTH, _MAX_WIDTH + 1)
    }
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] > 0.5 else None


def _breaks(lines: Sequence[str]) -> Iterator[_Break]:
    for line, following in pairwise(lines):
        word = _FIRST_WORD.match(following)
        unspaced = word is None or _UNSPACED_START.match(word[1]) or _UNSPACED_END.search(line)
        yield _Break(
            used=len(line),
            next_word=0 if word is None or unspaced else len(word[1]) + 1,
            deeper=_is_deeper(line, following),
            lower=_begins_in_lower_case(following),
        )


def _joined(lines: Sequence[str], width: int, *, before_dash: str) -> str:
    breaks = list(_breaks(lines))
    if not breaks:
        return _TYPEWRITTEN.sub(" ", lines[0]).strip(" \t")
    if sum(one.forced(width) for one in breaks) * 2 <= len(breaks):
        narrow = max(one.used for one in breaks)
        if not (_runs_on(breaks, width) or _is_narrow_prose(lines, breaks, narrow)):
            return "\n".join(lines)
        width = narrow
    # In a list or a play continuation lines are indented; in prose without blank lines the first of a paragraph is.
    deeper = [one for one in breaks if one.deeper]
    opens = sum(one.forced(width) for one in deeper) * 2 < len(deeper)
    pieces = [_single_blanks(lines[0])]
    for (line, following), one in zip(pairwise(lines), breaks, strict=True):
        pieces += [
            _between(line, following, one, width, opens=opens, before_dash=before_dash),
            _single_blanks(following),
        ]
    return "".join(pieces)


def _runs_on(breaks: Sequence[_Break], width: int) -> bool:
    """Whether most lines of a paragraph run on; at exactly half, whether one of these continues in lower case."""
    running = [one for one in breaks if one.runs_on(width)]
    return len(running) * 2 > len(breaks) or (len(running) * 2 == len(breaks) and any(one.lower for one in running))


def _is_narrow_prose(lines: Sequence[str], breaks: Sequence[_Break], width: int) -> bool:
    """Whether a paragraph has a smaller width of its own, as letters in novels do. Verse starts lines with capitals."""
    if len(breaks) < _MIN_NARROW_BREAKS or width < _MIN_WIDTH or not all(one.forced(width) for one in breaks):
        return False
    return sum(line.lstrip(" \t")[:1].islower() for line in lines[1:]) * 2 > len(breaks)


def _between(line: str, following: str, one: _Break, width: int, *, opens: bool, before_dash: str) -> str:
    """The separator of two lines in a paragraph of wrapped prose."""
    indented = _indent(following) > 0 and (one.deeper or not one.forced(width))
    if opens and indented:
        return "\n\n"
    if one.next_word == 0:
        return "\n"
    if one.used + one.next_word + _SPARE_COLUMNS <= width:
        if _SENTENCE_END.search(line) and _SENTENCE_START.match(following.lstrip(" \t")):
            return "\n\n"
        if not one.lower:
            return "\n"
    text = following.lstrip(" \t")
    if _DASH_FIRST.match(text):
        return before_dash
    if _DASHED.search(line):
        return "" if _OPENED_WORD.match(text) else " "
    return "" if _HYPHENATED.search(line) and _WORD.match(text) else " "


def _single_blanks(line: str) -> str:
    """The line with single blanks, as in running text."""
    return _BLANKS.sub(" ", line).strip(" ")


def _indent(line: str) -> int:
    indent = _INDENT.match(line)
    return indent.end() if indent else 0


def _is_deeper(line: str, following: str) -> bool:
    """Whether the next line is indented further; a single blank counts after a sentence end only, else it is a typo."""
    further = _indent(following) - _indent(line)
    return further > 1 or (further == 1 and _SENTENCE_END.search(line) is not None)


def _begins_in_lower_case(line: str) -> bool:
    letter = _LOWER_CASE.match(line)
    return letter is not None and letter[1].islower()
