"""One request to an OpenAI-compatible server and its answer: streamed, timed, with its faults named."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from contextcliff.engines.engine import OnToken
from contextcliff.engines.openai.event_stream import body, choices, count, events, part, words
from contextcliff.engines.openai.faults import connection_fault, detail_of, status_fault, stream_fault, timeout_fault
from contextcliff.engines.openai.reasoning import split_reasoning
from contextcliff.errors import EngineFault
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Prompt
from contextcliff.text.tokens import messages, plain_text

if TYPE_CHECKING:
    from openai import AsyncOpenAI


Api = Literal["chat", "completions"]

_WHOLE_REQUEST_PER_SILENCE = 4
_MS_PER_S = 1000


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
    import openai

    try:
        async with asyncio.timeout(timeout_s * _WHOLE_REQUEST_PER_SILENCE):
            return await _exchange(client, request, on_token)
    except (TimeoutError, openai.APITimeoutError) as error:
        raise timeout_fault(timeout_s) from error
    except openai.APIStatusError as error:
        raise status_fault(error) from error
    except openai.APIConnectionError as error:
        raise connection_fault(error, client.base_url.host) from error
    except (openai.APIError, openai.OpenAIError, json.JSONDecodeError) as error:
        raise stream_fault(error) from error


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
        served_model = words(event, "model") or served_model
        usage = part(event, "usage") or usage
        for choice in choices(event):
            piece = piece_of(choice)
            if first_s is None and (piece.text or piece.reasoning):
                first_s = time.perf_counter()
            if on_token is not None and piece.text:
                on_token(piece.text)
            pieces.append(piece)
    ended_s = time.perf_counter()
    finish_reason = next((piece.finish_reason for piece in reversed(pieces) if piece.finish_reason), "")
    prompt_tokens, completion_tokens = count(usage, "prompt_tokens"), count(usage, "completion_tokens")
    if not finish_reason or (prompt_tokens is None and request.stream_usage and streamed):
        raise EngineFault("broken_stream", "the answer ended without a finish reason and usage", retryable=True)
    reply = split_reasoning(
        "".join(piece.text for piece in pieces), reasoning="".join(piece.reasoning for piece in pieces)
    )
    return Generation(
        text=_encodable(reply.answer),
        reasoning=_encodable(reply.reasoning),
        reasoning_tokens=count(part(usage, "completion_tokens_details"), "reasoning_tokens"),
        finish_reason=finish_reason,
        prompt_tokens=request.built_tokens if prompt_tokens is None else prompt_tokens,
        completion_tokens=len(pieces) if completion_tokens is None else completion_tokens,
        cached_tokens=count(part(usage, "prompt_tokens_details"), "cached_tokens"),
        ttft_ms=((first_s if first_s is not None else ended_s) - started_s) * _MS_PER_S,
        latency_ms=(ended_s - started_s) * _MS_PER_S,
        served_model=served_model,
        server_counted=prompt_tokens is not None,
        streamed=streamed,
    )


def _encodable(text: str) -> str:
    """`text` without half surrogate pairs: a stream that is cut off may end in one, and it can't be stored."""
    return text.encode("utf-8", "replace").decode("utf-8")


async def _events(client: AsyncOpenAI, request: Request) -> AsyncIterator[tuple[Mapping[str, object], bool]]:
    """Every event of an answer, and whether it is a part of a stream (else it is the whole answer)."""
    import httpx2
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
    # The client's own methods for these routes would copy the prompt field by field, take six times as long to write it
    # as JSON, and build a model of each event. Its stream refers to itself: the prompt would stay until a search for
    # garbage.
    response = cast(
        "httpx2.Response",
        await client.post(
            path, cast_to=httpx2.Response, content=to_json(sent), stream=True, stream_cls=AsyncStream[httpx2.Response]
        ),
    )
    async with aclosing(response):
        if request.streams and "application/json" not in response.headers.get("content-type", ""):
            async for event in events(response):
                yield event, True
            return
        answer = await body(response)
        if request.streams and not answer.lstrip().startswith(b"{"):
            async for event in events(response, read=answer):
                yield event, True
            return
        # Maybe the server does not know `stream`. Its whole answer is here already, and has been paid for.
        yield _whole_answer(answer), False


def _chat_piece(choice: Mapping[str, object]) -> _Piece:
    message = part(choice, "delta") or part(choice, "message")
    return _Piece(
        text=words(message, "content"),
        reasoning=words(message, "reasoning_content") or words(message, "reasoning"),
        finish_reason=words(choice, "finish_reason"),
    )


def _completion_piece(choice: Mapping[str, object]) -> _Piece:
    return _Piece(text=words(choice, "text"), finish_reason=words(choice, "finish_reason"))


def _whole_answer(body: bytes) -> Mapping[str, object]:
    """An answer that came in one piece."""
    text = body.decode("utf-8", "replace")
    if not text.lstrip().startswith("{"):
        raise EngineFault("broken_stream", f"no JSON but: {detail_of(text)}", retryable=True)
    answer = json.loads(text)
    if not answer.get("choices"):
        raise EngineFault("broken_stream", f"no answer but: {detail_of(text)}", retryable=True)
    return cast("Mapping[str, object]", answer)


_PIECES: Mapping[Api, Callable[[Mapping[str, object]], _Piece]] = {
    "chat": _chat_piece,
    "completions": _completion_piece,
}
