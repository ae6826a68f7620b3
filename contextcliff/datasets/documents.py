"""Dataset `documents`: your own PDF, Word, ODT, RTF, EPUB, HTML, Markdown and text files, and questions on them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from unicodedata import normalize

from contextcliff.datasets.entries import Entry, Row, build_corpus, entry_of
from contextcliff.datasets.jsonl import OwnQuestions, read_json_lines
from contextcliff.datasets.local_files import checked_file, digest_of_file, refuse_large
from contextcliff.documents.containers import UnreadableError
from contextcliff.documents.reader import DocumentReader, documents_in, links_left_out, shown_name
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document
from contextcliff.seeding import digest_of
from contextcliff.settings import GivenPath, settings

_MAX_NAMED = 20
"""Files that a note names; it counts the others."""


@settings
class Documents(OwnQuestions):
    """The files of a folder, and questions on them in a JSON Lines file; without questions they are haystacks. A
    question names its file in `document`. Files that can't be read are left out, and a note names them."""

    name = "documents"

    path: GivenPath | None = None
    """A folder; its subfolders, and links that lead out of it, are not read."""
    questions: GivenPath | None = None

    def identity(self) -> Mapping[str, object]:
        files = {shown_name(file.name): digest_of_file(file, key="dataset.path") for file in self._files()[0]}
        questions = None if self.questions is None else digest_of_file(self._questions_file(), key="dataset.questions")
        return {"dataset": self.name, "sha256": digest_of(sorted(files.items()), questions), **self.rules()}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - the folder is finite
        texts, unreadable = dict[str, str](), dict[str, str]()
        found, links = self._files()
        with DocumentReader() as reader:
            for file in found:
                name = _normal(shown_name(file.name))
                try:
                    texts[name] = reader.text(file)
                except UnreadableError as error:
                    unreadable[name] = error.reason
        documents = tuple(
            Document(document_id=name, title=name, text=text, language=self.language) for name, text in texts.items()
        )
        notes = []
        if unreadable:
            left_out = [f"{' '.join(name.split())} {reason}" for name, reason in unreadable.items()]
            rest = f"; and {len(left_out) - _MAX_NAMED} more" if len(left_out) > _MAX_NAMED else ""
            which = f"{len(left_out)} of {len(found)} files are left out: {'; '.join(left_out[:_MAX_NAMED])}{rest}"
            notes.append(f"documents: {which}; give their texts as UTF-8")
        if links:
            notes.append(f"documents: {links_left_out(links)}")
        if self.questions is None:
            if not documents:
                raise ConfigError(f"dataset.path={self.path}: none of its files can be read; {notes[0]}")
            return Corpus(documents=documents, notes=tuple(notes))
        place = f"dataset.questions={self.questions}"
        rows = read_json_lines(self._questions_file(), place=place)
        entries = (self._entry(row, texts, unreadable) for row in islice(rows, self.limit))
        return build_corpus(entries, source=place, language=self.language, documents=documents, notes=notes)

    def _entry(self, row: Row, texts: Mapping[str, str], unreadable: Mapping[str, str]) -> Entry:
        name = _normal(row.text("document"))
        if name in unreadable:
            raise row.error(f"asks about {name}, which {unreadable[name]}")
        if name not in texts:
            raise row.error(f"asks about {name}, and dataset.path={self.path} has no such document")
        return entry_of(row, context=texts[name], document_id=name, kind=self.kind, metadata=self.metadata)

    def _files(self) -> tuple[list[Path], list[Path]]:
        if self.path is None:
            raise ConfigError("dataset.path: missing; give dataset.path=FOLDER, which holds the documents")
        folder = Path(self.path).expanduser()
        if not folder.is_dir():
            raise ConfigError(f"dataset.path={self.path}: there is no such folder; give one that holds the documents")
        files, links = documents_in(folder, place=f"dataset.path={self.path}")
        for file in files:
            refuse_large(file.stat().st_size, f"dataset.path={file}")
        return files, links

    def _questions_file(self) -> Path:
        return checked_file(self.questions or "", key="dataset.questions", suffixes=(".jsonl",))


def _normal(name: str) -> str:
    return normalize("NFC", name)
