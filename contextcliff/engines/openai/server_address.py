"""Where a server is, with the user, the password and the keys of its address kept apart from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx2

from contextcliff.addresses import is_secret
from contextcliff.errors import ConfigError

_ROUTES = ("/chat/completions", "/completions", "/models", "/embeddings")


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A server's address as it is contacted.

    `url` ends where `/chat/completions` begins, and is all that is ever shown; `login` is `user:password`, sent as
    HTTP's basic authorisation; `parameters` go with every request.
    """

    url: str
    host: str
    login: str = field(default="", repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def identity(self) -> str:
        """The server by what tells it from others, without what opens it."""
        kept = {name: value for name, value in sorted(self.parameters.items()) if not is_secret(name)}
        return str(httpx2.URL(self.url, params=kept)) if kept else self.url

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be shown."""
        keys = [value for name, value in self.parameters.items() if is_secret(name)]
        told = (self.login, self.login.partition(":")[2], *keys)
        return tuple(dict.fromkeys(form for secret in told if secret for form in (secret, quote(secret, safe=""))))


def address_of(base_url: str, *, key: str = "engine.base_url") -> Address:
    """An address with and without `/v1`. Raises `ConfigError`, which names the configuration's `key`."""
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL as error:
        # Neither the address nor what the parser says of it is repeated: it may be the password that it can't read.
        raise ConfigError(
            f"{key}: is no address; write http://HOST:PORT, and the signs / ? # of a password as %2F %3F %23"
        ) from error
    path = url.path.rstrip("/")
    for route in _ROUTES:
        path = path.removesuffix(route)
    bare = url.copy_with(username=None, password=None, query=None, fragment=None, path=path or "/v1")
    return Address(
        url=str(bare).rstrip("/"),
        host=url.host,
        login=f"{url.username}:{url.password}" if url.userinfo else "",
        parameters=dict(url.params),
    )
