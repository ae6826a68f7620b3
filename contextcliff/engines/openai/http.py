"""How servers are reached: their addresses, the keys that they get, and HTTP clients that take no more than an answer.

Keys are read from environment variables. The hosted services are known by their host. Secrets are kept apart, and out
of all output.
"""

from __future__ import annotations

import base64
import codecs
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx2

from contextcliff.errors import ConfigError, is_secret, shown_text


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

    def headers(self) -> dict[str, str]:
        """The `Authorization` header of a request; empty where there is neither key nor login."""
        if self.address.login:
            return {"Authorization": f"Basic {_basic(self.address.login)}"}
        return {"Authorization": f"Bearer {self.value}"} if self.value else {}

    def hide_in(self, text: str) -> str:
        """`text` with key, login and secret parameters replaced by `***`: a server may repeat them in an error."""
        keys = (self.value,) if len(self.value) >= _SHORTEST_SECRET else ()
        logins = (_basic(self.address.login),) if self.address.login else ()
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
    proxied = (name for each in PROVIDERS if each.preset == preset != "" for name in each.variables)
    return tuple(dict.fromkeys((*proxied, *ANY_HOST, *_COMPATIBLE)))


def _basic(login: str) -> str:
    return base64.b64encode(login.encode()).decode()


MOST_BYTES = 64 * 1024 * 1024
"""Longer than any proper answer; a server that sends more is cut off before it fills the memory."""


class AnswerTooLarge(httpx2.TransportError):
    """A server sent more than `MOST_BYTES`."""


class _Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body decompressed and bounded, in UTF-8 without a byte-order mark; bytes that are none become U+FFFD."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self._received = 0
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")

    def __iter__(self) -> Iterator[bytes]:
        for part in self._response.iter_bytes():
            yield self._read(part)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(self._response.aiter_bytes()) as parts:
            async for part in parts:
                yield self._read(part)

    def _read(self, part: bytes) -> bytes:
        self._received += len(part)
        if self._received > MOST_BYTES:
            raise AnswerTooLarge(f"the answer is longer than {MOST_BYTES // 2**20} MiB")
        return self._decoder.decode(part).encode()

    def close(self) -> None:
        self._response.close()

    async def aclose(self) -> None:
        await self._response.aclose()


def _bounded(response: httpx2.Response) -> httpx2.Response:
    """The same answer with `_Body`; its headers name no encoding any more, and no charset that Python may not have."""
    headers = response.headers.copy()
    headers.pop("content-encoding", None)
    if "content-type" in headers:
        headers["content-type"] = headers["content-type"].partition(";")[0]
    return httpx2.Response(
        response.status_code, headers=headers, stream=_Body(response), extensions=response.extensions
    )


class BoundedTransport(httpx2.HTTPTransport):
    """A transport that raises `AnswerTooLarge` for an answer longer than `MOST_BYTES`."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return _bounded(super().handle_request(request))


class AskAgainTransport(BoundedTransport):
    """Keeps its connections, for questions that change nothing on the server.

    A server may close a kept connection while a request is on its way: that request is sent once more, on a new one.
    """

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return super().handle_request(request)
        except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
            return super().handle_request(request)


class AsyncBoundedTransport(httpx2.AsyncHTTPTransport):
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return _bounded(await super().handle_async_request(request))


def client(*, timeout_s: float, parameters: Mapping[str, str] | None = None, asks_again: bool = False) -> httpx2.Client:
    """A client that follows no redirect: a key must not reach another host. `parameters` go with every request.

    With `asks_again`, for questions that change nothing on the server, connections are kept. Else each request has one
    of its own: some servers close a kept one while a request is on its way.
    """
    return httpx2.Client(
        transport=AskAgainTransport() if asks_again else BoundedTransport(),
        timeout=timeout_s,
        follow_redirects=False,
        headers={} if asks_again else {"Connection": "close"},
        params=parameters,
    )


def async_client(*, timeout_s: float, connections: int) -> httpx2.AsyncClient:
    """The same for asyncio, with as many connections as there are requests in flight."""
    limits = httpx2.Limits(max_connections=connections + 1, max_keepalive_connections=connections)
    return httpx2.AsyncClient(transport=AsyncBoundedTransport(limits=limits), timeout=timeout_s, follow_redirects=False)
