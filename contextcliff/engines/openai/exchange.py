"""One request to an OpenAI-compatible server and its answer: streamed, timed, with its faults named."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import httpx2
from pydantic_core import to_json

from contextcliff.engines.engine import Api, OnToken
from contextcliff.engines.openai.faults import (
    TOOL_CALLS,
    connection_fault,
    detail_of,
    engine_fault,
    reported_fault,
    status_fault,
)
from contextcliff.engines.openai.reasoning import split_reasoning
from contextcliff.engines.openai.server_json import count_at, list_at, object_at, objects_at, parsed_object, text_at
from contextcliff.errors import EngineFault
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Prompt
from contextcliff.text.tokens import messages, plain_text

if TYPE_CHECKING:
    from openai import AsyncOpenAI


_WHOLE_REQUEST_PER_SILENCE = 4
_LONGEST_GOODBYE_S = 0.1
"""After `[DONE]` a server closes its answer within that time, or its connection is closed and not used again."""
_FEWEST_GROWING = 3
"""Pieces that each begin with the one before: so many are no chance."""
_EVENTS = {"content-type": "text/event-stream"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request; `fields` are those of its body beside model and prompt."""

    model: str
    prompt: Prompt
    fields: Mapping[str, object]
    api: Api = "chat"
    built_tokens: int
    """Length of the prompt by our own tokenizer, used where the server does not count."""


async def exchange(
    client: AsyncOpenAI, request: Request, *, timeout_s: float, on_token: OnToken | None = None
) -> Generation:
    """Send one request and read its answer to the end; `on_token` gets thoughts and text as they arrive. `timeout_s`
    bounds silence; the whole request may take four times that. Raises `EngineFault`."""
    import anyio
    import openai

    answer, asks_for_usage = _Answer(request=request, on_token=on_token), "stream_options" in request.fields
    sent: dict[str, object] = {"model": request.model, **request.fields}
    if request.api == "chat":
        path, sent["messages"] = "/chat/completions", messages(request.prompt)
    else:
        path, sent["prompt"] = "/completions", plain_text(request.prompt)
    try:
        async with asyncio.timeout(timeout_s * _WHOLE_REQUEST_PER_SILENCE):
            # The client's own methods copy the prompt field by field and take six times as long to write it as JSON.
            # Its stream keeps the prompt until a search for garbage, and does not tell of `[DONE]`.
            response = await client.post(
                path,
                cast_to=httpx2.Response,
                content=to_json(sent),
                stream=True,
                stream_cls=openai.AsyncStream[httpx2.Response],
            )
            try:
                async for event in _events(cast(httpx2.Response, response), answer):
                    answer.add(event)
            except (asyncio.CancelledError, httpx2.RequestError):
                # Whoever is cancelled, out of time or cut off when only the end of the connection is missing has it.
                if not (answer.is_whole or (answer.finish_reason and (answer.usage or not asks_for_usage))):
                    raise
        return answer.generation()
    except (TimeoutError, openai.APITimeoutError, httpx2.TimeoutException) as error:
        raise EngineFault("timeout", f"no end within {timeout_s:g} s of silence", retryable=True) from error
    except openai.APIStatusError as error:
        raise status_fault(error) from error
    except (openai.APIConnectionError, httpx2.RequestError, ssl.SSLError, anyio.EndOfStream) as error:
        raise connection_fault(error, client.base_url.host) from error
    except (openai.OpenAIError, ValueError) as error:  # no JSON, or another error of the client
        raise EngineFault("broken_stream", detail_of(str(error)), retryable=True) from error


async def _events(response: httpx2.Response, answer: _Answer) -> AsyncIterator[Mapping[str, object]]:
    async with aclosing(response), aclosing(response.aiter_bytes()) as parts:
        begun = b""
        while not begun.strip() and (part := await anext(parts, None)) is not None:
            begun = part
        if begun.lstrip().startswith(b"{"):
            # Maybe the server does not know `stream`. Its whole answer is here already, and has been paid for.
            text = (begun + b"".join([part async for part in parts])).decode()
            whole = parsed_object(text)
            if not (whole.get("error") or objects_at(whole, "choices")):
                raise EngineFault("broken_stream", f"no answer but: {detail_of(text)}", retryable=True)
            answer.is_whole = True
            yield whole
            return
        answer.streamed = True
        stream = httpx2.Response(200, headers=_EVENTS, content=_after(begun, parts), request=response.request)
        events = aiter(httpx2.EventSource(stream, max_event_size=None))
        async for event in events:
            if event.data.startswith("[DONE]"):
                answer.is_whole = True
                # What comes behind is read, so that the connection is free again, unless the server keeps silent.
                with suppress(TimeoutError, httpx2.RequestError):
                    async with asyncio.timeout(_LONGEST_GOODBYE_S):
                        async for _ in events:
                            pass
                return
            if event.data:
                yield parsed_object(event.data)
        if not answer.ended_s:
            raise EngineFault("broken_stream", f"no answer but: {detail_of(begun.decode())}", retryable=True)


async def _after(begun: bytes, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield begun
    async for part in parts:
        yield part
    yield b"\n\n"  # some servers do not end their last event


@dataclass(kw_only=True, slots=True)
class _Answer:
    """What has come of an answer so far."""

    request: Request
    on_token: OnToken | None
    streamed: bool = False
    started_s: float = field(default_factory=time.perf_counter)
    first_s: float | None = None
    ended_s: float = 0.0
    """When the last event came; 0 before the first."""
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    finish_reason: str = ""
    has_choices: bool = False
    usage: Mapping[str, object] = field(default_factory=dict)
    served_model: str = ""
    is_whole: bool = False
    """Whether the server has said that the answer ends: by `[DONE]`, or by sending it in one piece."""
    refused: bool = False
    calls_tools: bool = False

    def add(self, event: Mapping[str, object]) -> None:
        if error := event.get("error"):
            raise reported_fault(error)
        self.ended_s = time.perf_counter()
        self.served_model = text_at(event, "model") or self.served_model
        self.usage = object_at(event, "usage") or self.usage
        for choice in objects_at(event, "choices"):
            self.has_choices = True
            self.finish_reason = text_at(choice, "finish_reason") or self.finish_reason
            if self.request.api == "completions":
                self._say(text_at(choice, "text"))
            elif "message" in choice and not (self.texts or self.thoughts):
                self._take(object_at(choice, "message"))
            else:  # a message at the end of a stream would repeat what was said
                self._take(object_at(choice, "delta"))

    def _take(self, message: Mapping[str, object]) -> None:
        content, refusal = message.get("content"), text_at(message, "refusal")
        thought = message.get("reasoning_content") or message.get("reasoning") or _thoughts_in(content)
        self._say(_text_of(content) or refusal, _text_of(thought))
        self.refused |= bool(refusal)
        self.calls_tools |= bool(list_at(message, "tool_calls") or object_at(message, "function_call"))

    def _say(self, text: str, thought: str = "") -> None:
        if self.first_s is None and (text or thought):
            self.first_s = self.ended_s
        if text:
            self.texts.append(text)
        if thought:
            self.thoughts.append(thought)
        if self.on_token is not None and (text or thought):
            self.on_token(text or thought)

    def generation(self) -> Generation:
        usage, text, reasoning = self.usage, _said(self.texts), _said(self.thoughts)
        # Some servers say `stop` of tool calls too.
        finish_reason = TOOL_CALLS if self.calls_tools and not text.strip() else self.finish_reason
        if not (finish_reason or (self.is_whole and self.has_choices)):
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
        is_silent = not (text or reasoning or completion_tokens)
        if (failure := engine_fault(finish_reason, is_silent=is_silent)) is not None:
            raise failure
        answer, thought = split_reasoning(text, reasoning=reasoning)
        return Generation(
            text=answer,
            reasoning=thought,
            reasoning_tokens=reasoning_tokens,
            finish_reason=finish_reason,
            prompt_tokens=self.request.built_tokens if prompt_tokens is None else prompt_tokens,
            completion_tokens=len(self.texts) + len(self.thoughts) if completion_tokens is None else completion_tokens,
            cached_tokens=cached_tokens,
            written_tokens=written_tokens,
            ttft_ms=((self.first_s or self.ended_s) - self.started_s) * 1000,
            latency_ms=(self.ended_s - self.started_s) * 1000,
            served_model=self.served_model,
            server_counted=prompt_tokens is not None,
            streamed=self.streamed,
            refused=self.refused,
        )


def _text_of(content: object) -> str:
    match content:
        case str(text) | {"text": str(text)}:
            return text
        case list(parts):
            return "".join(map(_text_of, parts))
    return ""


def _said(pieces: Sequence[str]) -> str:
    """The pieces of a stream together; where each begins with all of the one before, some servers' way, the last."""
    grows = len(set(pieces)) >= _FEWEST_GROWING and all(then.startswith(before) for before, then in pairwise(pieces))
    return pieces[-1] if grows else "".join(pieces)


def _thoughts_in(content: object) -> str:
    # Mistral's parts of the type `thinking`.
    parts = content if isinstance(content, list) else []
    return "".join(_text_of(part.get("thinking")) for part in parts if isinstance(part, dict))
