"""One request to an OpenAI-compatible server and its answer: streamed, timed, with its faults named."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import httpx2

from contextcliff.engines.engine import OnToken
from contextcliff.engines.openai.faults import (
    connection_fault,
    detail_of,
    reported_fault,
    status_fault,
    timeout_fault,
    unreadable_fault,
)
from contextcliff.engines.openai.reasoning import split_reasoning
from contextcliff.engines.openai.server_json import count_at, object_at, objects_at, parsed_object, text_at
from contextcliff.errors import EngineFault
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Prompt
from contextcliff.text.tokens import messages, plain_text

if TYPE_CHECKING:
    from openai import AsyncOpenAI


Api = Literal["chat", "completions"]

_WHOLE_REQUEST_PER_SILENCE = 4
_MS_PER_S = 1000
_LONGEST_GOODBYE_S = 0.1
"""After `[DONE]` a server closes its answer within that time, or its connection is closed and not used again."""
_EVENTS = {"content-type": "text/event-stream"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request; `fields` are the top-level fields of its body beside model and prompt."""

    model: str
    prompt: Prompt
    fields: Mapping[str, object]
    api: Api = "chat"
    streams: bool = True
    stream_usage: bool = True
    built_tokens: int
    """Length of the prompt by our own tokenizer, used where the server does not count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Piece:
    """What one event of a stream, or a whole answer, adds."""

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""


async def exchange(
    client: AsyncOpenAI, request: Request, *, timeout_s: float, on_token: OnToken | None = None
) -> Generation:
    """Send one request and read its answer to the end; `on_token` gets the answer's text as it arrives.

    `timeout_s` bounds silence (the client's own read timeout); the whole request may take four times
    that. Raises `EngineFault`, whose kind says what happened.
    """
    import anyio
    import openai

    try:
        async with asyncio.timeout(timeout_s * _WHOLE_REQUEST_PER_SILENCE):
            return await _exchange(client, request, on_token)
    except (TimeoutError, openai.APITimeoutError, httpx2.TimeoutException) as error:
        raise timeout_fault(timeout_s) from error
    except openai.APIStatusError as error:
        raise status_fault(error) from error
    except (openai.APIConnectionError, httpx2.RequestError, ssl.SSLError, anyio.EndOfStream) as error:
        raise connection_fault(error, client.base_url.host) from error
    except (openai.OpenAIError, ValueError) as error:
        raise unreadable_fault(error) from error


async def _exchange(client: AsyncOpenAI, request: Request, on_token: OnToken | None) -> Generation:
    piece_of = _PIECES[request.api]
    pieces: list[_Piece] = []
    first_s: float | None = None
    served_model = ""
    usage: Mapping[str, object] = {}
    streamed = request.streams
    started_s = time.perf_counter()
    async for event, is_part in _events(client, request):
        streamed = is_part
        served_model = text_at(event, "model") or served_model
        usage = object_at(event, "usage") or usage
        for choice in objects_at(event, "choices"):
            piece = piece_of(choice)
            if first_s is None and (piece.text or piece.reasoning):
                first_s = time.perf_counter()
            if on_token is not None and piece.text:
                on_token(piece.text)
            pieces.append(piece)
    ended_s = time.perf_counter()
    finish_reason = next((piece.finish_reason for piece in reversed(pieces) if piece.finish_reason), "")
    prompt_tokens, completion_tokens = count_at(usage, "prompt_tokens"), count_at(usage, "completion_tokens")
    if not finish_reason or (prompt_tokens is None and request.stream_usage and streamed):
        raise EngineFault("broken_stream", "the answer ended without a finish reason and usage", retryable=True)
    reply = split_reasoning(
        "".join(piece.text for piece in pieces), reasoning="".join(piece.reasoning for piece in pieces)
    )
    return Generation(
        text=reply.answer,
        reasoning=reply.reasoning,
        reasoning_tokens=count_at(object_at(usage, "completion_tokens_details"), "reasoning_tokens"),
        finish_reason=finish_reason,
        prompt_tokens=request.built_tokens if prompt_tokens is None else prompt_tokens,
        completion_tokens=len(pieces) if completion_tokens is None else completion_tokens,
        cached_tokens=count_at(object_at(usage, "prompt_tokens_details"), "cached_tokens"),
        ttft_ms=((first_s if first_s is not None else ended_s) - started_s) * _MS_PER_S,
        latency_ms=(ended_s - started_s) * _MS_PER_S,
        served_model=served_model,
        server_counted=prompt_tokens is not None,
        streamed=streamed,
    )


async def _events(client: AsyncOpenAI, request: Request) -> AsyncIterator[tuple[Mapping[str, object], bool]]:
    """Every event of an answer, and whether it is a part of a stream (else it is the whole answer)."""
    from openai import AsyncStream
    from pydantic_core import to_json

    sent: dict[str, object] = {"model": request.model, **request.fields}
    if request.api == "chat":
        path, sent["messages"] = "/chat/completions", messages(request.prompt)
    else:
        path, sent["prompt"] = "/completions", plain_text(request.prompt)
    if request.streams:
        sent["stream"] = True
        if request.stream_usage:
            sent["stream_options"] = {"include_usage": True}
    # The client's own methods for these routes would copy the prompt field by field and take six times as long to write
    # it as JSON. Its stream refers to itself, so that the prompt would stay until a search for garbage, parses JSON
    # that may be nested too deep, and does not tell of `[DONE]`.
    response = cast(
        httpx2.Response,
        await client.post(
            path, cast_to=httpx2.Response, content=to_json(sent), stream=True, stream_cls=AsyncStream[httpx2.Response]
        ),
    )
    async with aclosing(response), aclosing(response.aiter_bytes()) as parts:
        begun = b""
        while not begun.strip() and (part := await anext(parts, None)) is not None:
            begun = part
        if begun.lstrip().startswith(b"{"):
            # Maybe the server does not know `stream`. Its whole answer is here already, and has been paid for.
            whole = begun + b"".join([part async for part in parts])
            yield _without_error(parsed_object(whole.decode())), False
            return
        stream = httpx2.Response(200, headers=_EVENTS, content=_after(begun, parts), request=response.request)
        events = aiter(httpx2.EventSource(stream, max_event_size=None))
        has_begun = False
        async for event in events:
            if event.data.startswith("[DONE]"):
                await _leave(events)
                return
            if event.data:
                has_begun = True
                yield _without_error(parsed_object(event.data)), True
        if not has_begun:
            raise EngineFault("broken_stream", f"no answer but: {detail_of(begun.decode())}", retryable=True)


def _without_error(event: Mapping[str, object]) -> Mapping[str, object]:
    if error := event.get("error"):
        raise reported_fault(error)
    return event


async def _after(begun: bytes, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield begun
    async for part in parts:
        yield part
    yield b"\n\n"  # some servers do not end their last event


async def _leave(events: AsyncIterator[object]) -> None:
    """Read what comes behind `[DONE]`, so that the connection is free again, unless the server keeps silent."""
    with suppress(TimeoutError, httpx2.RequestError):
        async with asyncio.timeout(_LONGEST_GOODBYE_S):
            async for _ in events:
                pass


def _chat_piece(choice: Mapping[str, object]) -> _Piece:
    message = object_at(choice, "delta") or object_at(choice, "message")
    return _Piece(
        text=text_at(message, "content"),
        reasoning=text_at(message, "reasoning_content") or text_at(message, "reasoning"),
        finish_reason=text_at(choice, "finish_reason"),
    )


def _completion_piece(choice: Mapping[str, object]) -> _Piece:
    return _Piece(text=text_at(choice, "text"), finish_reason=text_at(choice, "finish_reason"))


_PIECES: Mapping[Api, Callable[[Mapping[str, object]], _Piece]] = {
    "chat": _chat_piece,
    "completions": _completion_piece,
}
