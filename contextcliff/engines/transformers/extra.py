"""What the engine `transformers` needs beside the project's own dependencies: the extra `hf`."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection

from contextcliff.errors import ConfigError

WAY_OUT = 'pip install "contextcliff[hf]"'
_ALWAYS = ("torch", "accelerate")


def require(engine: str, *further: str) -> None:
    """Raise `ConfigError` where torch, or one of the `further` packages that this run needs, is not installed."""
    absent = _absent((*_ALWAYS, *further))
    if absent:
        raise ConfigError(f"engine={engine}: needs {', '.join(absent)}; run `{WAY_OUT}`")


def _absent(packages: Collection[str]) -> list[str]:
    return [package for package in packages if importlib.util.find_spec(package) is None]
