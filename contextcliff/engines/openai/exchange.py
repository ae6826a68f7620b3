"""One request to an OpenAI-compatible server and its answer: streamed, timed, with its faults named."""

from __future__ import annotations

import asyncio
import ssl
import time
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

import httpx2

from contextcliff.engines.engine import OnToken
from contextcliff.engines.openai.answer_pieces import AnswerPiece, answer_of, chat_piece, completion_piece
from contextcliff.engines.openai.faults import (
    connection_fault,
    detail_of,
    engine_fault,
    reported_fault,
    status_fault,
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
        raise EngineFault("timeout", f"no end within {timeout_s:g} s of silence", retryable=True) from error
    except openai.APIStatusError as error:
        raise status_fault(error) from error
    except (openai.APIConnectionError, httpx2.RequestError, ssl.SSLError, anyio.EndOfStream) as error:
        raise connection_fault(error, client.base_url.host) from error
    except (openai.OpenAIError, ValueError) as error:  # no JSON, or another error of the client
        raise EngineFault("broken_stream", detail_of(str(error)), retryable=True) from error


_SAME_CONTEXT = 0.1
"""Share of a prompt that a slot has to hold already, as llama.cpp has it; else the longest unused is taken."""


class Slots:
    """The slots of a llama.cpp server. A prompt goes to the free one whose last prompt begins most like it.

    With a `count` of 0, for other servers and for one request at a time, no slot is named.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._free = dict.fromkeys(range(count), "")
        """What each holds, the longest unused first."""

    @contextmanager
    def one_for(self, prompt: Prompt) -> Iterator[Mapping[str, int]]:
        """The field of a request that names a slot, which is busy inside the block; none where none is free."""
        text, free = plain_text(prompt), self._free
        if not free:
            yield {}
            return
        shared = {slot: _shared_beginning(held, text) for slot, held in free.items()}
        slot = max(free, key=lambda each: shared[each] if shared[each] > _SAME_CONTEXT * len(text) else 0)
        del free[slot]
        try:
            yield {"id_slot": slot}
        finally:
            free[slot] = text


def _shared_beginning(one: str, other: str) -> int:
    """Characters that both begin with."""
    return bisect_left(range(1, min(len(one), len(other)) + 1), True, key=lambda end: not other.startswith(one[:end]))


@dataclass(kw_only=True, slots=True)
class _Received:
    """What has come of an answer so far."""

    streamed: bool
    started_s: float
    ended_s: float
    first_s: float | None = None
    """When the first text came."""
    pieces: list[AnswerPiece] = field(default_factory=list)
    usage: Mapping[str, object] = field(default_factory=dict)
    served_model: str = ""
    is_whole: bool = False
    """Whether the server has said that the answer is at its end: by `[DONE]`, or by sending it in one piece."""

    def lacks_nothing(self, request: Request) -> bool:
        """Whether the answer is all here, with its count if one was asked for."""
        is_ended = any(piece.finish_reason for piece in self.pieces)
        return self.is_whole or (is_ended and (bool(self.usage) or not request.stream_usage))


async def _exchange(client: AsyncOpenAI, request: Request, on_token: OnToken | None) -> Generation:
    piece_of, started_s = _PIECES[request.api], time.perf_counter()
    received = _Received(streamed=request.streams, started_s=started_s, ended_s=started_s)
    try:
        async for event in _events(client, request, received):
            received.ended_s = time.perf_counter()
            received.served_model = text_at(event, "model") or received.served_model
            received.usage = object_at(event, "usage") or received.usage
            for choice in objects_at(event, "choices"):
                piece = piece_of(choice)
                if received.first_s is None and (piece.text or piece.reasoning):
                    received.first_s = received.ended_s
                # A message at the end of a stream repeats what was said.
                if on_token is not None and piece.text and not (piece.is_message and received.pieces):
                    on_token(piece.text)
                received.pieces.append(piece)
    except (asyncio.CancelledError, httpx2.RequestError):
        # Whoever is cancelled, out of time or cut off when only the end of the connection is missing has its answer.
        if not received.lacks_nothing(request):
            raise
    return _generation(request, received)


def _generation(request: Request, received: _Received) -> Generation:
    """The answer; `prompt_tokens` is the tokenizer's where the server counts none. Raises `EngineFault`."""
    pieces, usage, said = received.pieces, received.usage, answer_of(received.pieces)
    if not pieces or not (said.finish_reason or received.is_whole):
        raise EngineFault("broken_stream", "the answer ended without a finish reason and [DONE]", retryable=True)
    prompt_tokens, completion_tokens = count_at(usage, "prompt_tokens"), count_at(usage, "completion_tokens")
    details = object_at(usage, "prompt_tokens_details")
    cached_tokens, written_tokens = count_at(details, "cached_tokens"), count_at(details, "cache_write_tokens")
    if written_tokens is None:  # LiteLLM, of Anthropic's models
        written_tokens = count_at(usage, "cache_creation_input_tokens")
    reasoning_tokens = count_at(object_at(usage, "completion_tokens_details"), "reasoning_tokens")
    # Gemini counts thoughts in the total alone; what a cache saved or was given may be counted so too.
    beside = (count_at(usage, "total_tokens") or 0) - (prompt_tokens or 0) - (completion_tokens or 0)
    in_cache = (cached_tokens or 0) + (written_tokens or 0)
    if reasoning_tokens is None and prompt_tokens and beside > 0 and beside != in_cache:
        reasoning_tokens, completion_tokens = beside, (completion_tokens or 0) + beside
    is_silent = not (said.text or said.reasoning or completion_tokens)
    if (failure := engine_fault(said.finish_reason, is_silent=is_silent)) is not None:
        raise failure
    reply = split_reasoning(said.text, reasoning=said.reasoning)
    if completion_tokens is None:
        completion_tokens = sum(bool(piece.text or piece.reasoning) for piece in pieces)
    first_s = received.ended_s if received.first_s is None else received.first_s
    return Generation(
        text=reply.answer,
        reasoning=reply.reasoning,
        reasoning_tokens=reasoning_tokens,
        finish_reason=said.finish_reason,
        prompt_tokens=request.built_tokens if prompt_tokens is None else prompt_tokens,
        completion_tokens=completion_tokens,
        cached_tokens=cached_tokens,
        written_tokens=written_tokens,
        ttft_ms=(first_s - received.started_s) * _MS_PER_S,
        latency_ms=(received.ended_s - received.started_s) * _MS_PER_S,
        served_model=received.served_model,
        server_counted=prompt_tokens is not None,
        streamed=received.streamed,
        refused=said.refused,
    )


async def _events(client: AsyncOpenAI, request: Request, received: _Received) -> AsyncIterator[Mapping[str, object]]:
    """Send the request, and give every event of its answer, or the whole answer as one."""
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
            text = (begun + b"".join([part async for part in parts])).decode()
            answer = _without_error(parsed_object(text))
            if not objects_at(answer, "choices"):
                raise EngineFault("broken_stream", f"no answer but: {detail_of(text)}", retryable=True)
            received.streamed, received.is_whole = False, True
            yield answer
            return
        received.streamed = True
        stream = httpx2.Response(200, headers=_EVENTS, content=_after(begun, parts), request=response.request)
        events = aiter(httpx2.EventSource(stream, max_event_size=None))
        has_begun = False
        async for event in events:
            if event.data.startswith("[DONE]"):
                received.is_whole = True
                await _leave(events)
                return
            if event.data:
                has_begun = True
                yield _without_error(parsed_object(event.data))
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


_PIECES: Mapping[Api, Callable[[Mapping[str, object]], AnswerPiece]] = {
    "chat": chat_piece,
    "completions": completion_piece,
}
