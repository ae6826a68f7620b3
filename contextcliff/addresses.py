"""Addresses as they may be shown: without the users, passwords and keys in them."""

from __future__ import annotations

import re

_HIDDEN = "***"
_SECRET = re.compile(r"key|token|secret|pass|pwd|auth|sig|cred|code", re.IGNORECASE)
# Up to the last @ before the path. Where the part after the colon is no port, up to the last @ of all, since a
# password may hold a slash.
_USER_IN_TEXT = re.compile(r"(?<=://)(?:[^/?#@\s]*:(?!\d*(?:[/?#\s]|$))[^\s]*@|[^/?#\s]*@)")
_USER_IN_VALUE = re.compile(r"(?<=://)(?:[^/?#@]*:(?!\d*(?:[/?#]|$)).*@|[^/?#]*@)", re.DOTALL)
_IS_ADDRESS = re.compile(r"""([\w.@/+~]*=)?['"]?[\w+.-]+://""")
_PARAMETER = re.compile(r"(?<=[?&;])([^=&;?#\s]+)=([^&;#\s'\"]+)")


def is_secret(parameter: str) -> bool:
    """Whether the name of an address's parameter (`api_key`, `sig` …) says that it holds a key or a password."""
    return bool(_SECRET.search(parameter))


def shown_text(text: str) -> str:
    """`text` with the secrets of every address in it removed."""
    return _hidden(text, _USER_IN_TEXT)


def shown_value(value: str) -> str:
    """The same for a value, or `KEY=VALUE`, that is one address or none: its password may hold blanks."""
    return _hidden(value, _USER_IN_VALUE if _IS_ADDRESS.match(value) else _USER_IN_TEXT)


def _hidden(text: str, user: re.Pattern[str]) -> str:
    if "://" not in text:
        return text
    return _PARAMETER.sub(lambda pair: f"{pair[1]}={_HIDDEN}" if is_secret(pair[1]) else pair[0], user.sub("", text))
