"""API keys: taken from the environment by name, and kept out of everything that is said."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from contextcliff.addresses import shown_text
from contextcliff.engines.openai.providers import PROVIDERS, provider_for, provider_of
from contextcliff.engines.openai.server_address import Address
from contextcliff.errors import ConfigError

ANY_HOST = ("API_KEY", "API_PASSWORD")
"""Nobody's in particular: sent to whatever host is asked."""
_COMPATIBLE = ("OPENAI_API_KEY", "NVIDIA_API_KEY", "NVAPI_KEY")
"""By custom also the keys of servers that are no provider's; never sent to another provider."""
KNOWN_VARIABLES = tuple(
    dict.fromkeys((*ANY_HOST, *_COMPATIBLE, *(name for provider in PROVIDERS for name in provider.variables)))
)
_HIDDEN = "***"
_SHORTEST_SECRET = 6
_NOWHERE = Address(url="", host="")


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
    """What opens a server, and is never shown: a key, or the login of its address.

    Servers without one take any word.
    """

    value: str = field(default="", repr=False)
    address: Address = field(default=_NOWHERE, repr=False)
    """Of the server; its login goes where a key would go, so that there is one or the other."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """What the address has behind its `?`, to be sent with every request."""
        return self.address.parameters

    @property
    def login(self) -> str:
        """`user:password` of the address."""
        return self.address.login

    def headers(self) -> dict[str, str]:
        """The authorisation of a request."""
        if self.login:
            return {"Authorization": f"Basic {_basic(self.login)}"}
        return {"Authorization": f"Bearer {self.value}"} if self.value else {}

    def hide_in(self, text: str) -> str:
        """`text` without the key: a server may echo it in an error."""
        keys = (self.value,) if len(self.value) >= _SHORTEST_SECRET else ()
        logins = (_basic(self.login),) if self.login else ()
        for secret in sorted((*keys, *logins, *self.address.secrets), key=len, reverse=True):
            text = text.replace(secret, _HIDDEN)
        return shown_text(text)


def api_key(
    variable: str | None, address: Address | None = None, *, preset: str = "", key: str = "engine.api_key_env"
) -> ApiKey:
    """What opens the server at an address.

    The login that stands in it, else the key in the named variable, else the first that is set of those that may
    go to that host.

    Raises `ConfigError`, which names the configuration's `key`, where a variable is named and not set, where the
    address has a login too, and where the host is a provider's and there is no key.
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
    looked_at = variables_for(where.host, preset)
    # A login in the address is meant for this host; a variable may be set for others.
    found = "" if where.login else next(filter(None, (os.environ.get(name, "").strip() for name in looked_at)), "")
    if not found and not where.secrets and provider_of(where.host) is not None:
        raise ConfigError(
            f"{key}: {where.host} needs a key, and none of {', '.join(looked_at)} is set; export one, or give the name "
            f"of the variable that holds it with {key}=NAME"
        )
    return ApiKey(value=found, address=where)


def variables_for(host: str, preset: str = "") -> tuple[str, ...]:
    """The variables whose keys may go to a host, in the order in which they are tried.

    A provider's own come first and go to no other provider. They go to a host that is no provider's where it is given
    to the provider's preset: a proxy before it.
    """
    provider = provider_of(host)
    if provider is not None:
        return (*provider.variables, *ANY_HOST)
    meant = provider_for(preset)
    return tuple(dict.fromkeys((*(meant.variables if meant else ()), *ANY_HOST, *_COMPATIBLE)))


def _basic(login: str) -> str:
    return base64.b64encode(login.encode()).decode()
