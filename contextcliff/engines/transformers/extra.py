"""What the engine `transformers` needs beside the project's own dependencies: the extra `hf`."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Collection

from contextcliff.errors import ConfigError

WAY_OUT = 'pip install "contextcliff[hf]"'
_ALWAYS = ("torch", "accelerate")


def require(engine: str, *further: str) -> None:
    """Raise `ConfigError` where torch, or one of the `further` packages that this run needs, is not installed.

    To be called before torch is imported: its threads then sleep while they wait for each other, which OpenMP reads
    once. On two busy cores threads that spin took 3.4 s for a token of the embedded model, and these 0.15 to 0.5 s.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    absent = _absent((*_ALWAYS, *further))
    if absent:
        raise ConfigError(f"engine={engine}: needs {', '.join(absent)}; run `{WAY_OUT}`")


def _absent(packages: Collection[str]) -> list[str]:
    return [package for package in packages if importlib.util.find_spec(package) is None]
