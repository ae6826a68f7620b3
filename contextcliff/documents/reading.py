"""Reads the text of a PDF, Word, OpenDocument, RTF, EPUB, HTML, Markdown or text file, by its suffix."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from contextcliff.documents.containers import UnreadableError, decode
from contextcliff.documents.html_text import epub_text, html_text
from contextcliff.documents.office_text import docx_text, odt_text, rtf_text
from contextcliff.documents.pdf_text import pdf_text

_BLANK_LINES = re.compile(r"\n[ \t\n]*\n")
_STRIPPED = " \t\n\f\v\u00a0"
"""Removed at both ends of a text. The ideographic space stays: it indents a Japanese paragraph."""


def read_document(path: Path) -> str:
    """Plain text with blank lines between paragraphs, without scripts, comments, navigation and running heads.

    The suffix, one of `SUFFIXES`, chooses the reader; a file with any other is read as text. Markdown keeps its markup.
    Raises `UnreadableError` for a file that is damaged, encrypted, in an unknown character set or without text (a
    scan), and `ConfigError` where the package that reads it is not installed.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"can't be read ({error.strerror})") from error
    text = _BLANK_LINES.sub("\n\n", _READERS.get(path.suffix.lower(), _plain)(data)).strip(_STRIPPED)
    if not text.strip():
        raise UnreadableError("holds no text")
    return text


def documents_in(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files of a folder with one of `SUFFIXES`, sorted by name, without hidden files and subfolders.

    Links that lead out of the folder come apart, as the second list. Raises `OSError` for a folder that can't be read.
    """
    home = folder.resolve()
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file())
    visible = [file for file in files if not file.name.startswith(".")]
    links = [file for file in visible if not file.resolve().is_relative_to(home)]
    return [file for file in visible if file not in links], links


def links_left_out(links: Sequence[Path]) -> str:
    """How many links of a folder are left out, one of them, and the way out. Empty without any."""
    if not links:
        return ""
    return (
        f"links that lead out of their folder are left out: {len(links)}, one of them "
        f"{' '.join(shown_name(links[0].name).split())}; copy into the folder what they name"
    )


def shown_name(name: str) -> str:
    """The name of a file; bytes in it that are not UTF-8 are escapes (`caf\\xe9`)."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _html(data: bytes) -> str:
    return html_text(decode(data, declares=True))


def _markdown(data: bytes) -> str:
    """The text without comments; a search by hand, since a pattern takes quadratic time over unclosed ones."""
    text, kept, position = _plain(data), [], 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept.append(text[position:start])
        position = end + len("-->")
    return "".join([*kept, text[position:]])


def _plain(data: bytes) -> str:
    text = decode(data, declares=False)
    if "\0" in text:
        raise UnreadableError("is binary, not text")
    return text


_READERS: Mapping[str, Callable[[bytes], str]] = {
    ".pdf": pdf_text,
    ".docx": docx_text,
    ".odt": odt_text,
    ".rtf": rtf_text,
    ".epub": epub_text,
    ".html": _html,
    ".htm": _html,
    ".xhtml": _html,
    ".md": _markdown,
    ".txt": _plain,
}
SUFFIXES = tuple(_READERS)
"""The suffixes of documents, in lower case."""
