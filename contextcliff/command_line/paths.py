"""A path of the configuration that the operating system refuses, named by its key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from contextcliff.errors import ConfigError, RunError


@contextmanager
def refused_path(parameters: Mapping[str, str]) -> Iterator[None]:
    """Turn an `OSError` about a file into one line: a wrong key where the path comes from one, else a failed run."""
    try:
        yield
    except OSError as error:
        if error.filename is None or error.strerror is None:
            raise
        place = _absolute(str(error.filename))
        key = max(
            (key for key in parameters if _names(parameters[key], place)),
            key=lambda key: len(parameters[key]),
            default=None,
        )
        if key is not None:
            raise ConfigError(
                f"{key}={parameters[key]}: {error.strerror} ({error.filename}); give another path"
            ) from error
        raise RunError(f"{error.filename}: {error.strerror}") from error


def _names(value: str, place: Path) -> bool:
    """Whether a value is the path of a place, or of a folder above it."""
    if not value or value in (".", "/"):
        return False
    try:
        return place.is_relative_to(_absolute(value))
    except (ValueError, OSError, RuntimeError):
        return False


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()
