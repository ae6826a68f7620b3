"""The base class of the question sets of the Hugging Face hub: loads their rows and builds the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import ClassVar

from contextcliff.datasets.entries import Entry, Row, build_corpus
from contextcliff.datasets.jsonl import local_rows
from contextcliff.datasets.local_files import checked_file, digest_of_file
from contextcliff.errors import RunError
from contextcliff.hub import cause, transport_errors
from contextcliff.records.corpus import Corpus
from contextcliff.settings import GivenPath, Name, PositiveInt, settings

_SUFFIXES = (".parquet", ".jsonl", ".json")
_BATCH_ROWS = 16
"""Rows in memory at once; one can hold a whole book."""


def hub_rows(repository: str, *, configuration: str | None, split: str, revision: str | None) -> Iterator[Row]:
    """Rows of a split, downloaded at first use into the cache of `datasets` (`HF_HOME`).

    Raises `RunError` where it can't be loaded, and says how to do without the network.
    """
    from datasets import load_dataset
    from datasets.exceptions import DatasetsError

    place = f"dataset.repository={repository}"
    _quiet()
    try:
        table = load_dataset(repository, name=configuration, split=split, revision=revision)
    except (ValueError, TypeError, KeyError, RuntimeError, DatasetsError, *transport_errors()) as error:
        innermost: BaseException = error
        while innermost.__cause__ is not None:
            innermost = innermost.__cause__
        raise RunError(
            f"{place}: split {split} can't be loaded from the Hugging Face hub ({cause(innermost)}); check the "
            "network, HF_TOKEN for gated repositories, and dataset.configuration, split and revision, or give a "
            "Parquet or JSON Lines file of the same schema with dataset.path=FILE; dataset=stories needs no network"
        ) from error
    # Undecoded: decoding a column of images would open any file or address that its values name.
    batches = table.with_format("arrow").iter(batch_size=_BATCH_ROWS)
    for number, values in enumerate((values for batch in batches for values in batch.to_pylist()), start=1):
        yield Row(values=values, place=f"{place}: row {number}")


def _quiet() -> None:
    """Turn the progress bars and log lines of `datasets` off."""
    import datasets
    import huggingface_hub

    for library in (datasets.utils, huggingface_hub.utils):
        library.disable_progress_bars()
        library.logging.set_verbosity(library.logging.CRITICAL)


EQUAL_CHOICES = "questions have two equal choices, so that no letter is the right one, and are left out"


@settings
class HubQuestions:
    """One split of a repository, or a local file of the same schema.

    A subclass makes questions of a row (`entries`).
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
        entries = (entry for row in self._rows() for entry in self.entries(row, left_out))
        corpus = build_corpus(islice(entries, self.limit), source=source)
        notes = tuple(f"{self.name}: {count:,} {sentence}" for sentence, count in left_out.items() if count)
        return Corpus(documents=corpus.documents, questions=corpus.questions, notes=notes)

    def _rows(self) -> Iterator[Row]:
        if self.path is not None:
            return local_rows(self.path, suffixes=_SUFFIXES)
        return hub_rows(self.repository, configuration=self.configuration, split=self.split, revision=self.revision)

    def _source(self) -> Mapping[str, object]:
        if self.path is not None:
            file = checked_file(self.path, key="dataset.path", suffixes=_SUFFIXES)
            return {"sha256": digest_of_file(file, key="dataset.path")}
        return {key: getattr(self, key) for key in ("repository", "configuration", "split", "revision")}
