"""One request and what comes of it: tables of what servers send, and the generation or the fault that it is.

Whole streams of ten servers are in `tests/golden/test_server_streams.py`; these are their parts.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from contextcliff.engines.openai.exchange import Request, exchange
from contextcliff.engines.openai.faults import named_window
from contextcliff.engines.openai.http import Address, connection
from contextcliff.errors import EngineFault
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Prompt, SentTurn
from tests.engines.fake_server import listening

Answer = Callable[[BaseHTTPRequestHandler], None]
REQUEST = Request(
    model="m",
    prompt=Prompt(user="What is it?", system="Be brief."),
    built_tokens=71,
    fields={"temperature": 0.0, "max_tokens": 9, "stream": True, "stream_options": {"include_usage": True}},
)
TURNS = replace(REQUEST, prompt=Prompt(user="And now?", turns=(SentTurn(user="What is it?", assistant="A wren."),)))
CACHED = {"prompt_tokens_details": {"cached_tokens": 60}}
USAGE = {"prompt_tokens": 70, "completion_tokens": 3, "total_tokens": 73, **CACHED}


@contextmanager
def served(answer: Answer) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that answers every POST in one way; yields its address and the bodies it was sent."""
    bodies: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            answer(self)

    with listening(Handler) as address:
        yield f"{address}/v1", bodies


def status(code: int, body: object, **headers: str) -> Answer:
    content = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def stream(*events: object, pause_s: float = 0.0, lingers_s: float = 0.0) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        for event in events:
            handler.wfile.write(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode())
            handler.wfile.flush()
            time.sleep(pause_s)
        time.sleep(lingers_s)

    return answer


def chunk(content: str | None = None, finish: str | None = None, **more: object) -> dict[str, object]:
    delta = {} if content is None else {"role": "assistant", "content": content}
    return {"model": "served", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def in_one_piece(usage: object, content: str | None = "12", finish: str = "stop") -> dict[str, object]:
    message = {"role": "assistant", "content": content}
    return {"model": "served", "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}


WHOLE = (chunk("12"), chunk("34"), chunk(finish="stop", usage=USAGE), "[DONE]")
END = (chunk(finish="stop", usage=USAGE), "[DONE]")
ANSWER = json.dumps(in_one_piece(USAGE)).encode()
EVENTS = "".join(f"data: {json.dumps(event)}\n\n" for event in (chunk("12"), END[0])).encode()


def ask(address: str, *, request: Request = REQUEST, timeout_s: float = 5.0) -> Generation:
    async def once() -> Generation:
        async with connection(Address(url=address), timeout_s=timeout_s, requests=1) as client:
            return await exchange(client, request, timeout_s=timeout_s)

    return asyncio.run(once())


def answered(answer: Answer, *, timeout_s: float = 5.0) -> Generation:
    with served(answer) as (address, _):
        return ask(address, timeout_s=timeout_s)


def fault(answer: Answer, *, timeout_s: float = 5.0) -> EngineFault:
    with served(answer) as (address, _), pytest.raises(EngineFault) as raised:
        ask(address, timeout_s=timeout_s)
    return raised.value


def kind_of(answer: Answer, *, timeout_s: float = 5.0) -> tuple[str, str]:
    """The kind of a fault, and whether it is `again` (retryable), `fatal`, or the prompt's own."""
    told = fault(answer, timeout_s=timeout_s)
    assert not (told.retryable and told.fatal)
    return told.kind, "again" if told.retryable else "fatal" if told.fatal else "its own"


@pytest.mark.parametrize(
    ("api", "request_", "key", "value"),
    [
        ("chat", REQUEST, "messages", [
            {"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is it?"}]),
        ("chat", TURNS, "messages", [
            {"role": "user", "content": "What is it?"}, {"role": "assistant", "content": "A wren."},
            {"role": "user", "content": "And now?"}]),
        ("completions", REQUEST, "prompt", "Be brief.\n\nWhat is it?"),
        ("completions", TURNS, "prompt", "User: What is it?\n\nAssistant: A wren.\n\nUser: And now?\n\nAssistant:"),
    ],
)  # fmt: skip
def test_a_prompt_is_sent_as_messages_or_as_one_text(api: Any, request_: Request, key: str, value: object) -> None:
    choice = {"index": 0, "text": "12", "delta": {"content": "12"}, "finish_reason": "length"}
    with served(stream({"choices": [choice], "usage": USAGE}, "[DONE]")) as (address, bodies):
        generation = ask(address, request=replace(request_, api=api))
    assert (generation.text, generation.finish_reason, bodies[0][key]) == ("12", "length", value)


@pytest.mark.parametrize(
    ("answer", "finish_reason", "prompt_tokens"),
    [
        (stream(*WHOLE, lingers_s=2.0), "stop", 70),
        (stream(*WHOLE[:-1], lingers_s=2.0), "stop", 70),
        (stream(chunk("12"), chunk("34", finish="stop")), "stop", 71),
        (stream(chunk("12"), chunk("34"), chunk(usage=USAGE), "[DONE]"), "", 70),
    ],
)
def test_a_complete_answer_is_kept_though_its_stream_lingers(
    answer: Answer, finish_reason: str, prompt_tokens: int
) -> None:
    generation = answered(answer, timeout_s=0.4)
    assert (generation.text, generation.finish_reason) == ("1234", finish_reason)
    assert (generation.prompt_tokens, generation.server_counted) == (prompt_tokens, prompt_tokens == 70)
    assert generation.latency_ms < 500.0


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"Retry-After": "7"}, "busy", 7.0),
        ({"retry-after-ms": "1500", "Retry-After": "7"}, "busy", 1.5),
        ({"Retry-After": format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True)}, "busy", 86_400.0),
        ({"Retry-After": f"Fri, 31 Dec {'9' * 20} 23:59:59 GMT"}, "busy", None),
        ({}, "Rate limit reached. Please try again in 1m2.5s.", 62.5),
        ({}, [{"retryDelay": "34.07s"}], 34.07),
        ({}, "busy", None),
    ],
)
def test_a_server_says_when_to_ask_again(headers: dict[str, str], message: object, seconds: float | None) -> None:
    told = fault(status(429, {"error": {"message": message}}, **headers)).retry_after_s
    assert told == (seconds and pytest.approx(seconds, rel=0.01))  # the tests may take some minutes up to here


@pytest.mark.parametrize(
    "body",
    [
        *({"error": "no"}, {"error": {"message": "no"}}, [{"error": {"message": "no", "code": 1}}], {"detail": "no"}),
        *({"detail": [{"loc": ["body"], "msg": "no"}]}, {"message": {"detail": "no"}}, {"msg": "no"}, "no", '"no"'),
        *({"errors": [{"message": "no"}]}, {"errors": ["no"]}, {"object": "error", "message": "no"}),
        *({"error": True, "message": "no"}, {"error": "no", "message": "no"}, {"error": {}, "detail": "no"}),
    ],
)
def test_a_refusal_is_read_in_any_shape(body: object) -> None:
    assert fault(status(400, body)).detail == "Error code: 400 - no"
    assert fault(status(400, {"error": "Bad", "message": body})).detail.startswith("Error code: 400 - Bad; ")


@pytest.mark.parametrize(
    ("code", "words", "window"),
    [
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
        (400, "This model's maximum prompt length is 131072 but the request contains 150000 tokens.", 131_072),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens", 4_096),
        (422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 2048", 1_024),
        (400, "Input is too long for requested model.", None),
        (400, "max_tokens must be at least 1, got -904.", None),
        (400, "Invalid request: Your request exceeded model token limit: 8192", 8_192),
        (400, "Range of input length should be [1, 30720]", 30_720),
        (400, "Prompt exceeds max length", None),
        (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", None),
        (413, "Request Entity Too Large", None),
        (500, "Context size has been exceeded.", None),
    ],
)
def test_a_prompt_that_is_too_long_is_an_overflow_in_any_servers_words(
    code: int, words: str, window: int | None
) -> None:
    engine_fault = fault(status(code, {"error": {"message": words}}))
    assert (engine_fault.kind, named_window(engine_fault.detail)) == ("overflow", window)


SPENT = {
    "message": "You exceeded your current quota, please check your plan and billing details.",
    "type": "insufficient_quota",
    "code": "insufficient_quota",
}
TOO_LARGE = "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000."
GROQ = "Request too large for model `m` on tokens per minute (TPM): Limit 6,000, Requested 8,046, please reduce your"
MANAGED = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
INSPECTED = "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content."
FREE_TIER = f"{SPENT['message']}\n* Quota exceeded for metric: free_tier_requests, limit: 5\nPlease retry in 34.8s."


@pytest.mark.parametrize(
    ("code", "message", "more", "expected"),
    [
        *((code, "busy", {}, (kind, "again")) for code, kind in (
            (408, "timeout"), (409, "conflict"), (425, "too_early"), (429, "rate_limit"), (500, "server_error"),
            (502, "server_error"), (503, "server_error"))),
        (403, "no", {}, ("forbidden", "fatal")),
        (422, "no", {}, ("bad_request", "its own")),
        (200, "out of credits", {}, ("quota", "fatal")),
        # What no wait brings back.
        *((code, words, more, ("quota", "fatal")) for code, words, more in (
            (402, "Insufficient Balance", {}), (429, SPENT["message"], SPENT), (429, SPENT["message"], {}),
            (429, "Your account is not active, please check your billing details on our website.", {}),
            (400, "Your credit balance is too low to access the API.", {}),
            (400, "ExceededBudget: User=u over budget. Spend=2.0, Budget=1.0", {"type": "budget_exceeded"}),
            (403, "Your team has either used all available credits or reached its spending limit.", {}))),
        *((code, words, {"code": "rate_limit_exceeded"}, ("tokens_per_minute", "fatal")) for code, words in (
            (429, TOO_LARGE), (413, GROQ), (429, "on tokens per min (TPM): Limit 30000, Used 100, Requested 40000."))),
        # Limits that pass.
        *((429, words, {}, ("rate_limit", "again")) for words in (
            "Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please try "
            "again in 6s.", "Rate limit reached on requests per min (RPM): Limit 3, Used 3, Requested 1.", FREE_TIER,
            "Too many requests per min: Limit ,,, Requested ,,")),
        # Filters.
        *((code, words, more, ("content_filter", "its own")) for code, words, more in (
            (400, "The response was filtered", {"innererror": {"code": "ResponsibleAIPolicyViolation"}}),
            (400, MANAGED, {}), (400, "Rejected by our safety system.", {"code": "content_policy_violation"}),
            (400, "Content Exists Risk", {"type": "invalid_request_error"}),
            (400, INSPECTED, {"code": "data_inspection_failed"}),
            (400, "Output blocked by content filtering policy", {}),
            (403, "openai/gpt requires moderation. Your input was flagged for violence.", {"code": 403}),
            (403, "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO", {}),
            (422, "prompt was blocked: PROHIBITED_CONTENT", {}))),
    ],
)  # fmt: skip
def test_an_error_is_the_runs_fault_the_prompts_or_one_that_passes(
    code: int, message: str, more: Mapping[str, object], expected: tuple[str, str]
) -> None:
    assert kind_of(status(code, {"error": {"message": message, **more}})) == expected


def test_a_spent_quota_that_names_a_time_is_waited_for_and_a_prompt_about_money_spends_none() -> None:
    assert kind_of(status(429, {"error": SPENT["message"]}, **{"Retry-After": "7"})) == ("rate_limit", "again")
    about_money = {"error": {"message": "no"}, "input": "There were insufficient funds, and no credits."}
    assert kind_of(status(400, about_money)) == ("bad_request", "its own")


NOTHING = {"prompt_tokens": 70, "completion_tokens": 0}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((chunk("12"), {"error": {"message": "stopped", "code": "content_filter"}}), ("content_filter", "its own")),
        ((chunk("12"), {"error": SPENT}), ("quota", "fatal")),
        ((chunk("12", "abort", usage=USAGE), "[DONE]"), ("aborted", "again")),
        ((chunk(None, "length", usage=NOTHING), "[DONE]"), ("no_tokens", "again")),
        ((chunk("", "length", usage=None), "[DONE]"), ("no_tokens", "again")),
        ((chunk(None, None, usage=NOTHING), "[DONE]"), ("no_tokens", "again")),
    ],
)
def test_a_failure_inside_a_stream_is_no_answer(events: tuple[object, ...], expected: tuple[str, str]) -> None:
    assert kind_of(stream(*events)) == expected


def half(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')
    handler.wfile.flush()
    time.sleep(1.0)


@pytest.mark.parametrize("answer", [lambda _: time.sleep(1.0), half], ids=["of all", "inside an answer"])
def test_silence_is_a_timeout(answer: Answer) -> None:
    assert kind_of(answer, timeout_s=0.3) == ("timeout", "again")


def test_a_closed_port_is_a_connection_fault() -> None:
    with pytest.raises(EngineFault) as raised:
        ask("http://127.0.0.1:9/v1")
    assert (raised.value.kind, raised.value.retryable) == ("connect", True)


def test_a_redirect_is_told_and_not_followed() -> None:
    engine_fault = fault(status(307, "", Location="http://127.0.0.1:9/elsewhere"))
    assert (engine_fault.kind, engine_fault.fatal) == ("redirect", True)
    assert "give that address as engine.base_url" in engine_fault.detail


def test_an_endless_answer_is_cut_off_by_its_size_when_it_is_decompressed(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(b'{"choices": "' + b"x" * (65 * 2**20) + b'"}')
    assert kind_of(status(200, bomb, Content_Encoding="gzip")) == ("too_large", "its own")
    monkeypatch.setattr("contextcliff.engines.openai.http.MOST_BYTES", 10_000)
    assert kind_of(stream(*[chunk("x" * 1000)] * 50)) == ("too_large", "its own")


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ({"Content-Encoding": "gzip"}, gzip.compress(EVENTS)),
        ({"Content-Encoding": "utf-8"}, EVENTS),
        ({"Content-Type": "text/event-stream; charset=klingon"}, EVENTS),
        ({"Content-Type": "application/json; charset=hex"}, ANSWER),
        ({"Content-Type": "text/plain"}, b" \n\n" + ANSWER),
    ],
)
def test_an_answer_is_read_whatever_its_head_says_of_it(head: dict[str, str], body: bytes) -> None:
    assert answered(status(200, body, **head)).text == "12"


@pytest.mark.parametrize("code", [200, 500])
def test_a_wrong_content_encoding_is_a_broken_answer(code: int) -> None:
    assert kind_of(status(code, ANSWER, Content_Encoding="gzip")) == ("broken_stream", "again")


THOUGHT, SPOKEN = {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "12"}
SO_FAR = tuple({"delta": {"content": text}} for text in ("The", "The answer", "The answer is 12"))
MESSAGE = {"message": {"role": "assistant", "content": "12 34", "reasoning": "hm"}}


@pytest.mark.parametrize(
    ("choices", "text", "reasoning"),
    [
        # A message at the end of a stream repeats it, or is all of it.
        (({"delta": {"content": "12 34", "reasoning": "hm"}}, {"delta": {}, **MESSAGE}), "12 34", "hm"),
        (({"delta": {"role": "assistant", "content": ""}, **MESSAGE},), "12 34", "hm"),
        # Pieces that are the text so far.
        (SO_FAR, "The answer is 12", ""),
        (({"delta": {"content": "ha"}},) * 3, "hahaha", ""),
        # Contents in parts.
        (({"delta": {"content": [THOUGHT, SPOKEN]}},), "12", "hm"),
        (({"delta": {"content": [{"type": "thinking", "thinking": [{"text": "hm"}]}, SPOKEN]}},), "12", "hm"),
        (({"delta": {"content": [{"type": "text", "text": "1"}, "2", {"type": "image_url"}]}},), "12", ""),
    ],
)
def test_the_pieces_of_an_answer_make_up_its_text(
    choices: tuple[dict[str, object], ...], text: str, reasoning: str
) -> None:
    generation = answered(stream(*({"choices": [choice]} for choice in choices), *END))
    assert (generation.text, generation.reasoning) == (text, reasoning)


CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("message", "finish_reason", "kept", "refused"),
    [
        ({"content": None, "tool_calls": [CALL]}, "tool_calls", "tool_calls", False),
        ({"content": None, "tool_calls": [CALL]}, "stop", "tool_calls", False),
        ({"content": "", "function_call": CALL}, "function_call", "tool_calls", False),
        ({"content": "12", "tool_calls": [CALL]}, "stop", "stop", False),
        ({"content": None, "refusal": "I won't."}, "stop", "stop", True),
    ],
)
def test_how_an_answer_ended_is_a_text_and_a_refusal_is_marked(
    message: dict[str, object], finish_reason: str, kept: str, refused: bool
) -> None:
    events = {"choices": [{"delta": message}]}, {"choices": [{"delta": {}, "finish_reason": finish_reason}]}
    generation = answered(stream(*events, {"usage": USAGE}))
    assert (generation.finish_reason, generation.refused) == (kept, refused)
    assert not refused or generation.text == "I won't."


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({**USAGE, "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 60}}, (60, None, 3)),
        ({**USAGE, "cache_creation_input_tokens": 50}, (50, None, 3)),
        ({**USAGE, "prompt_tokens_details": {"cache_write_tokens": "many"}}, (None, None, 3)),
        # Gemini counts thoughts in the total alone.
        ({"prompt_tokens": 70, "total_tokens": 118}, (None, 48, 48)),
        ({"prompt_tokens": 70, "completion_tokens": 3, "total_tokens": 121}, (None, 48, 51)),
        ({"prompt_tokens": 70, "completion_tokens": 3, "total_tokens": 133, **CACHED}, (None, None, 3)),
    ],
)
def test_tokens_written_to_a_cache_and_thoughts_are_counted(
    usage: Mapping[str, object], told: tuple[int | None, int | None, int]
) -> None:
    generation = answered(status(200, in_one_piece(usage, None, "length")))
    assert (generation.written_tokens, generation.reasoning_tokens, generation.completion_tokens) == told
