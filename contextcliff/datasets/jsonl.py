"""Dataset `jsonl`: your own questions on your own texts, from a JSON Lines or Parquet file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Literal

from contextcliff.datasets.entries import assemble
from contextcliff.datasets.hub_rows import Columns, local_rows
from contextcliff.datasets.local_files import checked_file, digest_of_file
from contextcliff.datasets.own_schema import QUESTION_COLUMNS, entry_of, json_rows
from contextcliff.datasets.rows import Row
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus
from contextcliff.settings import GivenPath, PositiveInt, settings

_PARQUET = ".parquet"
_SUFFIXES = (".jsonl", _PARQUET)


@settings
class Jsonl:
    """A row for each question: `context`, `question`, `answers`, and what `own_schema` and `doc_id` tell beside them.

    Rows with the same context are questions on one document; `doc_id` names it.
    """

    path: GivenPath | None = None
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
        return "jsonl"

    def identity(self) -> Mapping[str, object]:
        """The file by its digest, and the keys that determine a question. Raises `ConfigError` for an absent file."""
        file = checked_file(self._path(), key="dataset.path", suffixes=_SUFFIXES)
        return {
            "dataset": self.name,
            "sha256": digest_of_file(file, key="dataset.path"),
            "limit": self.limit,
            "metadata": list(self.metadata),
            "kind": self.kind,
            "language": self.language,
        }

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - all that the file holds
        """Every text and question. Raises `ConfigError` for a row that can't be asked."""
        entries = (
            entry_of(
                row,
                context=row.text("context"),
                document_id=row.label("doc_id"),
                title=row.heading("title"),
                kind=self.kind,
                metadata=self.metadata,
            )
            for row in self._rows()
        )
        return assemble(islice(entries, self.limit), source=f"dataset.path={self.path}", language=self.language)

    def _rows(self) -> Iterator[Row]:
        path = self._path()
        file = checked_file(path, key="dataset.path", suffixes=_SUFFIXES)
        if file.suffix.lower() != _PARQUET:
            # Line by line: a table needs one type a column, and evidence may be quotes here and places there.
            return json_rows(file, place=f"dataset.path={path}")
        columns = ("doc_id", "title", *QUESTION_COLUMNS, *self.metadata)
        return local_rows(path, Columns(required=("context", "question"), optional=tuple(dict.fromkeys(columns))))

    def _path(self) -> str:
        if self.path is None:
            raise ConfigError(
                "dataset.path: missing; give dataset.path=FILE, a JSON Lines or Parquet file of questions"
            )
        return self.path
