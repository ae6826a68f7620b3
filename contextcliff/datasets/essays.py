"""Dataset `essays`: a story written for this project, which no model has seen, or prose of your own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from contextcliff.errors import ConfigError
from contextcliff.records import Corpus, Document
from contextcliff.settings import settings
from contextcliff.text.sentences import nearest_start, sentence_starts

_PARAGRAPH_BREAK = "\n\n"
_SUFFIXES = (".txt", ".md")
_LOOKED_AT = 4_000
"""Characters around a stretch's start in which its sentence is looked for."""


@settings
class Essays:
    """Text files joined in the order given, folders by the names of their .txt and .md files; none: a built-in story.

    UTF-8, blank lines between paragraphs.
    """

    path: str | None = None
    """One file or folder, before those of `paths`."""
    paths: tuple[str, ...] = ()
    story: str = "the_tide_clerk"
    """The built-in one: `the_tide_clerk` (English), `shiomachi_no_kirokugakari` (Japanese)."""
    language: str = "en"

    @property
    def name(self) -> str:
        """Name in reports."""
        return "essays"

    def identity(self) -> Mapping[str, object]:
        """The text by its digest, wherever the files lie."""
        return {"dataset": self.name, "sha256": hashlib.sha256(self._document().text.encode()).hexdigest()}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - a finite text
        """The text; or `count` turns of it, each from another sentence on to the end and round to that sentence.

        The starts lie evenly over the text, so that no length that is asked for moves them. Turns shorter than
        the text divided by `count` share nothing.
        """
        whole = self._document()
        if count == 1:
            return Corpus(documents=(whole,))
        return Corpus(documents=tuple(_turned(whole, position, count) for position in range(count)))

    def _document(self) -> Document:
        given = [*([self.path] if self.path else []), *self.paths]
        if not given:
            text = _built_in(self.story)
            return Document(document_id="story", title=text.split("\n", 1)[0], text=text, language=self.language)
        found = [file for path in given for file in _files(Path(path).expanduser())]
        text = _PARAGRAPH_BREAK.join(_read(file) for file in found) + "\n"
        title = ", ".join(file.stem for file in found)
        return Document(document_id=title, title=title, text=text, language=self.language)


def _turned(whole: Document, position: int, count: int) -> Document:
    text, target = whole.text, len(whole.text) * position // count
    low, high = max(0, target - _LOOKED_AT), min(len(text), target + _LOOKED_AT)
    starts = sentence_starts(text[low:high], language=whole.language)
    # The window cuts the first sentence in it: its beginning is a start of nothing.
    known = starts[1:] if low > 0 and len(starts) > 1 else starts
    start = low + nearest_start(known, target - low, before=high - low)
    turned = text if start == 0 else f"{text[start:].rstrip()}{_PARAGRAPH_BREAK}{text[:start].rstrip()}\n"
    return replace(whole, document_id=f"{whole.document_id}#{position + 1}", text=turned)


def _built_in(story: str) -> str:
    folder = files("contextcliff.datasets").joinpath("texts")
    file = folder.joinpath(f"{story}.txt")
    if "/" in story or not file.is_file():
        known = ", ".join(sorted(entry.name.removesuffix(".txt") for entry in folder.iterdir()))
        raise ConfigError(f"dataset.story={story}: there is none of this name; choose one of {known}")
    return file.read_text(encoding="utf-8")


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = sorted(file for file in path.iterdir() if file.suffix.lower() in _SUFFIXES and file.is_file())
    if not found:
        raise ConfigError(f"dataset.paths: {path} holds no {' or '.join(_SUFFIXES)} file; give a folder that does")
    yield from found


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig").replace("\r\n", "\n").replace("\r", "\n").strip()
    except UnicodeDecodeError as error:
        raise ConfigError(f"dataset.paths: {path} is not UTF-8 text (byte {error.start}); convert it first") from error
    except OSError as error:
        raise ConfigError(f"dataset.paths: {path} can't be read ({error.strerror}); give a UTF-8 text file") from error
    if "\0" in text:
        raise ConfigError(f"dataset.paths: {path} is binary (a zero byte at {text.index(chr(0))}); give a text file")
    if not text:
        raise ConfigError(f"dataset.paths: {path} is empty; give a file with text in it")
    return text
