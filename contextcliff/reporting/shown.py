"""Text that came from outside as a console can show it."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

_PLAIN_SIGNS = str.maketrans(
    {"–": "-", "—": "-", "−": "-", "…": "...", "·": "-", "“": '"', "”": '"', "‘": "'", "’": "'"}
)


def shown(text: str, *, console: Console, keep: str = "") -> Text:
    """Text that this console can show, whatever it holds; characters in `keep` stay as they are.

    A `Text` is never read for markup. Control characters could move the cursor or set colours, and
    characters that the console's encoding lacks would end the run in its last second: both are
    printed as escapes.
    """
    plain = "".join(char if char.isprintable() or char in keep else escaped(char) for char in text)
    encoding = console.encoding
    try:
        plain.encode(encoding)
    except UnicodeEncodeError:
        plain = plain.translate(_PLAIN_SIGNS)
    return Text(plain.encode(encoding, errors="backslashreplace").decode(encoding))


def escaped(char: str) -> str:
    """A character that can't be printed, as one or several that can."""
    return " " if char.isspace() else char.encode("unicode_escape").decode("ascii")
