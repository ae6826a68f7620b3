"""API keys: read from environment variables, and kept out of all output."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from contextcliff.addresses import shown_text
from contextcliff.engines.openai.server_address import PROVIDERS, Address, provider_for, provider_of
from contextcliff.errors import ConfigError

ANY_HOST = ("API_KEY", "API_PASSWORD")
"""Variables of no provider in particular: their keys are sent to any host."""
_COMPATIBLE = ("OPENAI_API_KEY", "NVIDIA_API_KEY", "NVAPI_KEY")
"""Variables that users also set for servers of their own; their keys are never sent to another provider."""
KNOWN_VARIABLES = tuple(
    dict.fromkeys((*ANY_HOST, *_COMPATIBLE, *(name for provider in PROVIDERS for name in provider.variables)))
)
_HIDDEN = "***"
_SHORTEST_SECRET = 6
_NOWHERE = Address(url="", host="")


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
    """What a request is authorised with: a key, or the login in the server's address. Never shown.

    An empty `value` and no login: the server needs neither.
    """

    value: str = field(default="", repr=False)
    address: Address = field(default=_NOWHERE, repr=False)
    """The server's. Its login is sent where a key would be, so that there is one or the other."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """The parameters of the address, sent with every request."""
        return self.address.parameters

    @property
    def login(self) -> str:
        """`user:password` of the address."""
        return self.address.login

    def headers(self) -> dict[str, str]:
        """The `Authorization` header of a request; empty where there is neither key nor login."""
        if self.login:
            return {"Authorization": f"Basic {_basic(self.login)}"}
        return {"Authorization": f"Bearer {self.value}"} if self.value else {}

    def hide_in(self, text: str) -> str:
        """`text` with key, login and secret parameters replaced by `***`: a server may repeat them in an error."""
        keys = (self.value,) if len(self.value) >= _SHORTEST_SECRET else ()
        logins = (_basic(self.login),) if self.login else ()
        for secret in sorted((*keys, *logins, *self.address.secrets), key=len, reverse=True):
            text = text.replace(secret, _HIDDEN)
        return shown_text(text)


def api_key(
    variable: str | None, address: Address | None = None, *, preset: str = "", key: str = "engine.api_key_env"
) -> ApiKey:
    """The key for the server at `address`: from the named `variable`, else by login, else from a known variable.

    Without a named variable, the login in the address is used; without a login, the first variable of
    `variables_for` that is set.

    Raises `ConfigError`, which names the configuration's `key`, where the named variable is not set or the address
    has a login too, and where the host is a provider's and there is no key.
    """
    where = address or _NOWHERE
    if variable is not None:
        value = os.environ.get(variable, "").strip()
        if not value:
            raise ConfigError(f"{key}={variable}: this variable is not set; export it, or name another")
        if where.login:
            raise ConfigError(
                f"{key}={variable}: {where.url} has a user and a password in its address too, and a request carries "
                "one of them; leave the other out"
            )
        return ApiKey(value=value, address=where)
    known = variables_for(where.host, preset)
    # A login in the address is meant for this host; a variable may be set for others.
    value = "" if where.login else next(filter(None, (os.environ.get(name, "").strip() for name in known)), "")
    if not value and not where.secrets and provider_of(where.host) is not None:
        raise ConfigError(
            f"{key}: {where.host} needs a key, and none of {', '.join(known)} is set; export one, or give the name "
            f"of the variable that holds it with {key}=NAME"
        )
    return ApiKey(value=value, address=where)


def variables_for(host: str, preset: str = "") -> tuple[str, ...]:
    """The variables whose keys may be sent to a host, in the order in which they are tried.

    A provider's own variables come first, and their keys are sent to no other provider. They may also be sent to
    another host that is configured for the provider's preset: a proxy in front of it.
    """
    provider = provider_of(host)
    if provider is not None:
        return (*provider.variables, *ANY_HOST)
    proxied = provider_for(preset)
    return tuple(dict.fromkeys((*(proxied.variables if proxied else ()), *ANY_HOST, *_COMPATIBLE)))


def _basic(login: str) -> str:
    return base64.b64encode(login.encode()).decode()
