"""HTTP clients that follow no redirect and cut off answers beyond 64 MiB."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping

import httpx2

MOST_BYTES = 64 * 1024 * 1024
"""Longer than any proper answer; a server that sends more is cut off before it fills the memory."""


class AnswerTooLarge(httpx2.TransportError):
    """A server sent more than `MOST_BYTES`."""


class _BoundedStream(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream | httpx2.AsyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        assert isinstance(self._stream, httpx2.SyncByteStream)
        received = 0
        for part in self._stream:
            received = _bounded_total(received, part)
            yield part

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._stream, httpx2.AsyncByteStream)
        received = 0
        async for part in self._stream:
            received = _bounded_total(received, part)
            yield part

    def close(self) -> None:
        if isinstance(self._stream, httpx2.SyncByteStream):
            self._stream.close()

    async def aclose(self) -> None:
        if isinstance(self._stream, httpx2.AsyncByteStream):
            await self._stream.aclose()


def _bounded_total(received: int, part: bytes) -> int:
    total = received + len(part)
    if total > MOST_BYTES:
        raise AnswerTooLarge(f"the answer is longer than {MOST_BYTES // 2**20} MiB")
    return total


class BoundedTransport(httpx2.HTTPTransport):
    """A transport that raises `AnswerTooLarge` for an answer longer than `MOST_BYTES`."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; reading its answer is bounded."""
        response = super().handle_request(request)
        response.stream = _BoundedStream(response.stream)
        return response


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
        response = await super().handle_async_request(request)
        response.stream = _BoundedStream(response.stream)
        return response


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
