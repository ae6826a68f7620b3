"""Overrides as they are typed: their keys, and values that are written into them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLAIN_VALUE = re.compile(r"(?!(?:true|false|null|none|nan|inf|yes|no|on|off)$)[A-Za-z/][\w./:@+-]*", re.IGNORECASE)


def key_of(override: str) -> str:
    """The dotted key that an override sets; of `engine@judge.engine=vllm` it is `judge.engine`."""
    key = override.partition("=")[0].lstrip("+~")
    return re.split("[@:]", key)[-1].replace("/", ".")


def group_of(override: str) -> str:
    """The group or section of the key that an override sets: `judge` of `judge.engine`."""
    return key_of(override).partition(".")[0]


def overrides_by_key(overrides: Sequence[str]) -> dict[str, str]:
    """Key to value, both as typed."""
    return dict(each.lstrip("+~").partition("=")[::2] for each in overrides)


def as_typed(value: str) -> str:
    """A text as the value of an override, in quotes where Hydra's grammar needs them."""
    # A backslash is one of Hydra's only before a quote.
    quoted = re.sub(r"(\\*)('|\Z)", lambda found: found[1] * 2 + (r"\'" if found[2] else ""), value)
    return value if _PLAIN_VALUE.fullmatch(value) else f"'{quoted}'"
