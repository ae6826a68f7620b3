"""The base class of the question sets of the Hugging Face hub: loads their rows and builds the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from itertools import islice

from contextcliff.datasets.entries import Entry, build_corpus
from contextcliff.datasets.hub_rows import LOCAL_SUFFIXES, Columns, hub_rows, local_rows
from contextcliff.datasets.local_files import checked_file, digest_of_file
from contextcliff.datasets.rows import Row
from contextcliff.records.corpus import Corpus
from contextcliff.settings import GivenPath, PositiveInt, settings

EQUAL_CHOICES = "questions have two equal choices, so that no letter is the right one, and are left out"


@settings
class HubQuestions:
    """One split of a repository, or a local file of the same schema.

    A subclass names the columns that it reads (`columns`) and makes questions of a row (`entries`).
    """

    path: GivenPath | None = None
    """A Parquet, JSON or JSON Lines file with the rows of one split; None loads them from the hub."""
    repository: str
    """On the hub: `OWNER/NAME`."""
    configuration: str | None = None
    """Of the repository; None where it has only one."""
    split: str
    revision: str | None = None
    """Branch, tag or commit; None is the main branch."""
    limit: PositiveInt | None = None
    """Number of questions to take from the beginning; None takes all."""

    @property
    def name(self) -> str:
        """Name in reports."""
        raise NotImplementedError

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
        """The digest of the local file, else the address on the hub. Raises `ConfigError` for an absent file."""
        return {"dataset": self.name, **self._source(), **self.schema_identity(), "limit": self.limit}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - the split is finite
        """All texts and questions of the split. Raises `ConfigError` for bad rows, `RunError` for a failed download."""
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
