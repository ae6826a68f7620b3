"""What the question sets of the Hugging Face hub share: where their rows come from, and what they add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from itertools import islice

from contextcliff.datasets.entries import Entry, assemble
from contextcliff.datasets.hub_rows import LOCAL_SUFFIXES, Columns, hub_rows, local_rows
from contextcliff.datasets.local_files import checked_file, digest_of_file
from contextcliff.datasets.rows import Row
from contextcliff.records.corpus import Corpus
from contextcliff.settings import GivenPath, PositiveInt, settings

EQUAL_CHOICES = "questions have two equal choices, so that no letter is the right one, and are left out"


@settings
class HubQuestions:
    """A split of a repository, or a local file of the same schema.

    A set says which columns it reads (`columns`) and what a row asks (`entries`).
    """

    path: GivenPath | None = None
    """A Parquet, JSON or JSON Lines file with the rows of one split; None: from the hub."""
    repository: str
    configuration: str | None = None
    split: str
    revision: str | None = None
    """Branch, tag or commit; None: the main branch."""
    limit: PositiveInt | None = None
    """The first so many questions; None: all."""

    @property
    def name(self) -> str:
        """Name in reports."""
        raise NotImplementedError

    @property
    def columns(self) -> Columns:
        """What is read of a row."""
        raise NotImplementedError

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
        """The questions of a row. What can't be asked or known is counted in `left_out`, by a sentence that says it."""
        raise NotImplementedError

    def reading(self) -> Mapping[str, object]:
        """Keys beside the shared ones that determine what is asked."""
        return {}

    def identity(self) -> Mapping[str, object]:
        """The local file by its digest, else the repository. Raises `ConfigError` for an absent file."""
        return {"dataset": self.name, **self._source(), **self.reading(), "limit": self.limit}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - all that the set has
        """Every text and question of the split. Raises `ConfigError` and `RunError` where they can't be had."""
        left_out: Counter[str] = Counter()
        source = f"dataset.repository={self.repository}" if self.path is None else f"dataset.path={self.path}"
        with closing(self._rows()) as rows:
            entries = (entry for row in rows for entry in self.entries(row, left_out))
            corpus = assemble(islice(entries, self.limit), source=source)
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
