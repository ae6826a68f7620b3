"""How golden data is kept: numbers as JSON that is equal to a billionth, texts to the letter.

`pytest --snapshot-update tests/golden` makes all of it anew.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

_WIDTH = 240
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


class Numbers(SingleFileSnapshotExtension):
    """A JSON file; numbers are equal to a billionth, whatever machine computed them."""

    file_extension = "json"
    _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_: Any) -> str:
        return f"{_laid_out(_rounded(data))}\n"

    def matches(self, *, serialized_data: str | bytes, snapshot_data: str | bytes) -> bool:
        return _equal(json.loads(serialized_data), json.loads(snapshot_data))


class Text(SingleFileSnapshotExtension):
    """A text file."""

    file_extension = "txt"
    _write_mode = WriteMode.TEXT


def _rounded(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, dict):
        return {str(key): _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value


def _laid_out(value: Any, indent: str = "") -> str:
    """JSON in which whatever fits into a line stands on one."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or len(indent) + len(line) <= _WIDTH:
        return line
    inside = f"{indent} "
    if isinstance(value, dict):
        parts = [f"{inside}{json.dumps(key, ensure_ascii=False)}: {_laid_out(value[key], inside)}" for key in value]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(f"{inside}{_laid_out(each, inside)}" for each in value) + f"\n{indent}]"


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return type(one) is type(other) and bool(one == other)
