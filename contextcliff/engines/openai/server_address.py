"""A server's address with the secrets in it kept apart, and the hosted services that are known by their host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx2

from contextcliff.addresses import is_secret
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
