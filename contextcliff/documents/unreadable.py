"""Why a document has no text: the file itself, or a package that is not installed."""

from __future__ import annotations

import importlib
from typing import Any

from contextcliff.errors import ConfigError


class UnreadableError(Exception):
    """A document whose text can't be read. `reason` follows the file's name in a message: `is encrypted`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def import_reader(module: str, *, kind: str) -> Any:
    """Import a module of the extra `docs-in`; `kind` (`PDF`) names the format in the message.

    Raises `ConfigError` with the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"{kind} files are read with {module.partition('.')[0]}, which is not installed; run "
            "pip install 'contextcliff[docs-in]'"
        ) from error
