"""One request to an OpenAI-compatible server and its answer: streamed, timed, with its faults named."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from contextcliff.engines.engine import OnToken
from contextcliff.engines.openai.content_filter import CONTENT_FILTER, says_filter
from contextcliff.engines.openai.http import AnswerTooLarge
from contextcliff.engines.openai.reasoning import split_reasoning
from contextcliff.errors import EngineFault
from contextcliff.records.generation import Generation
from contextcliff.records.prompt import Prompt
from contextcliff.text.framing import messages, plain_text

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, AsyncOpenAI

Api = Literal["chat", "completions"]

_RETRYABLE_STATUS = {408: "timeout", 409: "conflict", 425: "too_early", 429: "rate_limit"}
_FATAL_STATUS = {401: "unauthorized", 403: "forbidden", 404: "not_found"}
_TOO_LONG = re.compile(
    r"exceed_context_size|context[_ ](?:length|size|window)|maximum context|too many tokens|prompt is too long", re.I
)
_WHOLE_REQUEST_PER_SILENCE = 4
_LONGEST_DETAIL = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request as it goes out; `fields` are the top-level fields of its body beside model and prompt."""

    model: str
    prompt: Prompt
    fields: Mapping[str, object]
    api: Api = "chat"
    streams: bool = True
    stream_usage: bool = True
    built_tokens: int
    """Stands in where the server does not count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Piece:
    """What one event of a stream, or a whole answer, adds."""

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""


async def exchange(
    client: AsyncOpenAI, request: Request, *, timeout_s: float, on_token: OnToken | None = None
) -> Generation:
    """Send one request and read its answer to the end; `on_token` is told its words as they come.

    `timeout_s` bounds silence (the client's own read timeout); the whole request may take four times
    that. Raises `EngineFault`, whose kind says what happened.
    """
    import openai

    try:
        async with asyncio.timeout(timeout_s * _WHOLE_REQUEST_PER_SILENCE):
            return await _exchange(client, request, on_token)
    except (TimeoutError, openai.APITimeoutError) as error:
        raise EngineFault("timeout", f"no end within {timeout_s:g} s of silence", retryable=True) from error
    except openai.APIStatusError as error:
        raise _status_fault(error) from error
    except openai.APIConnectionError as error:
        if isinstance(error.__cause__, AnswerTooLarge):
            raise EngineFault("too_large", _cause(error)) from error
        raise EngineFault("connect", f"{client.base_url.host}: {_cause(error)}", retryable=True) from error
    except (openai.APIError, openai.OpenAIError, json.JSONDecodeError) as error:
        if says_filter(f"{error} {getattr(error, 'body', '')}"):  # some say so in the stream
            raise EngineFault(CONTENT_FILTER, _brief(str(error))) from error
        raise EngineFault("broken_stream", _brief(str(error)), retryable=True) from error


async def _exchange(client: AsyncOpenAI, request: Request, on_token: OnToken | None) -> Generation:
    read = _PIECES[request.api]
    pieces: list[_Piece] = []
    first: float | None = None
    served_model = ""
    usage = None
    streamed = request.streams
    started = time.perf_counter()
    async for event, is_part in _events(client, request):
        streamed = is_part
        served_model = getattr(event, "model", None) or served_model
        usage = getattr(event, "usage", None) or usage
        for choice in getattr(event, "choices", None) or ():
            piece = read(choice)
            if first is None and (piece.text or piece.reasoning):
                first = time.perf_counter()
            if on_token is not None and piece.text:
                on_token(piece.text)
            pieces.append(piece)
    ended = time.perf_counter()
    finish_reason = next((piece.finish_reason for piece in reversed(pieces) if piece.finish_reason), "")
    if not finish_reason or (usage is None and request.stream_usage and streamed):
        raise EngineFault("broken_stream", "the answer ended without a finish reason and usage", retryable=True)
    said = split_reasoning(
        "".join(piece.text for piece in pieces), reasoning="".join(piece.reasoning for piece in pieces)
    )
    details = getattr(usage, "prompt_tokens_details", None)
    return Generation(
        text=_whole(said.answer),
        reasoning=_whole(said.reasoning),
        reasoning_tokens=getattr(getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None),
        finish_reason=finish_reason,
        prompt_tokens=request.built_tokens if usage is None else usage.prompt_tokens,
        completion_tokens=len(pieces) if usage is None else usage.completion_tokens,
        cached_tokens=getattr(details, "cached_tokens", None),
        ttft_ms=((first if first is not None else ended) - started) * 1000,
        latency_ms=(ended - started) * 1000,
        served_model=served_model,
        server_counted=usage is not None,
        streamed=streamed,
    )


def _whole(text: str) -> str:
    """Half a surrogate pair, as a stream that is cut off may end in, can't be stored or printed."""
    return text.encode("utf-8", "replace").decode("utf-8")


async def _events(client: AsyncOpenAI, request: Request) -> AsyncIterator[tuple[Any, bool]]:
    """The events of a stream, or the one event that an answer without a stream is; and which of both they are."""
    arguments: dict[str, Any] = {"model": request.model, "extra_body": dict(request.fields)}
    if request.api == "chat":
        create: Any = client.chat.completions.create
        arguments["messages"] = messages(request.prompt)
    else:
        create = client.completions.create
        arguments["prompt"] = plain_text(request.prompt)
    if request.streams:
        options = {"stream_options": {"include_usage": True}} if request.stream_usage else {}
        async with await create(stream=True, **options, **arguments) as stream:
            if "application/json" in stream.response.headers.get("content-type", ""):
                body = await _body(stream.response)
                if body.lstrip().startswith(b"{"):
                    # The server does not know `stream`: its answer is there already, and paid for.
                    yield _whole_answer(request.api, body), False
                    return
            async for event in stream:
                yield event, True
        return
    answer = await create(stream=False, **arguments)
    if isinstance(answer, str):
        raise EngineFault("broken_stream", f"no JSON but: {_brief(answer)}", retryable=True)
    yield answer, False


def _chat_piece(choice: Any) -> _Piece:
    message = getattr(choice, "delta", None) or getattr(choice, "message", None)
    if message is None:
        return _Piece(finish_reason=choice.finish_reason or "")
    extra = message.model_extra or {}
    return _Piece(
        text=message.content or "",
        reasoning=str(extra.get("reasoning_content") or extra.get("reasoning") or ""),
        finish_reason=choice.finish_reason or "",
    )


def _completion_piece(choice: Any) -> _Piece:
    return _Piece(text=choice.text or "", finish_reason=choice.finish_reason or "")


async def _body(response: httpx2.Response) -> bytes:
    """A whole body, with what breaks it off named as the client names it."""
    import httpx2
    import openai

    try:
        return await response.aread()
    except httpx2.TimeoutException as error:
        raise openai.APITimeoutError(response.request) from error
    except httpx2.TransportError as error:
        raise openai.APIConnectionError(request=response.request) from error


def _whole_answer(api: Api, body: bytes) -> Any:
    """An answer that came in one piece where a stream was asked for, as the client would have read it."""
    from openai.types import Completion
    from openai.types.chat import ChatCompletion

    told = json.loads(body)
    if not isinstance(told, dict) or not told.get("choices"):
        raise EngineFault("broken_stream", f"no answer but: {_brief(body.decode('utf-8', 'replace'))}", retryable=True)
    return (ChatCompletion if api == "chat" else Completion).construct(**told)


_PIECES: Mapping[Api, Callable[[Any], _Piece]] = {"chat": _chat_piece, "completions": _completion_piece}


def _status_fault(error: APIStatusError) -> EngineFault:
    status, detail = error.status_code, _brief(error.message)
    if status in (400, 413, 422) and _TOO_LONG.search(f"{error.message} {error.body}"):
        return EngineFault("overflow", detail)
    if status in (400, 403, 422) and says_filter(f"{error.message} {error.body}"):
        return EngineFault(CONTENT_FILTER, detail)
    if status in _FATAL_STATUS:
        return EngineFault(_FATAL_STATUS[status], detail, fatal=True)
    if status in _RETRYABLE_STATUS or status >= 500:
        kind = _RETRYABLE_STATUS.get(status, "server_error")
        return EngineFault(kind, detail, retryable=True, retry_after_s=_retry_after(error.response.headers))
    if 300 <= status < 400:
        where = error.response.headers.get("location", "elsewhere")
        return EngineFault("redirect", f"{status} to {where}; give that address as engine.base_url", fatal=True)
    return EngineFault("bad_request", detail)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "")
    return float(value) if re.fullmatch(r"\d+(\.\d+)?", value) else None


def _cause(error: BaseException) -> str:
    return _brief(str(error.__cause__ or error))


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_DETAIL else line[:_LONGEST_DETAIL] + " …"
