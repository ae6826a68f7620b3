"""The base class of the question sets of the Hugging Face hub: loads their rows and builds the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import ClassVar

from contextcliff.datasets.entries import Entry, Row, build_corpus
from contextcliff.datasets.jsonl import BATCH_ROWS, local_rows, rows_of_arrow
from contextcliff.datasets.local_files import checked_file, digest_of_file
from contextcliff.errors import RunError
from contextcliff.hub import cause, transport_errors
from contextcliff.records.corpus import Corpus
from contextcliff.settings import GivenPath, Name, PositiveInt, settings

_SUFFIXES = (".parquet", ".jsonl", ".json")
EQUAL_CHOICES = "questions have two equal choices, so that no letter is the right one, and are left out"


@settings
class HubQuestions:
    """One split of a repository, or a local file of the same schema; subclasses make questions of a row."""

    name: ClassVar[str]
    schema_keys: ClassVar[tuple[str, ...]] = ()
    """Keys of a subclass that say which questions a row makes."""

    path: GivenPath | None = None
    """A Parquet, JSON or JSON Lines file with the rows of one split; None loads them from the hub."""
    repository: Name
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

    def identity(self) -> Mapping[str, object]:
        keys = ("repository", "configuration", "split", "revision")
        source: dict[str, object] = {key: getattr(self, key) for key in keys}
        if self.path is not None:
            file = checked_file(self.path, key="dataset.path", suffixes=_SUFFIXES)
            source = {"sha256": digest_of_file(file, key="dataset.path")}
        return {"dataset": self.name, **source, **{key: getattr(self, key) for key in (*self.schema_keys, "limit")}}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - the split is finite
        left_out: Counter[str] = Counter()
        source = f"dataset.repository={self.repository}" if self.path is None else f"dataset.path={self.path}"
        rows = self._hub_rows(source) if self.path is None else local_rows(self.path, suffixes=_SUFFIXES)
        entries = (entry for row in rows for entry in self.entries(row, left_out))
        corpus = build_corpus(islice(entries, self.limit), source=source)
        notes = tuple(f"{self.name}: {count:,} {sentence}" for sentence, count in left_out.items() if count)
        return replace(corpus, notes=notes)

    def _hub_rows(self, place: str) -> Iterator[Row]:
        """Rows of the split, downloaded at first use into the cache of `datasets` (`HF_HOME`)."""
        import datasets
        import huggingface_hub
        from datasets.exceptions import DatasetsError

        for library in (datasets.utils, huggingface_hub.utils):
            library.disable_progress_bars()
            library.logging.set_verbosity(library.logging.CRITICAL)
        try:
            table = datasets.load_dataset(
                self.repository, name=self.configuration, split=self.split, revision=self.revision
            )
        except (ValueError, TypeError, KeyError, RuntimeError, DatasetsError, *transport_errors()) as error:
            raise RunError(
                f"{place}: split {self.split} can't be loaded from the Hugging Face hub ({cause(error)}); check the "
                "network, HF_TOKEN for gated repositories, and dataset.configuration, split and revision, or give a "
                "Parquet or JSON Lines file of the same schema with dataset.path=FILE; dataset=stories needs no network"
            ) from error
        # Undecoded: decoding a column of images would open any file or address that its values name.
        yield from rows_of_arrow(table.with_format("arrow").iter(batch_size=BATCH_ROWS), place=place)
