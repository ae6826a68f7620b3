"""Dataset `jsonl`: your own questions on your own texts, from a JSON Lines or Parquet file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Literal

from contextcliff.datasets.entries import OPTIONAL_COLUMNS, Row, build_corpus, entry_of
from contextcliff.datasets.hub_questions import Columns, local_rows
from contextcliff.datasets.local_files import checked_file, digest_of_file
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus
from contextcliff.settings import GivenPath, PositiveInt, settings


def read_json_lines(file: Path, *, place: str) -> Iterator[Row]:
    """The rows of a file. `place` names it in messages. Raises `ConfigError` for a line that is not a JSON object."""
    try:
        with file.open(encoding="utf-8-sig") as lines:
            yield from parse_json_lines(lines, place=place)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{place}: is not UTF-8 text; convert it first") from error
    except OSError as error:
        raise ConfigError(f"{place}: can't be read ({error.strerror}); give a file that can") from error


def parse_json_lines(lines: Iterable[str], *, place: str) -> Iterator[Row]:
    """The rows of lines in memory. `place` names their source. Raises `ConfigError` as `read_json_lines` does."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{place}: line {number} is not JSON; write one object per line") from error
        if not isinstance(values, dict):
            raise ConfigError(f"{place}: line {number} is not a JSON object; write one object per line")
        yield Row(values=values, place=f"{place}: line {number}")


_PARQUET = ".parquet"
_SUFFIXES = (".jsonl", _PARQUET)


@settings
class Jsonl:
    """One row per question: `context`, `question`, `answers` and the optional columns of `entries`.

    Rows with the same context are questions on one document. `doc_id` and `title` name it.
    """

    name = "jsonl"

    path: GivenPath | None = None
    """The file."""
    limit: PositiveInt | None = None
    """Number of questions to take from the beginning of the file; None takes all."""
    metadata: tuple[str, ...] = ()
    """Further columns of text or numbers; the report breaks scores down by each."""
    kind: Literal["short", "summary"] = "short"
    """How answers are scored where a question has no choices."""
    language: str = "en"
    """Of the texts, as an ISO 639-1 code."""

    def identity(self) -> Mapping[str, object]:
        file = checked_file(self._path(), key="dataset.path", suffixes=_SUFFIXES)
        return {
            "dataset": self.name,
            "sha256": digest_of_file(file, key="dataset.path"),
            "limit": self.limit,
            "metadata": list(self.metadata),
            "kind": self.kind,
            "language": self.language,
        }

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - the file is finite
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
        return build_corpus(islice(entries, self.limit), source=f"dataset.path={self.path}", language=self.language)

    def _rows(self) -> Iterator[Row]:
        path = self._path()
        file = checked_file(path, key="dataset.path", suffixes=_SUFFIXES)
        if file.suffix.lower() != _PARQUET:
            # Line by line: a table needs one type per column, and evidence can be quotes in one row, spans in another.
            return read_json_lines(file, place=f"dataset.path={path}")
        columns = ("doc_id", "title", *OPTIONAL_COLUMNS, *self.metadata)
        return local_rows(path, Columns(required=("context", "question"), optional=tuple(dict.fromkeys(columns))))

    def _path(self) -> str:
        if self.path is None:
            raise ConfigError(
                "dataset.path: missing; give dataset.path=FILE, a JSON Lines or Parquet file of questions"
            )
        return self.path
