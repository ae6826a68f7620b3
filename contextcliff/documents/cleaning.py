"""Cleans the text of a book to plain paragraphs: repairs Unicode, removes licences, joins hard-wrapped lines.

Kept as they are: the lines of verse, lists and letter heads, curly quotes, italics marks, full-width and half-width
Japanese, and hyphens at line ends, because a divided word can't be told from a hyphenated one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_MARKER = re.compile(
    r"""^[ ]*(?:
        (?P<start>
            (?:\*{3}[ ]?START[ ]OF[ ](?:THE|THIS)[ ](?:COPYRIGHTED[ ])?PROJECT[ ]GUTENBERG\b(?:[^*]{0,300}?\*{3}|.*)
                |\*END[ ]?\*?[ ]?THE[ ]SMALL[ ]PRINT!.*)
            (?:\n+(?:Produced[ ]by|E-?text[ ](?:prepared|produced)[ ]by|(?:Transcribed|Scanned)[ ](?:by|from)|Credits?:
                |This[ ]e-?(?:text|book)[ ]was[ ]|Note:[ ]Project[ ]Gutenberg[ ]also[ ]has).*(?:\n.+)*)*)
        | \*{3}[ ]?END[ ]OF[ ](?:THE|THIS)[ ](?:COPYRIGHTED[ ])?PROJECT[ ]GUTENBERG\b(?:[^*]{0,300}?\*{3}|.*)
        | \**[ ]?(?:The[ ])?End[ ]of[ ](?:the[ ]|this[ ])?Project[ ]Gutenberg(?:['’]s|[ ]E-?(?:book|text))\b.*
    )$""",
    re.I | re.M | re.X,
)
"""Where a book of Project Gutenberg starts, with the credits that follow, or ends."""
_MAX_REMOVED_CHARACTERS = 40_000
"""The longest headers and licences have some 20,000; a longer passage between markers is text and stays."""


def without_licence(text: str) -> str:
    """The book, or each book in a file of several: without what stands before a first start and behind an end."""
    markers = list(_MARKER.finditer(text))
    kinds = ["edge", *("end" if marker["start"] is None else "start" for marker in markers), "edge"]
    starts, ends = [0, *(marker.end() for marker in markers)], [*(marker.start() for marker in markers), len(text)]
    kept = [
        text[start:end]
        for sides, start, end in zip(pairwise(kinds), starts, ends, strict=True)
        if end - start > _MAX_REMOVED_CHARACTERS or not (sides[0] == "end" or sides == ("edge", "start"))
    ]
    return "\n\n".join(kept)


_BLANK_LINES = re.compile(r"\n{3,}")
_BREAKS = str.maketrans({"\u2029": "\n\n", "\f": "\n"})
"""Paragraph and page separators, which `ftfy` would turn into line ends or keep."""
_REPLACEMENTS = str.maketrans("\u00a0\u2007\u202f", "   ", "\u00ad\u200b\u2060\ufeff")
"""No-break spaces become blanks; soft hyphen, zero-width space, word joiner and byte order mark go.

The joiners of Persian, Hindi and emoji (U+200C, U+200D) and direction marks stay: they are part of the spelling."""


def clean_text(text: str) -> str:
    """The text as paragraphs with one blank line between them. A clean text is returned unchanged.

    `ftfy` (Speer 2019) repairs mojibake, ligatures, line ends and control characters, and normalises to NFC. Lines are
    joined where one width explains most breaks (`unwrap`)."""
    # Repeated, since one step can uncover work for another: a soft hyphen hides mojibake, a broken line a marker.
    while (cleaned := _clean_once(text)) != text:
        text = cleaned
    return text


def _clean_once(text: str) -> str:
    import ftfy

    rules = ftfy.TextFixerConfig(
        unescape_html=False, uncurl_quotes=False, fix_character_width=False, normalization="NFC", explain=False
    )
    repaired = ftfy.fix_text(text.translate(_BREAKS), rules).translate(_REPLACEMENTS)
    lines = [line.rstrip(" \t") if line.strip() else "" for line in repaired.split("\n")]
    book = _BLANK_LINES.sub("\n\n", without_licence("\n".join(lines))).lstrip("\n")
    body = book.rstrip("\n")
    return unwrap(body) + ("\n" if body and body != book else "")


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
    Paragraphs are separated by one blank line, also those that only a line that is set in begins."""
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
    forced = {each: _is_forced(*each, width) for each in breaks}
    if breaks and 2 * sum(forced[each] for each in breaks) <= len(breaks):
        return "\n".join(lines)
    # In a list or a play continuation lines are set in; in prose without blank lines the first of a paragraph is.
    deeper = [each for each in breaks if _indent(each[1]) > _indent(each[0]) + 1]
    opens = 2 * sum(forced[each] for each in deeper) < len(deeper)
    joined = lines[0]
    for each in breaks:
        following = each[1].lstrip()
        if opens and _indent(each[1]) and (each in deeper or not forced[each]):
            joined += f"\n\n{following}"
        else:
            joined += ("" if _NO_BLANK.search(f"{each[0]}\n{following}") else " ") + following
    return _BLANKS.sub(" ", joined).strip(" ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
