"""API keys: taken from the environment by name, and kept out of everything that is said."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from contextcliff.errors import ConfigError

KNOWN_VARIABLES = ("API_KEY", "API_PASSWORD", "OPENAI_API_KEY", "NVIDIA_API_KEY", "NVAPI_KEY")
_HIDDEN = "***"
_SHORTEST_SECRET = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
    """A key that is never shown. Servers without one take any word."""

    value: str = field(repr=False)

    def headers(self) -> dict[str, str]:
        """The authorisation of a request."""
        return {"Authorization": f"Bearer {self.value}"} if self.value else {}

    def hide_in(self, text: str) -> str:
        """`text` without the key: a server may echo it in an error."""
        return text.replace(self.value, _HIDDEN) if len(self.value) >= _SHORTEST_SECRET else text


def api_key(variable: str | None, *, key: str = "engine.api_key_env") -> ApiKey:
    """The key in the named variable, else in the first known one that is set, else none.

    Raises `ConfigError`, which names the configuration's `key`, where a variable is named and not set.
    """
    if variable is not None:
        value = os.environ.get(variable, "").strip()
        if not value:
            raise ConfigError(f"{key}={variable}: this variable is not set; export it, or name another")
        return ApiKey(value=value)
    found = (os.environ.get(name, "").strip() for name in KNOWN_VARIABLES)
    return ApiKey(value=next(filter(None, found), ""))
