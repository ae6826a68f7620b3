"""The base class of the question sets of the Hugging Face hub: loads their rows and builds the corpus."""

from __future__ import annotations

import glob
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from contextcliff.datasets.entries import Entry, Row, build_corpus
from contextcliff.datasets.local_files import checked_file, digest_of_file
from contextcliff.errors import ConfigError, RunError
from contextcliff.hub import cause, transport_errors
from contextcliff.records.corpus import Corpus
from contextcliff.settings import GivenPath, Name, PositiveInt, settings

_BUILDERS = {".parquet": "parquet", ".jsonl": "json", ".json": "json"}
LOCAL_SUFFIXES = tuple(_BUILDERS)
_BATCH_ROWS = 16
"""Rows in memory at once; one can hold a whole book."""
_PARQUET_START, _JSON_STARTS = b"PAR1", b"{["
_FILE_SPLIT = "train"
"""The name that `datasets` gives the rows of a single file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """The columns to read; optional ones where the table has them."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()

    def among(self, available: Sequence[str], *, place: str) -> list[str]:
        """The available columns to read. Raises `ConfigError` that names the first required one that is missing."""
        missing = next((name for name in self.required if name not in available), None)
        if missing is not None:
            raise ConfigError(
                f"{place}: has no column {missing}; it has {', '.join(available) or 'none'}, and needs "
                f"{', '.join(self.required)}"
            )
        return [*self.required, *(name for name in self.optional if name in available)]


def local_rows(path: str, columns: Columns, *, key: str = "dataset.path") -> Generator[Row, None, None]:
    """Rows of a Parquet, JSON or JSON Lines file. Raises `ConfigError` for an absent or damaged one."""
    file = checked_file(path, key=key, suffixes=LOCAL_SUFFIXES)
    place = f"{key}={path}"
    _check_first_bytes(file, place)
    # `datasets` converts the file. Later runs do not need the result, so it goes to a folder that is deleted.
    with tempfile.TemporaryDirectory(prefix="contextcliff-", ignore_cleanup_errors=True) as cache:
        # [ and * in a file's name would be read as a pattern.
        name = glob.escape(str(file.resolve()))
        try:
            with _without_output():
                from datasets import load_dataset

                table = load_dataset(
                    _BUILDERS[file.suffix.lower()], data_files=name, split=_FILE_SPLIT, cache_dir=cache
                )
        except _failures() as error:
            raise ConfigError(
                f"{place}: can't be read as {_BUILDERS[file.suffix.lower()]} ({_innermost_cause(error)}); give a file "
                "that can"
            ) from error
        yield from _rows(table, columns, place=place)


def hub_rows(
    repository: str, columns: Columns, *, configuration: str | None, split: str, revision: str | None
) -> Generator[Row, None, None]:
    """Rows of a split, downloaded at first use into the cache of `datasets` (`HF_HOME`).

    Raises `RunError` where it can't be loaded, and says how to do without the network; `ConfigError` for a missing
    column.
    """
    place = f"dataset.repository={repository}"
    try:
        with _without_output():
            from datasets import load_dataset

            table = load_dataset(repository, name=configuration, split=split, revision=revision)
    except _failures() as error:
        raise RunError(
            f"{place}: split {split} can't be loaded from the Hugging Face hub ({_innermost_cause(error)}); check the "
            "network, HF_TOKEN for gated repositories, and dataset.configuration, split and revision, or give a "
            "Parquet or JSON Lines file of the same schema with dataset.path=FILE; dataset=stories needs no network"
        ) from error
    yield from _rows(table, columns, place=place)


def _rows(table: Any, columns: Columns, *, place: str) -> Iterator[Row]:
    selected = table.select_columns(columns.among(table.column_names, place=place))
    # Undecoded: decoding a column of images would open any file or address that its values name.
    batches = selected.with_format("arrow").iter(batch_size=_BATCH_ROWS)
    rows = (values for batch in batches for values in batch.to_pylist())
    for number, values in enumerate(rows, start=1):
        yield Row(values=values, place=f"{place}: row {number}")


def _check_first_bytes(file: Path, place: str) -> None:
    """Refuse a file whose content is not what its suffix says: `datasets` would unpack an archive of any size."""
    try:
        with file.open("rb") as stream:
            start = stream.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError as error:
        raise ConfigError(f"{place}: can't be read ({error.strerror}); give a file that can") from error
    parquet = file.suffix.lower() == ".parquet"
    if not (start.startswith(_PARQUET_START) if parquet else start[:1] and start[0] in _JSON_STARTS):
        raise ConfigError(f"{place}: is not a {'Parquet' if parquet else 'JSON'} file, despite its suffix; give one")


def _failures() -> tuple[type[Exception], ...]:
    """The errors of reading and downloading. A damaged file can raise nearly any kind."""
    import pyarrow
    from datasets.exceptions import DatasetsError

    return (
        *(ValueError, TypeError, KeyError, RuntimeError, StopIteration),
        *(DatasetsError, pyarrow.ArrowException, *transport_errors()),
    )


def _innermost_cause(error: BaseException) -> str:
    """The error at the end of the chain of causes, in one printable line and without the hub's token."""
    while error.__cause__ is not None:
        error = error.__cause__
    return "".join(filter(str.isprintable, cause(error))) or type(error).__name__


@contextmanager
def _without_output() -> Iterator[None]:
    """Turn progress bars and log lines off for a while."""
    import datasets
    import huggingface_hub
    from datasets.utils import logging as datasets_logging
    from huggingface_hub.utils import logging as hub_logging

    bars = [module for module in (datasets.utils, huggingface_hub.utils) if not module.are_progress_bars_disabled()]
    levels = [(module, module.get_verbosity()) for module in (datasets_logging, hub_logging)]
    for module in bars:
        module.disable_progress_bars()
    for module, _ in levels:
        module.set_verbosity(module.CRITICAL)
    try:
        yield
    finally:
        for module in bars:
            module.enable_progress_bars()
        for module, level in levels:
            module.set_verbosity(level)


EQUAL_CHOICES = "questions have two equal choices, so that no letter is the right one, and are left out"


@settings
class HubQuestions:
    """One split of a repository, or a local file of the same schema.

    A subclass names the columns that it reads (`columns`) and makes questions of a row (`entries`).
    """

    name: ClassVar[str]
    """Name in reports."""

    path: GivenPath | None = None
    """A Parquet, JSON or JSON Lines file with the rows of one split; None loads them from the hub."""
    repository: Name
    """On the hub: `OWNER/NAME`."""
    configuration: str | None = None
    """Of the repository; None where it has only one."""
    split: str
    revision: str | None = None
    """Branch, tag or commit; None is the main branch."""
    limit: PositiveInt | None = None
    """Number of questions to take from the beginning; None takes all."""

    @property
    def columns(self) -> Columns:
        """The columns to read."""
        raise NotImplementedError

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
        """The questions of a row. Each omission is counted in `left_out`, under the sentence that reports it."""
        raise NotImplementedError

    def schema_identity(self) -> Mapping[str, object]:
        """The subclass's own keys that determine the questions."""
        return {}

    def identity(self) -> Mapping[str, object]:
        return {"dataset": self.name, **self._source(), **self.schema_identity(), "limit": self.limit}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - the split is finite
        left_out: Counter[str] = Counter()
        source = f"dataset.repository={self.repository}" if self.path is None else f"dataset.path={self.path}"
        with closing(self._rows()) as rows:
            entries = (entry for row in rows for entry in self.entries(row, left_out))
            corpus = build_corpus(islice(entries, self.limit), source=source)
        notes = tuple(f"{self.name}: {count:,} {sentence}" for sentence, count in left_out.items() if count)
        return Corpus(documents=corpus.documents, questions=corpus.questions, notes=notes)

    def _rows(self) -> Generator[Row, None, None]:
        if self.path is not None:
            return local_rows(self.path, self.columns)
        return hub_rows(
            self.repository,
            self.columns,
            configuration=self.configuration,
            split=self.split,
            revision=self.revision,
        )

    def _source(self) -> Mapping[str, object]:
        if self.path is not None:
            file = checked_file(self.path, key="dataset.path", suffixes=LOCAL_SUFFIXES)
            return {"sha256": digest_of_file(file, key="dataset.path")}
        return {
            "repository": self.repository,
            "configuration": self.configuration,
            "split": self.split,
            "revision": self.revision,
        }
