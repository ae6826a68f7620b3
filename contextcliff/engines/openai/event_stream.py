"""Server-sent events as the JSON that they carry.

The client would build a model of each event, which takes most of the time that a short answer costs here.
Format: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import httpx2

_END = b"[DONE]"


async def events(response: httpx2.Response, *, read: bytes | None = None) -> AsyncIterator[Mapping[str, object]]:
    """The objects of an answer's events up to `[DONE]`; what is no object is passed over.

    `read` is the body where it has been read already. The body is read to its end even behind `[DONE]`: only then is
    the connection free for the next request.

    Raises `openai.APIError` for an error that the server reports, its subclasses where the connection fails, and
    `json.JSONDecodeError` for what is no JSON. An event that is not ended by a blank line is none.
    """
    import openai

    data: list[bytes] = []
    has_ended = False
    async for line in _lines(_parts(response) if read is None else _one(read)):
        if has_ended:
            continue
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            text, data = b"\n".join(data), []
            if text.startswith(_END):
                has_ended = True
                continue
            event = json.loads(text.decode("utf-8", "replace"))
            if not isinstance(event, Mapping):
                continue
            if error := event.get("error"):
                said = error.get("message") if isinstance(error, Mapping) else None
                message = said if said and isinstance(said, str) else "An error occurred during streaming"
                raise openai.APIError(message, response.request, body=error)
            yield event


async def body(response: httpx2.Response) -> bytes:
    """The whole body; errors on the way are raised as the client's own."""
    return b"".join([part async for part in _parts(response)])


async def _lines(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Without their ends, which are LF, CR LF, or CR."""
    begun = bytearray()
    async for part in parts:
        # CR LF may be cut between two parts: a CR at the end waits for what follows.
        begun += part
        if b"\n" in part or b"\r" in part:
            whole = bytes(begun)
            last = b"\r" if whole.endswith(b"\r") else b""
            *lines, rest = whole.removesuffix(last).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            begun = bytearray(rest + last)
            for line in lines:
                yield line


async def _parts(response: httpx2.Response) -> AsyncIterator[bytes]:
    import httpx2
    import openai

    try:
        async for part in response.aiter_bytes():
            yield part
    except httpx2.TimeoutException as error:
        raise openai.APITimeoutError(response.request) from error
    except httpx2.TransportError as error:
        raise openai.APIConnectionError(request=response.request) from error


async def _one(part: bytes) -> AsyncIterator[bytes]:
    yield part


def choices(event: Mapping[str, object]) -> Iterable[Mapping[str, object]]:
    """The choices of an event or an answer that are what they should be."""
    found = event.get("choices")
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def part(event: Mapping[str, object], name: str) -> Mapping[str, object]:
    """An object inside an object; an empty one where it is absent or something else."""
    found = event.get(name)
    return cast("Mapping[str, object]", found) if isinstance(found, Mapping) else {}


def words(event: Mapping[str, object], name: str) -> str:
    """A text inside an object; an empty one where it is absent or something else."""
    found = event.get(name)
    return found if isinstance(found, str) else ""


def count(event: Mapping[str, object], name: str) -> int | None:
    """A number inside an object; None where it is absent or something else."""
    found = event.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
