"""Joins hard-wrapped lines to paragraphs, where one width explains most line breaks of the text.

A break is forced where the first word of the next line would not have fitted within the width. Verse, lists and letter
heads have breaks that it does not force.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

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
