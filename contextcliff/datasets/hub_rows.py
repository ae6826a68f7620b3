"""Rows of a dataset of the Hugging Face hub, or of a local file of the same schema, read by `datasets`.

Code that a repository brings is never run: `datasets` has no way to from its version 4 on.
"""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contextcliff.datasets.local_files import checked_file
from contextcliff.datasets.rows import Row
from contextcliff.errors import ConfigError, RunError

_BUILDERS = {".parquet": "parquet", ".jsonl": "json", ".json": "json"}
LOCAL_SUFFIXES = tuple(_BUILDERS)
_BATCH = 16
"""Rows that are held at once; one may carry a whole book."""
_PARQUET, _BEGINS_JSON = b"PAR1", b"{["
_WHOLE = "train"
"""What `datasets` calls the rows of a single file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """Which columns are read; the optional ones where they are there."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()

    def among(self, there: Sequence[str], *, place: str) -> list[str]:
        """Those to read. Raises `ConfigError` that names the first required one that is missing."""
        missing = next((name for name in self.required if name not in there), None)
        if missing is not None:
            raise ConfigError(
                f"{place}: has no column {missing}; it has {', '.join(there) or 'none'}, and needs "
                f"{', '.join(self.required)}"
            )
        return [*self.required, *(name for name in self.optional if name in there)]


def local_rows(path: str, columns: Columns, *, key: str = "dataset.path") -> Generator[Row, None, None]:
    """Rows of a Parquet, JSON or JSON Lines file. Raises `ConfigError` for an absent or broken one."""
    file = checked_file(path, key=key, suffixes=LOCAL_SUFFIXES)
    place = f"{key}={path}"
    _refuse_disguise(file, place)
    # What `datasets` makes of the file is of no use to a later run: it goes where it is deleted.
    with tempfile.TemporaryDirectory(prefix="contextcliff-", ignore_cleanup_errors=True) as cache:
        # Signs like [ and * in a file's name would be taken for a pattern.
        name = glob.escape(str(file.resolve()))
        try:
            with _quietly():
                from datasets import load_dataset

                table = load_dataset(_BUILDERS[file.suffix.lower()], data_files=name, split=_WHOLE, cache_dir=cache)
        except _failures() as error:
            raise ConfigError(
                f"{place}: can't be read as {_BUILDERS[file.suffix.lower()]} ({_said(error)}); give a file that can"
            ) from error
        yield from _rows(table, columns, place=place)


def hub_rows(
    repository: str, columns: Columns, *, configuration: str | None, split: str, revision: str | None
) -> Generator[Row, None, None]:
    """Rows of a split, downloaded at first use into the cache of `datasets` (`HF_HOME`).

    Raises `RunError` where it can't be had, with the way round the network, and `ConfigError` for a missing column.
    """
    place = f"dataset.repository={repository}"
    try:
        with _quietly():
            from datasets import load_dataset

            table = load_dataset(repository, name=configuration, split=split, revision=revision)
    except _failures() as error:
        raise RunError(
            f"{place}: split {split} can't be had from the Hugging Face hub ({_said(error)}); look at the network, at "
            "HF_TOKEN for gated ones and at dataset.configuration, split and revision, or give a Parquet or JSON Lines "
            "file of the same schema with dataset.path=FILE"
        ) from error
    yield from _rows(table, columns, place=place)


def _rows(table: Any, columns: Columns, *, place: str) -> Iterator[Row]:
    kept = table.select_columns(columns.among(table.column_names, place=place))
    # As they are stored: decoding would open whatever file or address a column that calls itself an image names.
    batches = kept.with_format("arrow").iter(batch_size=_BATCH)
    rows = (values for batch in batches for values in batch.to_pylist())
    for number, values in enumerate(rows, start=1):
        yield Row(values=values, place=f"{place}: row {number}")


def _refuse_disguise(file: Path, place: str) -> None:
    """An archive under another suffix would be unpacked, whatever its size then is."""
    try:
        with file.open("rb") as stream:
            start = stream.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError as error:
        raise ConfigError(f"{place}: can't be read ({error.strerror}); give a file that can") from error
    parquet = file.suffix.lower() == ".parquet"
    if not (start.startswith(_PARQUET) if parquet else start[:1] and start[0] in _BEGINS_JSON):
        raise ConfigError(f"{place}: is no {'Parquet' if parquet else 'JSON'} file, whatever its name says; give one")


def _failures() -> tuple[type[Exception], ...]:
    """What reading and downloading fail with: a damaged file meets nearly every kind of error on its way."""
    import httpx2
    import pyarrow
    from datasets.exceptions import DatasetsError

    return (
        *(OSError, ValueError, TypeError, KeyError, RuntimeError, StopIteration),
        *(DatasetsError, pyarrow.ArrowException, httpx2.HTTPError),
    )


def _said(error: BaseException) -> str:
    """The innermost cause in one line, without the hub's token."""
    while error.__cause__ is not None:
        error = error.__cause__
    told = "".join(filter(str.isprintable, " ".join(str(error).split()))) or type(error).__name__
    token = os.environ.get("HF_TOKEN", "")
    return told.replace(token or "\0", "***")[:200]


@contextmanager
def _quietly() -> Iterator[None]:
    """Progress bars and log lines are held back, and are as they were afterwards."""
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
