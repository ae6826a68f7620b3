"""Dataset `jsonl`: your own questions on your own texts, from a JSON Lines or Parquet file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources.abc import Traversable
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from contextcliff.datasets.entries import Row, build_corpus, entry_of
from contextcliff.datasets.local_files import checked_file, digest_of_file
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus
from contextcliff.settings import GivenPath, PositiveInt, settings

BATCH_ROWS = 16
"""Rows in memory at once; one can hold a whole book."""
_object, _objects = TypeAdapter(dict[str, object]), TypeAdapter(list[dict[str, object]])


def local_rows(path: str, *, suffixes: Sequence[str]) -> Iterator[Row]:
    """The rows of a file at `dataset.path`, as its suffix says. Raises `ConfigError`."""
    file, place = checked_file(path, key="dataset.path", suffixes=suffixes), f"dataset.path={path}"
    if file.suffix.lower() == ".parquet":
        return _parquet_rows(file, place=place)
    with suppress(ValueError, OSError):  # it may be damaged, or have an object a line
        if file.suffix.lower() == ".json":
            return rows_of(_objects.validate_json(file.read_text("utf-8-sig")), place=place)
    return read_json_lines(file, place=place)


def rows_of(rows: Iterable[Mapping[str, object]], *, place: str) -> Iterator[Row]:
    return (Row(values=values, place=f"{place}: row {number}") for number, values in enumerate(rows, start=1))


def rows_of_arrow(batches: Iterable[Any], *, place: str) -> Iterator[Row]:
    return rows_of((values for batch in batches for values in batch.to_pylist()), place=place)


def _parquet_rows(file: Path, *, place: str) -> Iterator[Row]:
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        yield from rows_of_arrow(ParquetFile(file).iter_batches(batch_size=BATCH_ROWS), place=place)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{place}: can't be read as Parquet ({error}); give a file that can") from error


def read_json_lines(file: Path | Traversable, *, place: str) -> Iterator[Row]:
    """The rows of a file with an object a line. `place` names it. Raises `ConfigError` for a line that is none."""
    try:
        with file.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield Row(values=_object.validate_json(line), place=f"{place}: line {number}")
    except ValidationError as error:
        raise ConfigError(f"{place}: line {number} is no JSON object; write one object per line") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{place}: is not UTF-8 text; convert it first") from error
    except OSError as error:
        raise ConfigError(f"{place}: can't be read ({error.strerror}); give a file that can") from error


_SUFFIXES = (".jsonl", ".parquet")


@settings
class OwnQuestions:
    limit: PositiveInt | None = None
    """Number of questions to take from the beginning of the file; None takes all."""
    metadata: tuple[str, ...] = ()
    """Further columns of text or numbers; the report breaks scores down by each."""
    kind: Literal["short", "summary"] = "short"
    """How answers are scored where a question has no choices."""
    language: str = "en"

    def rules(self) -> Mapping[str, object]:
        return {"limit": self.limit, "metadata": [*self.metadata], "kind": self.kind, "language": self.language}


@settings
class Jsonl(OwnQuestions):
    """One row per question. Rows with the same `context` are questions on one document."""

    name = "jsonl"

    path: GivenPath | None = None

    def identity(self) -> Mapping[str, object]:
        file = checked_file(self._path(), key="dataset.path", suffixes=_SUFFIXES)
        return {"dataset": self.name, "sha256": digest_of_file(file, key="dataset.path"), **self.rules()}

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
            for row in local_rows(self._path(), suffixes=_SUFFIXES)
        )
        return build_corpus(islice(entries, self.limit), source=f"dataset.path={self.path}", language=self.language)

    def _path(self) -> str:
        if self.path is None:
            raise ConfigError(
                "dataset.path: missing; give dataset.path=FILE, a JSON Lines or Parquet file of questions"
            )
        return self.path
