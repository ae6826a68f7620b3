"""Finds how many tokens a language model can really be given."""

from __future__ import annotations

from pathlib import Path

__version__ = "0.1.0"


def conf_dir() -> Path:
    """The folder of the shipped YAML: in the package where that is installed, beside it in a checkout."""
    package = Path(__file__).resolve().parent
    packaged = package / "conf"
    return packaged if packaged.is_dir() else package.parent / "conf"
