"""Errors of the operating system about a path, reported with the key that the path comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from contextcliff.errors import ConfigError, RunError


@contextmanager
def path_errors_by_key(parameters: Mapping[str, str]) -> Iterator[None]:
    """Raise an `OSError` about a file as `ConfigError` where the path comes from a key, else as `RunError`."""
    try:
        yield
    except OSError as error:
        if error.filename is None or error.strerror is None:
            raise
        path = _absolute(str(error.filename))
        key = max(
            (key for key in parameters if _contains(parameters[key], path)),
            key=lambda key: len(parameters[key]),
            default=None,
        )
        if key is not None:
            raise ConfigError(
                f"{key}={parameters[key]}: {error.strerror} ({error.filename}); give another path"
            ) from error
        raise RunError(f"{error.filename}: {error.strerror}") from error


def _contains(value: str, path: Path) -> bool:
    """Whether a value names this path, or a folder above it."""
    if not value or value in (".", "/"):
        return False
    try:
        return path.is_relative_to(_absolute(value))
    except (ValueError, OSError, RuntimeError):
        return False


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()
