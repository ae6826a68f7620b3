"""Dataset `essays`: a story written for this project, which no model has been trained on, or your own prose."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from contextcliff.datasets.local_files import refuse_large
from contextcliff.documents.containers import UnreadableError
from contextcliff.documents.reader import DocumentReader, documents_in, links_left_out, shown_name
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document
from contextcliff.settings import GivenPath, settings
from contextcliff.text.sentences import nearest_start, sentence_starts

_PARAGRAPH_BREAK = "\n\n"
_ROWS = (".jsonl", ".ndjson", ".json", ".parquet", ".csv", ".tsv")
_SEARCHED_CHARACTERS = 4_000
"""On each side of where a rotation would start, to find the nearest sentence start."""


@settings
class Essays:
    """One text: the given files joined in order (those of a folder by name), or a built-in story."""

    name = "essays"

    path: GivenPath | None = None
    paths: tuple[GivenPath, ...] = ()
    story: str = "the_tide_clerk"
    """The built-in story to use without files: `the_tide_clerk` (English), `shiomachi_no_kirokugakari` (Japanese)."""
    language: str = "en"

    def identity(self) -> Mapping[str, object]:
        return {"dataset": self.name, "sha256": hashlib.sha256(self._document().text.encode()).hexdigest()}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - a finite text
        """The text, or `count` rotations of it: each starts at another sentence and continues at the beginning."""
        whole = self._document()
        parts = (whole,) if count == 1 else tuple(_rotated(whole, position, count) for position in range(count))
        links = [link for key, path in self._given() for link in _files(path, key=key)[1]]
        return Corpus(documents=parts, notes=(f"essays: {links_left_out(links)}",) if links else ())

    def _given(self) -> list[tuple[str, str]]:
        return [
            *([("dataset.path", self.path)] if self.path else []),
            *(("dataset.paths", path) for path in self.paths),
        ]

    def _document(self) -> Document:
        given = self._given()
        if not given:
            folder = files("contextcliff.datasets").joinpath("texts")
            stories = {entry.name.removesuffix(".txt"): entry for entry in folder.iterdir()}
            if self.story not in stories:
                known = ", ".join(sorted(stories))
                raise ConfigError(f"dataset.story={self.story}: there is none of this name; choose one of {known}")
            text = stories[self.story].read_text(encoding="utf-8")
            return Document(document_id="story", title=text.split("\n", 1)[0], text=text, language=self.language)
        sources = [(key, file) for key, path in given for file in _files(path, key=key)[0]]
        text = _PARAGRAPH_BREAK.join(_texts(tuple(_checked(file, key=key) for key, file in sources))) + "\n"
        title = ", ".join(shown_name(file.stem) for _, file in sources)
        is_folder = any(Path(path).expanduser().is_dir() for _, path in given)
        parts = tuple(shown_name(file.name) for _, file in sources) if is_folder else ()
        return Document(document_id=title, title=title, text=text, language=self.language, parts=parts)


def _rotated(whole: Document, position: int, count: int) -> Document:
    text, target = whole.text, len(whole.text) * position // count
    low, high = max(0, target - _SEARCHED_CHARACTERS), min(len(text), target + _SEARCHED_CHARACTERS)
    starts = sentence_starts(text[low:high], language=whole.language)
    # The window starts inside a sentence: its first start is not the start of a sentence.
    known = starts[1:] if low > 0 and len(starts) > 1 else starts
    start = low + nearest_start(known, target - low, before=high - low)
    rotated = text if start == 0 else f"{text[start:].rstrip()}{_PARAGRAPH_BREAK}{text[:start].rstrip()}\n"
    return replace(whole, document_id=f"{whole.document_id}#{position + 1}", text=rotated)


def _files(path: str, *, key: str) -> tuple[list[Path], list[Path]]:
    """The files of a path, and the links of a folder that lead out of it."""
    given = Path(path).expanduser()
    return documents_in(given, place=f"{key}: {path}") if given.is_dir() else ([given], [])


def _checked(path: Path, *, key: str) -> tuple[str, Path, int, int]:
    try:
        status = path.stat()
    except OSError as error:
        raise ConfigError(f"{key}: {path} can't be read ({error.strerror}); give a file that can") from error
    refuse_large(status.st_size, f"{key}: {path}")
    return key, path, status.st_mtime_ns, status.st_size


@lru_cache(maxsize=4)
def _texts(files: tuple[tuple[str, Path, int, int], ...]) -> tuple[str, ...]:
    """The cleaned texts; cached, since a run needs them for its identity and for its corpus."""
    with DocumentReader() as reader:
        return tuple(_text(reader, path, key=key) for key, path, *_ in files)


def _text(reader: DocumentReader, path: Path, *, key: str) -> str:
    if path.suffix.lower() in _ROWS:
        raise ConfigError(
            f"{key}: {path} holds rows and no prose; give a text, or ask the questions of a JSON Lines or Parquet file "
            "with dataset=jsonl task=qa"
        )
    try:
        text = reader.text(path, cleaned=True)
        if not text.strip():
            raise UnreadableError("holds no text once it is cleaned")
    except UnreadableError as error:
        raise ConfigError(f"{key}: {path} {error.reason}; give another file, or its text as UTF-8") from error
    except ConfigError as error:
        raise ConfigError(f"{key}: {path}: {error}") from error
    return text
