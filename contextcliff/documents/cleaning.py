"""A book as people have it, brought to plain paragraphs: sound Unicode, no licence, no hard-wrapped lines.

Left as they are: letters' heads, verse and lists with their lines, curly quotes, marks of italics, full-width and
half-width Japanese, and hyphens at line ends, since a divided word looks like one that is written with a hyphen.
"""

from __future__ import annotations

import re

from contextcliff.documents.gutenberg import without_licence
from contextcliff.documents.line_wrapping import unwrapped

_BLANK_LINES = re.compile(r"\n{3,}")
_BREAKS = str.maketrans({"\u2029": "\n\n", "\f": "\n"})
"""Ends of paragraphs and pages, which ftfy would take for ends of lines or leave."""
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
"""Soft hyphen, zero-width space, word joiner, byte order mark. The joiners of Persian, Hindi and emoji (U+200C, U+200D)
and marks of direction are part of how a word is spelt."""
_NO_BREAK_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u202f"), " ")
_SHOWN = {**_INVISIBLE, **_NO_BREAK_SPACES}


def clean_text(text: str) -> str:
    """The text in paragraphs with one blank line between them; what is clean already comes back as it is.

    Mojibake, ligatures, line ends and control characters are mended by `ftfy` (Speer 2019), in NFC; HTML entities are
    no business of a plain text's. Lines are joined where a wrap width explains their ends, see `line_wrapping`. No
    blanks stand at line ends, and at most one line end after the last line.
    """
    # One step can uncover work for another: a soft hyphen hides mojibake, a joined line a marker.
    while (cleaned := _cleaned_once(text)) != text:
        text = cleaned
    return text


def _cleaned_once(text: str) -> str:
    sound = _sound(text.translate(_BREAKS)).translate(_SHOWN)
    lines = [line.rstrip(" \t") if line.strip() else "" for line in sound.split("\n")]
    parted = _BLANK_LINES.sub("\n\n", "\n".join(without_licence(lines))).lstrip("\n")
    body = parted.rstrip("\n")
    return unwrapped(body) + ("\n" if body and body != parted else "")


def _sound(text: str) -> str:
    import ftfy

    return ftfy.fix_text(
        text,
        ftfy.TextFixerConfig(
            unescape_html=False, uncurl_quotes=False, fix_character_width=False, normalization="NFC", explain=False
        ),
    )
