"""Reads results of Context-Tester: a result folder with `context_N_results.json`, or a CSV file of either generation.

Figures are read as they were stored. The tool: github.com/jabberjabberjabber/Context-Tester.
"""

from __future__ import annotations

from pathlib import Path

from contextcliff.errors import ConfigError
from contextcliff.writing.context_tester.csv_results import read_table
from contextcliff.writing.context_tester.folder_results import RESULTS, read_folder
from contextcliff.writing.context_tester.imported_writing import ImportedRun

_SUFFIX = ".csv"


def is_context_tester(path: Path) -> bool:
    """Whether a path looks like results of Context-Tester."""
    return any(path.glob(RESULTS)) if path.is_dir() else path.suffix.lower() == _SUFFIX


def read_context_tester(path: Path, *, key: str) -> ImportedRun:
    """The run at a path. Raises `ConfigError`, which begins with `key`, where there is none."""
    try:
        return read_folder(path, key=key) if path.is_dir() else read_table(path, key=key)
    except OSError as error:
        raise ConfigError(f"{key}={error.filename or path}: can't be read ({error.strerror})") from error


def kept_texts(run: ImportedRun) -> bool:
    """Whether the text of every round was stored, so that it can be measured again."""
    return all(tier.means is None and all(one.text for one in tier.rounds) for tier in run.tiers)
