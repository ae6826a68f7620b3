"""HTTP clients that follow no redirect, and read each body as UTF-8 of at most 64 MiB, whatever its headers say."""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing

import httpx2

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
        """Send a request; reading its answer is bounded."""
        return _bounded(super().handle_request(request))


class AskAgainTransport(BoundedTransport):
    """Keeps its connections, for questions that change nothing on the server.

    A server may close a kept connection while a request is on its way: that request is sent once more, on a new one.
    """

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and again where its connection broke off before there was an answer."""
        try:
            return super().handle_request(request)
        except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
            return super().handle_request(request)


class AsyncBoundedTransport(httpx2.AsyncHTTPTransport):
    """The same for asyncio."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; reading its answer is bounded."""
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
