"""A server's address, with the user, the password and the keys in it kept apart."""

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
    """A server's address in parts.

    `url` ends where `/chat/completions` begins and has no secrets: it is the only part that is shown. `login` is
    `user:password`, sent as HTTP's basic authorisation. `parameters` are sent with every request.
    """

    url: str
    host: str
    login: str = field(default="", repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def identity(self) -> str:
        """The address with its parameters, without secrets: tells servers apart."""
        public = {name: value for name, value in sorted(self.parameters.items()) if not is_secret(name)}
        return str(httpx2.URL(self.url, params=public)) if public else self.url

    @property
    def secrets(self) -> tuple[str, ...]:
        """The parts that must not be shown, as they are and percent-encoded."""
        keys = [value for name, value in self.parameters.items() if is_secret(name)]
        secrets = (self.login, self.login.partition(":")[2], *keys)
        return tuple(dict.fromkeys(form for secret in secrets if secret for form in (secret, quote(secret, safe=""))))


def address_of(base_url: str, *, key: str = "engine.base_url") -> Address:
    """Parse an address, given with or without `/v1` or a route. Raises `ConfigError`, which names the `key`."""
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL as error:
        # The message repeats neither the address nor the parser's words: what can't be parsed may be the password.
        raise ConfigError(
            f"{key}: is not an address; write http://HOST:PORT, and the signs / ? # of a password as %2F %3F %23"
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
