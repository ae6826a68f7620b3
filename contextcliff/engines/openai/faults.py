"""What a failed request means: an error of the client, or a provider's content filter, as a fault with its kind."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import httpx2

from contextcliff.engines.openai.http import AnswerTooLarge
from contextcliff.engines.openai.server_json import message_in, parsed, texts_in
from contextcliff.errors import EngineFault, one_line
from contextcliff.records.generation import NO_TOKENS

if TYPE_CHECKING:
    from openai import APIStatusError


CONTENT_FILTER = "content_filter"
"""The kind of `EngineFault` and the failure tag of what a filter stopped."""

_FILTER_WORDS = re.compile(
    r"content[ _-]?(?:filter|polic|management policy|moderation|violates)|content exists risk|inappropriate content"
    r"|data_?inspection|responsible ?ai|safety_check|prohibited_content|usage (?:guidelines|polic)"
    r"|requires moderation|flagged by|considered high risk|(?:unsafe|sensitive) (?:or sensitive )?content",
    re.I,
)
"""Azure and OpenAI; DeepSeek; Qwen; xAI, Gemini, Anthropic; OpenRouter; Moonshot; Z.ai."""
_FINISH_REASONS = frozenset(
    "content_filter sensitive refusal safety recitation blocklist prohibited_content spii".split()  # noqa: SIM905
)
"""OpenAI's and Z.ai's, Anthropic's, and Gemini's own, which come in capitals."""


def is_filtered(finish_reason: str) -> bool:
    return re.split(r"[^a-z_]", finish_reason.lower())[0] in _FINISH_REASONS


_RETRYABLE_STATUS = {408: "timeout", 409: "conflict", 425: "too_early", 429: "rate_limit"}
QUOTA = "quota"
TOO_LITTLE_A_MINUTE = "tokens_per_minute"
"""The kind for a prompt that is longer than what may be sent in a minute."""
_SPENT = re.compile(
    r"exceeded (?:your|the) current quota|check your (?:plan|billing)|billing (?:details|limit|hard)|credit balance"
    r"|insufficient (?:credit|balance|funds)|over budget|budget[ _](?:has been )?exceeded|spending limit"
    r"|(?:out of|not enough|no|requires? more|all available) credits",
    re.IGNORECASE,
)
"""OpenAI, Gemini, Moonshot; Anthropic; DeepSeek; LiteLLM; OpenRouter; xAI."""
_WAIT = re.compile(
    r"(?:retryDelay\W{1,4}|(?:retry|again) (?:in|after) )(?:(\d{1,4})m)?(\d{1,9}(?:\.\d{1,9})?)\s?(ms|s)", re.IGNORECASE
)
_NUMBER = r"(\d[\d,]{0,14})\b"
_LIMIT = re.compile(rf"per min.{{0,40}}?\blimit:? {_NUMBER}.{{0,80}}?\brequested:? {_NUMBER}", re.IGNORECASE)
_REFUSED = (400, 403, 413, 422, 429)
_FATAL_STATUS = {401: "unauthorized", 402: QUOTA, 403: "forbidden", 404: "not_found"}
_TOO_LONG = re.compile(
    r"exceed_context_size|context[_ ](?:length|size|window|limit)|maximum context|too many (?:input )?tokens"
    r"|(?:prompt|input) is too long|exceeds? the maximum number of tokens|(?:maximum|max) (?:prompt|input) length"
    r"|prompt exceeds max|model token limit|range of input length|expected maxlength"
    r"|`?max_new_tokens`? must be <=|`?inputs`? must have less than|max_tokens must be at least 1, got -",
    re.IGNORECASE,
)
"""llama.cpp, OpenAI, vLLM, SGLang, DeepSeek, Mistral; Anthropic; Bedrock; Gemini, xAI, TensorRT-LLM; Z.ai, Moonshot,
DashScope, Bedrock's Titan; TGI; vLLM, which takes the prompt from the window and sends what is left."""
_WINDOW = re.compile(
    r"(?:context[_ ](?:length|size|window)|n_ctx|maximum number of tokens(?: allowed)?|tokens >|less than|must be <="
    r"|(?:prompt|input) length|token limit:|input length should be \[1,)\W{0,4}"
    r"(?:of |is |only |\(?)*(\d[\d,]{0,11})|(\d[\d,]{0,11}) (?:tokens? )?maximum context",
    re.IGNORECASE,
)
_LONGEST_DETAIL = 300
_DECIMAL = r"\d{1,9}(?:\.\d{1,9})?"
TOOL_CALLS = "tool_calls"
"""The failure tag of an answer that is tool calls alone, and the finish reason of OpenAI's."""
_ABORTED = frozenset(
    "abort aborted cancelled error engine_error server_error network_error insufficient_system_resource".split()  # noqa: SIM905
)
"""vLLM's and SGLang's, OpenRouter's, Z.ai's and DeepSeek's among them."""
_STOPPED = frozenset("stop eos eos_token end_turn stop_sequence complete completed".split())  # noqa: SIM905
_CALLS = frozenset((TOOL_CALLS, "tool_call", "tool_use", "function_call"))


def calls_tools(finish_reason: str) -> bool:
    return finish_reason.lower() in _CALLS


def engine_fault(finish_reason: str, *, is_silent: bool) -> EngineFault | None:
    """The failure of the engine that an answer with status 200 tells of; `is_silent`: not one token was generated."""
    reason = finish_reason.lower()
    if reason in _ABORTED:
        return EngineFault("aborted", f"the answer ended with finish_reason={finish_reason}", retryable=True)
    if is_silent and reason not in _STOPPED and not is_filtered(reason) and not calls_tools(reason):
        why = f"no token was generated (finish_reason={finish_reason or 'none'})"
        return EngineFault(NO_TOKENS, why, retryable=True)
    return None


def named_window(words: str) -> int | None:
    """The context window that a server names as it refuses a prompt as too long; None if unknown."""
    found = _WINDOW.search(words)
    return None if found is None else int((found[1] or found[2]).replace(",", ""))


def detail_of(text: str) -> str:
    """A server's words as the detail of a fault: one line of at most 300 characters, which can be encoded."""
    return one_line(text.encode("utf-8", "replace").decode(), longest=_LONGEST_DETAIL)


def status_fault(error: APIStatusError) -> EngineFault:
    """An answer with an HTTP error status: too long, filtered, not allowed, overloaded, redirected, or refused."""
    status, said, headers = error.status_code, _words_of(error), error.response.headers
    detail = detail_of(said)
    answer = f"{said} {error.response.text}"
    if status in _REFUSED:
        fault = _refusal(answer, said, passes=status == 429, waits="retry-after" in headers)
        if fault is not None:
            return fault
    # llama.cpp says it with 500. Where the server itself failed, the rest of its answer may say anything.
    if status == 413 or (status == 500 and _TOO_LONG.search(said)):
        return EngineFault("overflow", detail)
    if status in _FATAL_STATUS:
        return EngineFault(_FATAL_STATUS[status], detail, fatal=True)
    if status in _RETRYABLE_STATUS or status >= 500:
        kind = _RETRYABLE_STATUS.get(status, "server_error")
        return EngineFault(kind, detail, retryable=True, retry_after_s=_retry_after_s(headers, answer))
    if 300 <= status < 400:
        target = detail_of(headers.get("location", "elsewhere"))
        return EngineFault("redirect", f"{status} to {target}; give that address as engine.base_url", fatal=True)
    return EngineFault("bad_request", detail)


def _refusal(answer: str, said: str, *, passes: bool = False, waits: bool = False) -> EngineFault | None:
    """A prompt too long, or filtered; a quota that is spent, or a limit a minute below one prompt. None if neither.
    Only `said` is read for words of money: the rest of an answer may repeat the prompt."""
    if not passes and _TOO_LONG.search(answer):
        window, detail = named_window(answer), detail_of(said)
        told = window is None or named_window(detail) == window
        return EngineFault("overflow", detail if told else detail_of(f"context window {window}: {said}"))
    if not passes and _FILTER_WORDS.search(answer):
        return EngineFault(CONTENT_FILTER, detail_of(said))
    found = _LIMIT.search(said)
    if found is not None and int(found[2].replace(",", "")) > int(found[1].replace(",", "")):
        return EngineFault(TOO_LITTLE_A_MINUTE, detail_of(said), fatal=True)
    # Gemini says of its limits a minute that the current quota is exceeded, and when to ask again.
    waits = waits or _WAIT.search(answer) is not None
    if "insufficient_quota" in answer or (_SPENT.search(said) is not None and not waits):
        return EngineFault(QUOTA, detail_of(said), fatal=True)
    return None


def _words_of(error: APIStatusError) -> str:
    try:
        said = message_in(parsed(error.response.text))
    except ValueError:
        said = "" if "html" in error.response.headers.get("content-type", "") else error.response.text
    return f"Error code: {error.status_code}" + (f" - {said}" if said.strip() else "")


def connection_fault(error: Exception, host: str) -> EngineFault:
    """A connection that failed, or an answer that was cut off because it is too large or can't be decompressed."""
    # The client's own error has httpx2's as its cause.
    cause = error if isinstance(error, httpx2.RequestError) else error.__cause__ or error
    detail = detail_of(str(cause)) or type(cause).__name__
    if isinstance(cause, AnswerTooLarge):
        return EngineFault("too_large", detail)
    if isinstance(cause, httpx2.DecodingError):
        return EngineFault("broken_stream", f"the answer can't be decompressed: {detail}", retryable=True)
    return EngineFault("connect", f"{host}: {detail}", retryable=True)


def reported_fault(error: object) -> EngineFault:
    said = message_in(error) or "the server reports an error and says nothing of it"
    return _refusal(texts_in(error), said) or EngineFault("broken_stream", detail_of(said), retryable=True)


def _retry_after_s(headers: Mapping[str, str], answer: str) -> float | None:
    milliseconds, value = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    if re.fullmatch(_DECIMAL, milliseconds):
        return float(milliseconds) / 1000.0
    if re.fullmatch(_DECIMAL, value):
        return float(value)
    with suppress(ValueError, OverflowError):  # no date, or one of no calendar
        until = parsedate_to_datetime(value)
        return max(0.0, until.timestamp() - time.time())
    if (asked := _WAIT.search(answer)) is None:
        return None
    seconds = float(asked[2]) / (1000.0 if asked[3].lower() == "ms" else 1.0)
    return 60.0 * int(asked[1] or 0) + seconds
