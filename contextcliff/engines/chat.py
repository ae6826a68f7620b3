"""One streamed request to an OpenAI-compatible server, timed, with its faults named."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contextcliff.errors import EngineFault
from contextcliff.records import Generation, Prompt

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionMessageParam

_RETRYABLE_STATUS = {408: "timeout", 409: "conflict", 425: "too_early", 429: "rate_limit"}
_FATAL_STATUS = {401: "unauthorized", 403: "forbidden", 404: "not_found"}
_TOO_LONG = re.compile(
    r"exceed_context_size|context[_ ](?:length|size|window)|maximum context|too many tokens|prompt is too long", re.I
)
_WHOLE_REQUEST_PER_SILENCE = 4
_LONGEST_DETAIL = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatRequest:
    """A request as it goes out. `fields` are top-level fields of the body, beyond the ones that OpenAI names."""

    model: str
    prompt: Prompt
    temperature: float
    top_p: float
    max_tokens: int
    seed: int
    fields: Mapping[str, object]


async def stream_chat(client: AsyncOpenAI, request: ChatRequest, *, timeout_s: float) -> Generation:
    """Send one chat request and read its stream to the end.

    `timeout_s` bounds silence (the client's own read timeout); the whole request may take four times
    that. Raises `EngineFault`, whose kind says what happened.
    """
    import openai

    try:
        async with asyncio.timeout(timeout_s * _WHOLE_REQUEST_PER_SILENCE):
            return await _read_stream(client, request)
    except (TimeoutError, openai.APITimeoutError) as error:
        raise EngineFault("timeout", f"no end within {timeout_s:g} s of silence", retryable=True) from error
    except openai.APIStatusError as error:
        raise _status_fault(error) from error
    except openai.APIConnectionError as error:
        raise EngineFault("connect", f"{client.base_url.host}: {_cause(error)}", retryable=True) from error
    except (openai.APIError, openai.OpenAIError, json.JSONDecodeError) as error:
        raise EngineFault("broken_stream", _brief(str(error)), retryable=True) from error


async def _read_stream(client: AsyncOpenAI, request: ChatRequest) -> Generation:
    started = time.perf_counter()
    first: float | None = None
    text: list[str] = []
    reasoning: list[str] = []
    finish_reason = served_model = ""
    usage = None
    stream = await client.chat.completions.create(
        model=request.model,
        messages=_messages(request.prompt),
        temperature=request.temperature,
        top_p=request.top_p,
        max_tokens=request.max_tokens,
        seed=request.seed,
        stream=True,
        stream_options={"include_usage": True},
        extra_body=dict(request.fields),
    )
    async with stream:
        async for chunk in stream:
            served_model = chunk.model or served_model
            usage = chunk.usage or usage
            for choice in chunk.choices:
                thought = (choice.delta.model_extra or {}).get("reasoning_content") or ""
                if first is None and (choice.delta.content or thought):
                    first = time.perf_counter()
                text.append(choice.delta.content or "")
                reasoning.append(str(thought))
                finish_reason = choice.finish_reason or finish_reason
    ended = time.perf_counter()
    if usage is None or not finish_reason:
        raise EngineFault("broken_stream", "the stream ended without a finish reason and usage", retryable=True)
    details = usage.prompt_tokens_details
    return Generation(
        text="".join(text),
        reasoning="".join(reasoning),
        finish_reason=finish_reason,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=details.cached_tokens if details is not None else None,
        ttft_ms=((first if first is not None else ended) - started) * 1000,
        latency_ms=(ended - started) * 1000,
        served_model=served_model,
    )


def _messages(prompt: Prompt) -> list[ChatCompletionMessageParam]:
    messages: list[ChatCompletionMessageParam] = []
    if prompt.system is not None:
        messages.append({"role": "system", "content": prompt.system})
    messages.append({"role": "user", "content": prompt.user})
    return messages


def _status_fault(error: object) -> EngineFault:
    import openai

    assert isinstance(error, openai.APIStatusError)
    status, detail = error.status_code, _brief(error.message)
    if status in (400, 413, 422) and _TOO_LONG.search(f"{error.message} {error.body}"):
        return EngineFault("overflow", detail)
    if status in _FATAL_STATUS:
        return EngineFault(_FATAL_STATUS[status], detail, fatal=True)
    if status in _RETRYABLE_STATUS or status >= 500:
        kind = _RETRYABLE_STATUS.get(status, "server_error")
        return EngineFault(kind, detail, retryable=True, retry_after_s=_retry_after(error.response.headers))
    return EngineFault("bad_request", detail, fatal=True)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "")
    return float(value) if re.fullmatch(r"\d+(\.\d+)?", value) else None


def _cause(error: BaseException) -> str:
    return _brief(str(error.__cause__ or error))


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_DETAIL else line[:_LONGEST_DETAIL] + " …"
