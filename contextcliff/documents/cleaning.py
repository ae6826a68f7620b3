"""Cleans the text of a book to plain paragraphs: repairs Unicode, removes licences, joins hard-wrapped lines.

Kept as they are: the lines of verse, lists and letter heads, curly quotes, italics marks, full-width and half-width
Japanese, and hyphens at line ends, because a divided word can't be told from a hyphenated one.
"""

from __future__ import annotations

import re

from contextcliff.documents.gutenberg import without_licence
from contextcliff.documents.line_wrapping import unwrap

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
    entities stay, since this is plain text. Lines are joined where a wrap width explains the breaks between them (see
    `line_wrapping`). The result has no blanks at line ends and at most one line end after the last line.
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
