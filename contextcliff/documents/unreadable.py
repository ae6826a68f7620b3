"""Why the text of a document can't be had, and what its reader needs."""

from __future__ import annotations

import importlib
from typing import Any

from contextcliff.errors import ConfigError


class UnreadableError(Exception):
    """A document without text that can be read. `reason` ends a sentence: `is encrypted`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def needed(module: str, *, kind: str) -> Any:
    """Import a module of the extra `docs-in`. Raises `ConfigError` with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"{kind} files are read with {module.partition('.')[0]}, which is not installed; run "
            "pip install 'contextcliff[docs-in]'"
        ) from error
