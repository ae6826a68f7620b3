"""How servers are reached: addresses, keys from environment variables, and HTTP clients with a bound on answers."""

from __future__ import annotations

import base64
import codecs
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx2

from contextcliff.errors import ConfigError, is_secret, shown_text

if TYPE_CHECKING:
    from openai import AsyncOpenAI


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """A hosted service: it needs a key, and has no routes beside the OpenAI protocol's; its preset, if it has one."""

    domain: str
    variables: tuple[str, ...] = ()
    preset: str = ""
    takes_samplers: bool = True


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
    return next((each for each in PROVIDERS if f".{host}".endswith(f".{each.domain}")), None)


_ROUTES = ("/chat/completions", "/completions", "/models", "/embeddings")


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A server's address in parts, and what its requests are authorised with.

    `url` ends where `/chat/completions` begins and has no secrets: it is the only part that is shown. `login` is
    `user:password`, sent as HTTP's basic authorisation in the place of a key. `parameters` are sent with every request.
    """

    url: str = ""
    key: str = field(default="", repr=False)
    login: str = field(default="", repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def host(self) -> str:
        return httpx2.URL(self.url).host

    @property
    def root(self) -> str:
        """Where the server's own routes begin, without `/v1`."""
        return self.url.removesuffix("/v1")

    @property
    def identity(self) -> str:
        """The address with its parameters, without secrets: tells servers apart."""
        public = {name: value for name, value in sorted(self.parameters.items()) if not is_secret(name)}
        return str(httpx2.URL(self.url, params=public)) if public else self.url

    def headers(self) -> dict[str, str]:
        if self.login:
            return {"Authorization": f"Basic {_encoded(self.login)}"}
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def hide_in(self, text: str) -> str:
        """`text` with key, login and secret parameters replaced by `***`: a server may repeat them in an error."""
        hidden = (self.parameters[name] for name in filter(is_secret, self.parameters))
        parts = (self.login, self.login.partition(":")[2], *hidden)
        secrets = [self.key if len(self.key) >= _SHORTEST_SECRET else "", _encoded(self.login), *parts]
        secrets += [quote(part, safe="") for part in parts]
        for secret in sorted(filter(None, secrets), key=len, reverse=True):
            text = text.replace(secret, _HIDDEN)
        return shown_text(text)


def _encoded(login: str) -> str:
    return base64.b64encode(login.encode()).decode()


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
        login=f"{url.username}:{url.password}" if url.userinfo else "",
        parameters=dict(url.params),
    )


_ANY_HOST = ("API_KEY", "API_PASSWORD")
_COMPATIBLE = ("OPENAI_API_KEY", "NVIDIA_API_KEY", "NVAPI_KEY")
"""Variables that users also set for servers of their own; their keys are never sent to another provider."""
KNOWN_VARIABLES = tuple(
    dict.fromkeys((*_ANY_HOST, *_COMPATIBLE, *(name for provider in PROVIDERS for name in provider.variables)))
)
_HIDDEN = "***"
_NO_KEY = "none"  # the client insists on a key; servers that need none ignore it
_SHORTEST_SECRET = 6


def with_key(
    address: Address, variable: str | None, *, preset: str = "", setting: str = "engine.api_key_env"
) -> Address:
    """The address with its key: of the named `variable`, else of one of `variables_for` if it has no login."""
    if variable is not None:
        value = os.environ.get(variable, "").strip()
        if not value:
            raise ConfigError(f"{setting}={variable}: this variable is not set; export it, or name another")
        if address.login:
            raise ConfigError(
                f"{setting}={variable}: {address.url} has a user and a password in its address too, and a request "
                "carries one of them; leave the other out"
            )
        return replace(address, key=value)
    if address.login:  # is meant for this host; a variable may be set for others
        return address
    known = variables_for(address.host, preset)
    value = next(filter(None, (os.environ.get(name, "").strip() for name in known)), "")
    if not value and not any(map(is_secret, address.parameters)) and provider_of(address.host) is not None:
        raise ConfigError(
            f"{setting}: {address.host} needs a key, and none of {', '.join(known)} is set; export one, or give the "
            f"name of the variable that holds it with {setting}=NAME"
        )
    return replace(address, key=value)


def variables_for(host: str, preset: str = "") -> tuple[str, ...]:
    """The variables whose keys may be sent to a host, in the order in which they are tried. A provider's own come
    first, and go to no other provider, but to a proxy that its preset is given."""
    provider = provider_of(host)
    if provider is not None:
        return (*provider.variables, *_ANY_HOST)
    proxied = (name for each in PROVIDERS if each.preset == preset != "" for name in each.variables)
    return tuple(dict.fromkeys((*proxied, *_ANY_HOST, *_COMPATIBLE)))


MOST_BYTES = 64 * 1024 * 1024


class AnswerTooLarge(httpx2.TransportError):
    """A server sent more than `MOST_BYTES`."""


class _Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body decompressed and bounded, in UTF-8 without a byte-order mark; bytes that are none become U+FFFD."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self._received = 0
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")

    def __iter__(self) -> Iterator[bytes]:
        return map(self._read, self._response.iter_bytes())

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
    """The same answer with `_Body`, and without the encoding in its headers and a charset that Python may not have."""
    headers = response.headers.copy()
    headers.pop("content-encoding", None)
    if "content-type" in headers:
        headers["content-type"] = headers["content-type"].partition(";")[0]
    return httpx2.Response(
        response.status_code, headers=headers, stream=_Body(response), extensions=response.extensions
    )


class _Transport(httpx2.HTTPTransport):
    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return _bounded(super().handle_request(request))
        except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
            return _bounded(super().handle_request(request))


class _AsyncTransport(httpx2.AsyncHTTPTransport):
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return _bounded(await super().handle_async_request(request))


def client(address: Address = Address(), *, timeout_s: float) -> httpx2.Client:
    """A client for the routes below `address.root` that follows no redirect: a key must not reach another host.

    It is for questions that change nothing on the server: where that closes a kept connection while a request is on its
    way, as some do, the request is sent once more."""
    return httpx2.Client(
        transport=_Transport(),
        timeout=timeout_s,
        follow_redirects=False,
        base_url=address.root,
        headers=address.headers(),
        params=address.parameters,
    )


def async_client(*, timeout_s: float, connections: int) -> httpx2.AsyncClient:
    limits = httpx2.Limits(max_connections=connections + 1, max_keepalive_connections=connections)
    return httpx2.AsyncClient(transport=_AsyncTransport(limits=limits), timeout=timeout_s, follow_redirects=False)


def connection(
    address: Address, *, timeout_s: float, requests: int, headers: Mapping[str, str] = MappingProxyType({})
) -> AsyncOpenAI:
    import openai

    return openai.AsyncOpenAI(
        base_url=address.url,
        api_key=address.key or _NO_KEY,
        default_headers={**address.headers(), **headers},
        default_query=address.parameters,
        max_retries=0,
        timeout=timeout_s,
        http_client=async_client(timeout_s=timeout_s, connections=requests),
    )
