"""Addresses as they may be shown: without the user, the password and the keys that they carry."""

from __future__ import annotations

import re

_HIDDEN = "***"
_SECRET = re.compile(r"key|token|secret|pass|pwd|auth|sig|cred|code", re.IGNORECASE)
# Up to the last @ before the path; where what stands behind the colon is no port, up to the last @ at all, since a
# password may hold a slash.
_USER_IN_TEXT = re.compile(r"(?<=://)(?:[^/?#@\s]*:(?!\d*(?:[/?#\s]|$))[^\s]*@|[^/?#\s]*@)")
_USER_IN_VALUE = re.compile(r"(?<=://)(?:[^/?#@]*:(?!\d*(?:[/?#]|$)).*@|[^/?#]*@)", re.DOTALL)
_IS_ADDRESS = re.compile(r"""([\w.@/+~]*=)?['"]?[\w+.-]+://""")
_PARAMETER = re.compile(r"(?<=[?&;])([^=&;?#\s]+)=([^&;#\s'\"]+)")


def is_secret(parameter: str) -> bool:
    """Whether a parameter of an address holds a key or a password, by its name: `api_key`, `sig` …"""
    return bool(_SECRET.search(parameter))


def shown_text(text: str) -> str:
    """`text` with every address in it as it may be shown."""
    return _hidden(text, _USER_IN_TEXT)


def shown_value(value: str) -> str:
    """The same for a value, or `KEY=VALUE`, that is one address or none: a password may hold blanks there."""
    return _hidden(value, _USER_IN_VALUE if _IS_ADDRESS.match(value) else _USER_IN_TEXT)


def _hidden(text: str, user: re.Pattern[str]) -> str:
    if "://" not in text:
        return text
    return _PARAMETER.sub(
        lambda found: f"{found[1]}={_HIDDEN}" if is_secret(found[1]) else found[0], user.sub("", text)
    )
