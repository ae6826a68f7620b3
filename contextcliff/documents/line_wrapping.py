"""Hard-wrapped lines put together again, where the width that they were wrapped to explains where they end.

A break is forced where the next line's first word would not have fitted into the width. The width is the one that
forces most breaks of lines that keep to it. Verse, lists and the heads of letters break where nothing forces them.
A long line that goes on in lower case runs on too: books were corrected after they were wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

_NARROWEST, _WIDEST = 40, 120
"""Columns that texts are wrapped to."""
_FEWEST_BREAKS = 20
"""Fewer lines of a poem can end alike by chance."""
_FEWEST_NARROW = 3
"""Breaks of a paragraph that is taken to be wrapped to less than its document is."""
_LONG = 0.8
"""Of the width: a line of verse is seldom as long, and one of a letter in a novel mostly is."""
_WELL_SHORT = 10
"""Columns left beside the next word where a line amid prose was ended on purpose; a correction leaves fewer."""
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
    r"\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, Chinese and Japanese, whose lines break inside of what stands between blanks."""
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
    """The end of a line that is followed by another: what it has used, and what the next word takes, in columns."""

    used: int
    needed: int
    """The next word and the blank before it; 0 where lines break without words."""
    deeper: bool
    """Whether the next line is set in further."""
    lower: bool
    """Whether the next line begins in lower case."""

    def forced(self, width: int) -> bool:
        return self.needed > 0 and self.used + self.needed > width

    def runs_on(self, width: int) -> bool:
        """Whether the sentence goes on in the next line, forced or not: a long line, and no capital after it."""
        return self.forced(width) or (self.lower and self.used + self.needed > _LONG * width)


def unwrapped(text: str) -> str:
    """The text with one line a paragraph, if it is hard-wrapped; verse, letters' heads and lists keep their lines.

    Paragraphs are parted by one blank line each. Those that only a line set in, or a line well short of the width
    between two sentences, parts from the one before get theirs. A hyphen at a line's end and a dash at a line's end or
    beginning stay, with no blank beside them; a dash that opens a line has one where the text sets it so elsewhere.
    """
    paragraphs = [paragraph.split("\n") for paragraph in text.split("\n\n")]
    width = _wrap_width(paragraphs)
    if width is None:
        return text
    blank = len(_OPENING_DASH.findall(text)) > len(_PARTING_DASH.findall(text))
    return "\n\n".join(_joined(lines, width, before_dash=" " if blank else "") for lines in paragraphs)


def _wrap_width(paragraphs: Sequence[Sequence[str]]) -> int | None:
    """The width in columns that most breaks follow from; None for a text that is not hard-wrapped.

    Text in longer lines speaks against a width as much as breaks that it forces speak for it.
    """
    lengths = [len(line) for lines in paragraphs for line in lines]
    breaks = [found for lines in paragraphs for found in _breaks(lines)]
    if len(breaks) < _FEWEST_BREAKS:
        return None
    forced_from, longer = [0] * (_WIDEST + 2), [0] * (_WIDEST + 2)
    for one in breaks:
        if one.needed and one.used <= _WIDEST:
            forced_from[one.used] += 1
            forced_from[min(one.used + one.needed, _WIDEST + 1)] -= 1
    for length in lengths:
        longer[min(length, _WIDEST + 1)] += length
    forced, text = list(accumulate(forced_from)), sum(lengths)
    shorter = list(accumulate(longer))
    surplus = {
        width: forced[width] / len(breaks) - (text - shorter[width]) / text for width in range(_NARROWEST, _WIDEST + 1)
    }
    best = max(surplus, key=surplus.__getitem__)
    return best if surplus[best] > 0.5 else None


def _breaks(lines: Sequence[str]) -> Iterator[_Break]:
    for line, following in pairwise(lines):
        word = _FIRST_WORD.match(following)
        unspaced = word is None or _UNSPACED_START.match(word[1]) or _UNSPACED_END.search(line)
        yield _Break(
            used=len(line),
            needed=0 if word is None or unspaced else len(word[1]) + 1,
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
    # In a list or a play lines are set in where they go on, in prose without blank lines where a paragraph opens.
    deeper = [one for one in breaks if one.deeper]
    opens = sum(one.forced(width) for one in deeper) * 2 < len(deeper)
    pieces = [_set(lines[0])]
    for (line, following), one in zip(pairwise(lines), breaks, strict=True):
        pieces += [_between(line, following, one, width, opens=opens, before_dash=before_dash), _set(following)]
    return "".join(pieces)


def _runs_on(breaks: Sequence[_Break], width: int) -> bool:
    """Whether most lines of a paragraph run on; of two halves the one decides that goes on in lower case."""
    running = [one for one in breaks if one.runs_on(width)]
    return len(running) * 2 > len(breaks) or (len(running) * 2 == len(breaks) and any(one.lower for one in running))


def _is_narrow_prose(lines: Sequence[str], breaks: Sequence[_Break], width: int) -> bool:
    """Whether a paragraph keeps to a width of its own, as letters in a novel do; verse goes on with capitals."""
    if len(breaks) < _FEWEST_NARROW or width < _NARROWEST or not all(one.forced(width) for one in breaks):
        return False
    return sum(line.lstrip(" \t")[:1].islower() for line in lines[1:]) * 2 > len(breaks)


def _between(line: str, following: str, one: _Break, width: int, *, opens: bool, before_dash: str) -> str:
    """What stands between two lines of a paragraph of wrapped prose."""
    set_in = _indent(following) > 0 and (one.deeper or not one.forced(width))
    if opens and set_in:
        return "\n\n"
    if one.needed == 0:
        return "\n"
    if one.used + one.needed + _WELL_SHORT <= width:
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


def _set(line: str) -> str:
    """The line with single blanks, as it stands in running text."""
    return _BLANKS.sub(" ", line).strip(" ")


def _indent(line: str) -> int:
    found = _INDENT.match(line)
    return found.end() if found else 0


def _is_deeper(line: str, following: str) -> bool:
    """Whether a line is set in further; by one blank only where a sentence ends before it: that much is a slip."""
    further = _indent(following) - _indent(line)
    return further > 1 or (further == 1 and _SENTENCE_END.search(line) is not None)


def _begins_in_lower_case(line: str) -> bool:
    letter = _LOWER_CASE.match(line)
    return letter is not None and letter[1].islower()
