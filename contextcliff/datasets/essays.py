"""Dataset `essays`: a story written for this project, which no model has seen, or prose of your own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from contextcliff.errors import ConfigError
from contextcliff.records import Document
from contextcliff.settings import settings

_STORY = "the_tide_clerk.txt"
_PARAGRAPH_BREAK = "\n\n"


@settings
class Essays:
    """Text files joined in the order given; none: the built-in story. UTF-8, blank lines between paragraphs."""

    paths: tuple[str, ...] = ()
    language: str = "en"

    @property
    def name(self) -> str:
        """Name in reports."""
        return "essays"

    def identity(self) -> Mapping[str, object]:
        """The text by its digest, wherever the files lie."""
        return {"dataset": self.name, "sha256": hashlib.sha256(self._document().text.encode()).hexdigest()}

    def documents(self, *, tokens: int, seed: int) -> tuple[Document, ...]:  # noqa: ARG002 - a finite text
        """One document."""
        return (self._document(),)

    def _document(self) -> Document:
        if not self.paths:
            text = files("contextcliff.datasets").joinpath("texts", _STORY).read_text(encoding="utf-8")
            return Document(document_id="story", title=text.split("\n", 1)[0], text=text, language=self.language)
        text = _PARAGRAPH_BREAK.join(_read(Path(path).expanduser()).strip() for path in self.paths) + "\n"
        title = ", ".join(Path(path).stem for path in self.paths)
        return Document(document_id=title, title=title, text=text, language=self.language)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"dataset.paths: {path} is not UTF-8 text (byte {error.start}); convert it first") from error
    except OSError as error:
        raise ConfigError(f"dataset.paths: {path} can't be read ({error.strerror}); give a UTF-8 text file") from error
