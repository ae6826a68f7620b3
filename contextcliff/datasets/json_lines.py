"""Reads JSON Lines: one object per line, blank lines left out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from contextcliff.datasets.rows import Row
from contextcliff.errors import ConfigError


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
