"""What pages that are passed on show of a path: its last part, and not on whose disk it lies."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PATHS = frozenset({"path", "paths", "word_list", "output_dir", "source", "uri", "artifacts"})
"""Last parts of the keys whose values are paths …"""
_NAMES = "name"
"""… and of those whose values may be one: a tokenizer is a folder or a repository."""
_ROOTED = re.compile(r"~|[/\\]|[A-Za-z]:[/\\]")
_ADDRESS = re.compile(r"https?://")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_LIST = re.compile(r"\[.*\]", re.DOTALL)


def with_file_names(parameters: Mapping[str, str]) -> dict[str, str]:
    """A flattened configuration with file names in the place of paths."""
    return {key: _shown(key, value) for key, value in parameters.items()}


def file_name(path: str) -> str:
    """The last part of a path of any system; an address of the web stays."""
    if _ADDRESS.match(path):
        return path
    parts = [part for part in re.split(r"[/\\]+", path) if part]
    return parts[-1] if parts else path


def _shown(key: str, value: str) -> str:
    last = key.rpartition(".")[2]
    if last not in _PATHS and not (last == _NAMES and _ROOTED.match(value)):
        return value
    if _LIST.fullmatch(value):
        return _QUOTED.sub(lambda quoted: repr(file_name(quoted[1] or quoted[2] or "")), value)
    return file_name(value)
