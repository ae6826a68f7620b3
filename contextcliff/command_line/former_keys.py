"""Keys of earlier versions, refused in one line that gives the key of today."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.errors import ConfigError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

_INSIDE_TASK = re.compile(r"\btask[./](judge|embedding)\b")


def refuse_former_keys(overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` for an override of a judge or an embedder inside `task`."""
    for override in overrides:
        key, equals, value = str(override.input_line).partition("=")
        today = _INSIDE_TASK.sub(r"\1", key)
        if today != key:
            raise ConfigError(f"{key}: judge and embedding are groups of their own now; write {today}{equals}{value}")
