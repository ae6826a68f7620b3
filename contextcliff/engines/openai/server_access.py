"""A server's address and the key that it is asked with: secrets are kept apart, and out of all output.

Keys are read from environment variables. The hosted services are known by their host.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx2

from contextcliff.addresses import is_secret, shown_text
from contextcliff.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """A hosted service: it always needs a key, and has no routes beside the OpenAI protocol's."""

    domain: str
    variables: tuple[str, ...] = ()
    """The environment variables that hold keys of this provider."""
    preset: str = ""
    """The engine preset made for this provider; empty where it has none (`openai` is for any host)."""
    takes_samplers: bool = True
    """Whether it accepts samplers beyond the protocol's."""

    def serves(self, host: str) -> bool:
        """Whether a host is this provider's."""
        return host == self.domain or host.endswith(f".{self.domain}")


PROVIDERS = (
    Provider(domain="api.openai.com", variables=("OPENAI_API_KEY",), takes_samplers=False),
    Provider(domain="openai.azure.com", variables=("AZURE_OPENAI_API_KEY",), takes_samplers=False),
    Provider(domain="nvidia.com", preset="nvidia_nim", variables=("NVIDIA_API_KEY", "NVAPI_KEY")),
    Provider(
        domain="generativelanguage.googleapis.com", preset="gemini", variables=("GEMINI_API_KEY", "GOOGLE_API_KEY")
    ),
    Provider(domain="googleapis.com"),  # Vertex AI: tokens last an hour, in a variable that the user names
    Provider(domain="openrouter.ai", preset="openrouter", variables=("OPENROUTER_API_KEY",)),
    Provider(domain="z.ai", preset="zai", variables=("ZAI_API_KEY",)),
)


def provider_of(host: str) -> Provider | None:
    """The provider whose host this is; None for any other host."""
    return next((provider for provider in PROVIDERS if provider.serves(host)), None)


def provider_for(preset: str) -> Provider | None:
    """The provider that an engine preset is made for; None for a preset for any server."""
    return next((provider for provider in PROVIDERS if provider.preset and provider.preset == preset), None)


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
    def root(self) -> str:
        """`http://HOST:PORT`."""
        return str(httpx2.URL(self.url).copy_with(raw_path=b"/")).rstrip("/")

    @property
    def port(self) -> int:
        """As given, or the scheme's own."""
        url = httpx2.URL(self.url)
        return url.port if url.port is not None else 443 if url.scheme == "https" else 80

    def with_port(self, port: int) -> str:
        """The address with another port, without its secrets."""
        return str(httpx2.URL(self.url).copy_with(port=port))

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
