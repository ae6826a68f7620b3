"""Dataset `documents`: your own PDF, Word, ODT, RTF, EPUB, HTML, Markdown and text files, and questions on them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from contextcliff.datasets.entries import Entry, Row, build_corpus, entry_of
from contextcliff.datasets.jsonl import read_json_lines
from contextcliff.datasets.local_files import checked_file, digest_of_file, refuse_large
from contextcliff.documents.containers import UnreadableError
from contextcliff.documents.reader import SUFFIXES, DocumentReader, documents_in, links_left_out, shown_name
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document
from contextcliff.seeding import digest_of
from contextcliff.settings import GivenPath, PositiveInt, settings

_QUESTION_SUFFIXES = (".jsonl",)
_MAX_NAMED = 20
"""Files that a note names; it counts the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _FolderContent:
    """The files of a folder, by name."""

    texts: Mapping[str, str]
    unreadable: Mapping[str, str]
    """Why a file has no text."""
    links: Sequence[Path]
    """Those that lead out of the folder."""


@settings
class Documents:
    """The files of a folder, and questions on them in a JSON Lines file.

    A question names its file in `document`; `entries` lists the other columns. Without questions the files are
    haystacks for the needle tasks. Files that can't be read (scanned, encrypted or damaged) are left out, and a note
    names them.
    """

    name = "documents"

    path: GivenPath | None = None
    """A folder; its subfolders, and links that lead out of it, are not read."""
    questions: GivenPath | None = None
    """A JSON Lines file."""
    limit: PositiveInt | None = None
    """Number of questions to take from the beginning of the file; None takes all."""
    metadata: tuple[str, ...] = ()
    """Further columns of text or numbers; the report breaks scores down by each."""
    kind: Literal["short", "summary"] = "short"
    """How answers are scored where a question has no choices."""
    language: str = "en"
    """Of the texts, as an ISO 639-1 code."""

    def identity(self) -> Mapping[str, object]:
        files = {shown_name(file.name): digest_of_file(file, key="dataset.path") for file in self._files()[0]}
        questions = None if self.questions is None else digest_of_file(self._questions_file(), key="dataset.questions")
        return {
            "dataset": self.name,
            "sha256": digest_of(sorted(files.items()), questions),
            "limit": self.limit,
            "metadata": list(self.metadata),
            "kind": self.kind,
            "language": self.language,
        }

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - the folder is finite
        content = self._content()
        documents = tuple(
            Document(document_id=name, title=name, text=text, language=self.language)
            for name, text in content.texts.items()
        )
        notes = tuple(_notes(content))
        if self.questions is None:
            if not documents:
                raise ConfigError(f"dataset.path={self.path}: none of its files can be read; {notes[0]}")
            return Corpus(documents=documents, notes=notes)
        entries = (self._entry(row, content) for row in self._question_rows())
        return build_corpus(
            islice(entries, self.limit),
            source=f"dataset.questions={self.questions}",
            language=self.language,
            documents=documents,
            notes=notes,
        )

    def _content(self) -> _FolderContent:
        texts, unreadable = dict[str, str](), dict[str, str]()
        found, links = self._files()
        with DocumentReader() as reader:
            for file in found:
                name = unicodedata.normalize("NFC", shown_name(file.name))
                try:
                    texts[name] = reader.text(file)
                except UnreadableError as error:
                    unreadable[name] = error.reason
        return _FolderContent(texts=texts, unreadable=unreadable, links=links)

    def _entry(self, row: Row, content: _FolderContent) -> Entry:
        name = unicodedata.normalize("NFC", row.text("document"))
        if name in content.unreadable:
            raise row.error(f"asks about {name}, which {content.unreadable[name]}")
        if name not in content.texts:
            raise row.error(f"asks about {name}, and dataset.path={self.path} has no such document")
        return entry_of(row, context=content.texts[name], document_id=name, kind=self.kind, metadata=self.metadata)

    def _files(self) -> tuple[list[Path], list[Path]]:
        """The documents, and the links that lead out of the folder."""
        if self.path is None:
            raise ConfigError("dataset.path: missing; give dataset.path=FOLDER, which holds the documents")
        folder = Path(self.path).expanduser()
        if not folder.is_dir():
            raise ConfigError(f"dataset.path={self.path}: there is no such folder; give one that holds the documents")
        try:
            files, links = documents_in(folder)
        except OSError as error:
            raise ConfigError(f"dataset.path={self.path}: can't be read ({error.strerror})") from error
        if not files:
            why = links_left_out(links) or f"these are read: {', '.join(SUFFIXES)}"
            raise ConfigError(f"dataset.path={self.path}: holds no document; {why}")
        for file in files:
            refuse_large(file.stat().st_size, f"dataset.path={file}")
        return files, links

    def _question_rows(self) -> Iterator[Row]:
        return read_json_lines(self._questions_file(), place=f"dataset.questions={self.questions}")

    def _questions_file(self) -> Path:
        return checked_file(self.questions or "", key="dataset.questions", suffixes=_QUESTION_SUFFIXES)


def _notes(content: _FolderContent) -> Iterator[str]:
    left_out = [f"{' '.join(name.split())} {reason}" for name, reason in content.unreadable.items()]
    if left_out:
        n_files = len(content.texts) + len(left_out)
        which = f"{len(left_out)} of {n_files} files are left out: {_listed(left_out)}"
        yield f"documents: {which}; give their texts as UTF-8"
    if content.links:
        yield f"documents: {links_left_out(content.links)}"


def _listed(items: Sequence[str]) -> str:
    rest = f"; and {len(items) - _MAX_NAMED} more" if len(items) > _MAX_NAMED else ""
    return "; ".join(items[:_MAX_NAMED]) + rest
