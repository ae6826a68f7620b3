"""The keys of overrides as they were typed."""

from __future__ import annotations

import re
from collections.abc import Sequence


def key_of(override: str) -> str:
    """The dotted key that an override sets; of `engine@judge.engine=vllm` it is `judge.engine`."""
    key = override.partition("=")[0].lstrip("+~")
    return re.split("[@:]", key)[-1].replace("/", ".")


def overrides_by_key(overrides: Sequence[str]) -> dict[str, str]:
    """Key to value, both as typed."""
    return dict(each.lstrip("+~").partition("=")[::2] for each in overrides)
