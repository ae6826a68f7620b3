"""Context-Tester's results: a result folder with `context_N_results.json`, or a CSV file of either generation.

Nothing is evaluated, and nothing is computed here: figures are read as they were stored. The tool:
github.com/jabberjabberjabber/Context-Tester.
"""

from __future__ import annotations

from pathlib import Path

from contextcliff.errors import ConfigError
from contextcliff.writing.context_tester.csv_results import read_table
from contextcliff.writing.context_tester.folder_results import RESULTS, read_folder
from contextcliff.writing.context_tester.imported_run import ImportedRun

_SUFFIX = ".csv"


def is_context_tester(path: Path) -> bool:
    """Whether a file or folder looks like one of its results."""
    return any(path.glob(RESULTS)) if path.is_dir() else path.suffix.lower() == _SUFFIX


def read_context_tester(path: Path, *, key: str) -> ImportedRun:
    """A stored run. Raises `ConfigError` that begins with `key` for what can't be read as one."""
    try:
        return read_folder(path, key=key) if path.is_dir() else read_table(path, key=key)
    except OSError as error:
        raise ConfigError(f"{key}={error.filename or path}: can't be read ({error.strerror})") from error


def kept_texts(run: ImportedRun) -> bool:
    """Whether every round's text was kept, so that it can be measured anew."""
    return all(tier.means is None and all(kept.text for kept in tier.rounds) for tier in run.tiers)
