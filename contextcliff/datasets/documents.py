"""Dataset `documents`: your own PDF, Word, ODT, RTF, EPUB, HTML, Markdown and text files, and questions on them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from contextcliff.datasets.entries import Entry, assemble
from contextcliff.datasets.local_files import checked_file, digest_of_file, refuse_large
from contextcliff.datasets.own_schema import entry_of, json_rows
from contextcliff.datasets.rows import Row
from contextcliff.documents.reading import SUFFIXES, read_document
from contextcliff.documents.unreadable import UnreadableError
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document
from contextcliff.seeding import digest_of
from contextcliff.settings import GivenPath, PositiveInt, settings

_QUESTIONS = (".jsonl",)
_MOST_NAMED = 20
"""Files that a note names; it counts the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """What a folder gave: texts, and why there is none, by file name."""

    texts: Mapping[str, str]
    unreadable: Mapping[str, str]


@settings
class Documents:
    """The files of a folder, and a JSON Lines file with `document` (a file's name), `question`, `answers` …

    `own_schema` says what else a line may tell. Without questions the files are texts for the tasks that plant needles.
    What can't be read (a scan, an encrypted or broken file) is left out and named.
    """

    path: GivenPath | None = None
    """A folder; its own folders are not looked into."""
    questions: GivenPath | None = None
    limit: PositiveInt | None = None
    """The first so many questions; None: all."""
    metadata: tuple[str, ...] = ()
    """Further columns, of text or numbers, by which scores are told apart."""
    kind: Literal["short", "summary"] = "short"
    """How answers are compared, where a question has no choices."""
    language: str = "en"
    """ISO 639-1, of the texts."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return "documents"

    def identity(self) -> Mapping[str, object]:
        """The files by names and digests. Raises `ConfigError` for an absent folder or file."""
        files = {file.name: digest_of_file(file, key="dataset.path") for file in self._files()}
        asked = None if self.questions is None else digest_of_file(self._questions_file(), key="dataset.questions")
        return {
            "dataset": self.name,
            "sha256": digest_of(sorted(files.items()), asked),
            "limit": self.limit,
            "metadata": list(self.metadata),
            "kind": self.kind,
            "language": self.language,
        }

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - all that there is
        """Every file that can be read, and every question. Raises `ConfigError` for one whose file has no text."""
        read = self._read()
        documents = tuple(
            Document(document_id=name, title=name, text=text, language=self.language)
            for name, text in read.texts.items()
        )
        notes = tuple(self._notes(read))
        if self.questions is None:
            if not documents:
                raise ConfigError(f"dataset.path={self.path}: none of its files can be read; {notes[0]}")
            return Corpus(documents=documents, notes=notes)
        entries = (self._entry(row, read) for row in self._questions())
        return assemble(
            islice(entries, self.limit),
            source=f"dataset.questions={self.questions}",
            language=self.language,
            documents=documents,
            notes=notes,
        )

    def _read(self) -> _Read:
        texts, unreadable = dict[str, str](), dict[str, str]()
        for file in self._files():
            name = unicodedata.normalize("NFC", file.name)
            try:
                texts[name] = read_document(file)
            except UnreadableError as error:
                unreadable[name] = error.reason
        return _Read(texts=texts, unreadable=unreadable)

    def _entry(self, row: Row, read: _Read) -> Entry:
        name = unicodedata.normalize("NFC", row.text("document"))
        if name in read.unreadable:
            raise row.fault(f"asks about {name}, which {read.unreadable[name]}")
        if name not in read.texts:
            raise row.fault(f"asks about {name}, and dataset.path={self.path} has no such document")
        return entry_of(row, context=read.texts[name], document_id=name, kind=self.kind, metadata=self.metadata)

    def _notes(self, read: _Read) -> Iterator[str]:
        if read.unreadable:
            told = [f"{' '.join(name.split())} {reason}" for name, reason in read.unreadable.items()]
            files = len(read.texts) + len(read.unreadable)
            yield f"documents: {len(told)} of {files} files are left out: {_some(told)}"

    def _files(self) -> list[Path]:
        if self.path is None:
            raise ConfigError("dataset.path: missing; give dataset.path=FOLDER, which holds the documents")
        folder = Path(self.path).expanduser()
        if not folder.is_dir():
            raise ConfigError(f"dataset.path={self.path}: there is no such folder; give one that holds the documents")
        try:
            found = sorted(file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file())
        except OSError as error:
            raise ConfigError(f"dataset.path={self.path}: can't be read ({error.strerror})") from error
        visible = [file for file in found if not file.name.startswith(".")]
        if not visible:
            raise ConfigError(f"dataset.path={self.path}: holds no document; these are read: {', '.join(SUFFIXES)}")
        for file in visible:
            refuse_large(file.stat().st_size, f"dataset.path={file}")
        return visible

    def _questions(self) -> Iterator[Row]:
        return json_rows(self._questions_file(), place=f"dataset.questions={self.questions}")

    def _questions_file(self) -> Path:
        return checked_file(self.questions or "", key="dataset.questions", suffixes=_QUESTIONS)


def _some(items: Sequence[str]) -> str:
    more = f"; and {len(items) - _MOST_NAMED} more" if len(items) > _MOST_NAMED else ""
    return "; ".join(items[:_MOST_NAMED]) + more
