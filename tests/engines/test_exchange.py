"""One streamed request against a server on loopback that answers, or breaks, as it is told."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import openai
import pytest

from contextcliff.engines.openai.exchange import Request, exchange
from contextcliff.engines.openai.faults import named_window
from contextcliff.engines.openai.http import async_client
from contextcliff.engines.openai.session import Usage
from contextcliff.errors import EngineFault
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Prompt, SentTurn
from tests.tasks.needles import said

Answer = Callable[[BaseHTTPRequestHandler], None]
REQUEST = Request(
    model="m",
    prompt=Prompt(user="What is it?", system="Be brief."),
    built_tokens=71,
    fields={"temperature": 0.0, "top_p": 1.0, "max_tokens": 9, "seed": 5, "top_k": 1, "cache_prompt": True},
)


@contextmanager
def served(answer: Answer) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that answers every POST in one way; yields its address and the bodies it was sent."""
    bodies: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            answer(self)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", bodies
        server.shutdown()


def status(code: int, body: object, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        handler.send_response(code)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            handler.send_header(name, value)
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
            data = event if isinstance(event, str) else json.dumps(event)
            handler.wfile.write(f"data: {data}\n\n".encode())
            handler.wfile.flush()
            time.sleep(pause_s)
        time.sleep(lingers_s)

    return answer


def raw(body: bytes, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def chunk(content: str | None = None, finish: str | None = None, **more: object) -> dict[str, object]:
    delta = {} if content is None else {"role": "assistant", "content": content}
    return {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "served",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **more,
    }


USAGE = {
    "prompt_tokens": 70,
    "completion_tokens": 3,
    "total_tokens": 73,
    "prompt_tokens_details": {"cached_tokens": 60},
}
WHOLE = (chunk("12"), chunk("34"), chunk(finish="stop", usage=USAGE), "[DONE]")


def in_one_piece(usage: Mapping[str, object], content: str | None = "12", finish: str = "stop") -> dict[str, object]:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    named = {"id": "1", "object": "chat.completion", "created": 1, "model": "served"}
    return {**named, "choices": [choice], "usage": usage}


WHOLE_ANSWER = in_one_piece(USAGE)


def ask(address: str, *, request: Request = REQUEST, timeout_s: float = 5.0) -> Generation:
    async def once() -> Generation:
        async with openai.AsyncOpenAI(
            base_url=address,
            api_key="k",
            max_retries=0,
            timeout=timeout_s,
            http_client=async_client(timeout_s=timeout_s, connections=1),
        ) as client:
            return await exchange(client, request, timeout_s=timeout_s)

    return asyncio.run(once())


@pytest.mark.parametrize(
    ("events", "is_whole"),
    [
        (WHOLE, True),
        (WHOLE[:-1], True),
        ((*WHOLE[:2], chunk(finish="stop")), False),
        ((*WHOLE[:2], chunk(usage=USAGE)), False),
    ],
)
def test_a_cancelled_request_has_its_answer_if_only_the_end_of_the_connection_is_missing(
    events: tuple[object, ...], is_whole: bool
) -> None:
    is_sent, may_end = threading.Event(), threading.Event()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        stream(*events)(handler)
        is_sent.set()
        may_end.wait(10)

    async def cancelled(address: str) -> Generation:
        async with openai.AsyncOpenAI(base_url=address, api_key="k", max_retries=0) as client:
            task = asyncio.create_task(exchange(client, REQUEST, timeout_s=5.0))
            await asyncio.to_thread(is_sent.wait)
            await asyncio.sleep(0.03)
            task.cancel()
            return await task

    with served(answer) as (address, _):
        try:
            if is_whole:
                assert asyncio.run(cancelled(address)).text == "1234"
            else:
                with pytest.raises(asyncio.CancelledError):
                    asyncio.run(cancelled(address))
        finally:
            may_end.set()


def answered(answer: Answer, *, timeout_s: float = 5.0) -> Generation:
    with served(answer) as (address, _):
        return ask(address, timeout_s=timeout_s)


def test_a_whole_answer_is_kept_though_its_stream_never_ends() -> None:
    assert answered(stream(*WHOLE[:-1], lingers_s=1.0), timeout_s=0.2).text == "1234"


def fault(answer: Answer, *, timeout_s: float = 5.0) -> EngineFault:
    with served(answer) as (address, _), pytest.raises(EngineFault) as raised:
        ask(address, timeout_s=timeout_s)
    return raised.value


def test_text_usage_and_times_come_from_the_stream() -> None:
    generation = answered(stream(*WHOLE, pause_s=0.05))
    assert (generation.text, generation.finish_reason, generation.served_model) == ("1234", "stop", "served")
    assert (generation.prompt_tokens, generation.completion_tokens, generation.cached_tokens) == (70, 3, 60)
    assert 0.0 < generation.ttft_ms < generation.latency_ms


def test_a_body_is_json_and_says_so_whatever_signs_the_prompt_has() -> None:
    told: list[str | None] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        told.append(handler.headers["Content-Type"])
        stream(*WHOLE)(handler)

    text = 'a "quoted" \\ word,\n\ttabs, \x00 \x1f \x7f \u2028, 東京, é and 🦊'
    with served(answer) as (address, bodies):
        ask(address, request=replace(REQUEST, prompt=Prompt(user=text)))
    assert bodies[0]["messages"] == [{"role": "user", "content": text}]
    assert told == ["application/json"]


@pytest.mark.parametrize("code", [408, 409, 425, 429, 500, 502, 503])
def test_transport_faults_are_to_be_tried_again(code: int) -> None:
    engine_fault = fault(status(code, {"error": {"message": "busy"}}, **{"Retry-After": "7"}))
    assert (engine_fault.retryable, engine_fault.fatal, engine_fault.retry_after_s) == (True, False, 7.0)


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after-ms": "1500", "Retry-After": "7"}, "busy", 1.5),
        ({"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}, "busy", 0.0),
        ({"Retry-After": "soon"}, "busy", None),
        ({"Retry-After": f"Fri, 31 Dec {'9' * 20} 23:59:59 GMT"}, "busy", None),
        ({}, "Rate limit reached. Please try again in 1m2.5s.", 62.5),
        ({}, "Please try again in 250ms.", 0.25),
        ({}, "busy", None),
    ],
)
def test_a_server_says_when_to_ask_again(headers: dict[str, str], message: str, seconds: float | None) -> None:
    assert fault(status(429, {"error": {"message": message}}, **headers)).retry_after_s == pytest.approx(seconds)


def test_a_server_may_say_a_date() -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    asked_s = fault(status(503, {"error": {"message": "busy"}}, **{"Retry-After": until})).retry_after_s
    assert asked_s is not None
    assert 3000 < asked_s <= 3600


def test_gemini_names_its_delay_in_a_field() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}]
    engine_fault = fault(status(429, [{"error": {"code": 429, "message": "Quota exceeded", "details": details}}]))
    assert (engine_fault.kind, engine_fault.retry_after_s) == ("rate_limit", 34.07)


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


@pytest.mark.parametrize(
    ("code", "message", "kind", "fatal"),
    [(403, "no", "forbidden", True), (422, "no", "bad_request", False), (200, "out of credits", "quota", True)],
)
def test_a_refusal_is_the_runs_fault_or_the_prompts(code: int, message: str, kind: str, fatal: bool) -> None:
    engine_fault = fault(status(code, {"error": {"message": message}}))
    assert (engine_fault.kind, engine_fault.retryable, engine_fault.fatal) == (kind, False, fatal)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (400, {"message": "The response was filtered", "code": "content_filter", "innererror": {
            "code": "ResponsibleAIPolicyViolation"}}),
        (400, {"message": "The response was filtered due to the prompt triggering Azure OpenAI's content management "
            "policy. Please modify your prompt and retry."}),
        (400, {"message": "Your request was rejected as a result of our safety system.",
            "code": "content_policy_violation"}),
        (400, {"message": "Content Exists Risk", "type": "invalid_request_error"}),
        (400, {"message": "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate "
            "content.", "code": "data_inspection_failed"}),
        (400, {"message": "Output blocked by content filtering policy"}),
        (403, {"message": "openai/gpt requires moderation. Your input was flagged for violence.", "code": 403}),
        (403, {"message": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}),
        (422, {"message": "prompt was blocked: PROHIBITED_CONTENT"}),
    ],
)  # fmt: skip
def test_a_filter_of_contents_is_named_as_such(code: int, error: object) -> None:
    engine_fault = fault(status(code, {"error": error}))
    assert (engine_fault.kind, engine_fault.retryable, engine_fault.fatal) == ("content_filter", False, False)


def test_a_filter_that_speaks_up_in_the_stream_is_no_broken_stream() -> None:
    engine_fault = fault(stream(chunk("12"), {"error": {"message": "stopped", "code": "content_filter"}}))
    assert (engine_fault.kind, engine_fault.retryable) == ("content_filter", False)


@pytest.mark.parametrize(
    ("answer", "finish_reason", "prompt_tokens"),
    [
        (stream(*WHOLE, lingers_s=2.0), "stop", 70),
        (stream(chunk("12"), chunk("34", finish="stop"), "[DONE]"), "stop", 71),
        (stream(chunk("12"), chunk("34", finish="stop")), "stop", 71),
        (stream(chunk("12"), chunk("34"), chunk(usage=USAGE), "[DONE]"), "", 70),
        (stream(chunk("12"), chunk("34"), "[DONE]"), "", 71),
    ],
)
def test_a_complete_answer_is_kept(answer: Answer, finish_reason: str, prompt_tokens: int) -> None:
    generation = answered(answer, timeout_s=1.0)
    assert (generation.text, generation.finish_reason) == ("1234", finish_reason)
    assert generation.prompt_tokens == prompt_tokens
    assert generation.server_counted is (prompt_tokens == 70)
    assert generation.latency_ms < 500.0


def test_silence_is_a_timeout() -> None:
    engine_fault = fault(lambda _: time.sleep(1.0), timeout_s=0.2)
    assert (engine_fault.kind, engine_fault.retryable) == ("timeout", True)


def test_a_closed_port_is_a_connection_fault() -> None:
    with pytest.raises(EngineFault) as raised:
        ask("http://127.0.0.1:9/v1")
    assert (raised.value.kind, raised.value.retryable) == ("connect", True)


def test_an_answer_without_a_stream_is_one_piece() -> None:
    with served(status(200, WHOLE_ANSWER)) as (address, bodies):
        generation = ask(address, request=replace(REQUEST, streams=False))
    assert (generation.text, generation.prompt_tokens, generation.finish_reason) == ("12", 70, "stop")
    assert generation.ttft_ms == pytest.approx(generation.latency_ms, rel=0.5)
    assert "stream_options" not in bodies[0]


PARTS = (chunk("12"), chunk(finish="stop", usage=USAGE))
EVENTS = "".join(f"data: {json.dumps(event)}\n\n" for event in PARTS).encode()


def test_silence_inside_an_answer_in_one_piece_is_a_timeout() -> None:
    def half(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        handler.wfile.write(b'{"choices"')
        handler.wfile.flush()
        time.sleep(1.0)

    engine_fault = fault(half, timeout_s=0.3)
    assert (engine_fault.kind, engine_fault.retryable) == ("timeout", True)


COMPLETION = {"id": "1", "object": "text_completion", "created": 1, "model": "served"}


def test_base_models_are_asked_with_plain_text() -> None:
    choice = {"index": 0, "text": "12", "finish_reason": "length", "logprobs": None}
    with served(stream({**COMPLETION, "choices": [choice], "usage": USAGE}, "[DONE]")) as (address, bodies):
        generation = ask(address, request=replace(REQUEST, api="completions"))
    assert (generation.text, generation.finish_reason) == ("12", "length")
    assert bodies[0]["prompt"] == "Be brief.\n\nWhat is it?"


def test_a_redirect_is_told_and_not_followed() -> None:
    engine_fault = fault(status(307, "", Location="http://127.0.0.1:9/elsewhere"))
    assert (engine_fault.kind, engine_fault.fatal) == ("redirect", True)
    assert "give that address as engine.base_url" in engine_fault.detail


def test_an_endless_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextcliff.engines.openai.http.MOST_BYTES", 10_000)
    engine_fault = fault(stream(*[chunk("x" * 1000)] * 50))
    assert (engine_fault.kind, engine_fault.retryable, engine_fault.fatal) == ("too_large", False, False)


def test_an_answer_is_cut_off_by_its_size_when_it_is_decompressed() -> None:
    bomb = gzip.compress(b'{"choices": "' + b"x" * (65 * 2**20) + b'"}')
    engine_fault = fault(raw(bomb, Content_Encoding="gzip"))
    assert (engine_fault.kind, engine_fault.retryable) == ("too_large", False)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ({"Content-Encoding": "gzip"}, gzip.compress(EVENTS)),
        ({"Content-Encoding": "utf-8"}, EVENTS),
        ({"Content-Type": "text/event-stream; charset=klingon"}, EVENTS),
        ({"Content-Type": "text/event-stream; charset=hex"}, EVENTS),
        ({"Content-Type": "application/json; charset=hex"}, json.dumps(WHOLE_ANSWER).encode()),
        ({"Content-Type": "text/plain"}, json.dumps(WHOLE_ANSWER).encode()),
        ({}, b" \n\n" + json.dumps(WHOLE_ANSWER).encode()),
        ({}, b"\xef\xbb\xbf" + EVENTS),
        ({}, b"\xef\xbb\xbf" + json.dumps(WHOLE_ANSWER).encode()),
    ],
)
def test_an_answer_is_read_whatever_its_head_says_of_it(head: dict[str, str], body: bytes) -> None:
    assert answered(raw(body, **head)).text == "12"


@pytest.mark.parametrize("code", [200, 500])
def test_a_wrong_content_encoding_is_a_broken_answer(code: int) -> None:
    engine_fault = fault(status(code, WHOLE_ANSWER, **{"Content-Encoding": "gzip"}))
    assert (engine_fault.kind, engine_fault.retryable) == ("broken_stream", True)
    assert "can't be decompressed" in engine_fault.detail


def said_by(*deltas: Mapping[str, object], last: dict[str, object] | None = None) -> tuple[str, str]:
    """Text and reasoning of an answer in these deltas."""
    events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", **(last or {})}], "usage": USAGE}
    generation = answered(stream(*events, end, "[DONE]"))
    return generation.text, generation.reasoning


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (("The", "The answer", "The answer is 12", "The answer is 12"), "The answer is 12"),
        (("", "12", "12 3", "12 34", "12 34"), "12 34"),
        (("ha", "ha", "ha"), "hahaha"),
        (("ha", "haha", "ha", "hahaha"), "hahahahahahaha"),
        (("1", "12"), "112"),
        (("12", "34", "12 34"), "123412 34"),
    ],
)
def test_a_stream_whose_pieces_are_the_text_so_far_is_not_joined(pieces: tuple[str, ...], text: str) -> None:
    assert said_by(*({"content": piece} for piece in pieces)) == (text, "")
    assert said_by(*({"reasoning": piece} for piece in pieces), {"content": "12"}) == ("12", text)


@pytest.mark.parametrize("delta", [{}, {"role": "assistant", "content": ""}, {"content": None}])
def test_a_message_at_the_end_of_a_stream_repeats_it(delta: dict[str, object]) -> None:
    message = {"delta": delta, "message": {"role": "assistant", "content": "12 34", "reasoning": "hm"}}
    assert said_by({"reasoning": "hm"}, {"content": "12 "}, {"content": "34"}, last=message) == ("12 34", "hm")
    assert said_by(last=message) == ("12 34", "hm")


THOUGHT = {"type": "thinking", "thinking": "hm"}
SPOKEN = {"type": "text", "text": "12"}
MESSAGES = [
    ({"content": [SPOKEN]}, "12", ""),
    ({"content": [THOUGHT, SPOKEN]}, "12", "hm"),
    ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, SPOKEN]}, "12", "hm"),
    ({"content": [{"type": "reasoning", "text": "hm"}, {"type": "output_text", "text": "12"}]}, "12", "hm"),
    ({"content": [{"type": "text", "text": "1"}, "2", {"type": "image_url"}]}, "12", ""),
    ({"content": SPOKEN}, "12", ""),
    ({"content": "12", "reasoning": {"content": "hm"}}, "12", "hm"),
]


@pytest.mark.parametrize(("message", "text", "reasoning"), MESSAGES)
def test_a_content_in_parts_is_the_text_of_its_parts(message: dict[str, object], text: str, reasoning: str) -> None:
    assert said_by(message) == (text, reasoning)
    whole = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": USAGE}
    generation = answered(status(200, whole))
    assert (generation.text, generation.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    "message", [{"content": None, "refusal": "I won't."}, {"content": [{"type": "refusal", "refusal": "I won't."}]}]
)
def test_a_refusal_is_the_text_and_marked(message: dict[str, object]) -> None:
    generation = answered(stream({"choices": [{"delta": message}]}, *PARTS[1:]))
    assert (generation.text, generation.refused) == ("I won't.", True)


CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("message", "finish_reason", "kept"),
    [
        ({"content": None, "tool_calls": [CALL]}, "tool_calls", "tool_calls"),
        ({"content": None, "tool_calls": [CALL]}, "stop", "tool_calls"),
        ({"content": "", "function_call": CALL}, "function_call", "tool_calls"),
        ({"content": "12", "tool_calls": [CALL]}, "stop", "stop"),
        ({"content": "12"}, 3, "3"),
        ({"content": "12"}, {"type": "stop"}, "stop"),
        ({"content": "12"}, {"why": 5}, '{"why":5}'),
        ({"content": "12"}, ["stop"], '["stop"]'),
    ],
)
def test_how_an_answer_ended_is_a_text(message: dict[str, object], finish_reason: object, kept: str) -> None:
    events = {"choices": [{"delta": message}]}, {"choices": [{"delta": {}, "finish_reason": finish_reason}]}
    assert answered(stream(*events, {"usage": USAGE})).finish_reason == kept


NOTHING = {"prompt_tokens": 70, "completion_tokens": 0}


@pytest.mark.parametrize(
    ("content", "finish_reason", "usage", "kind"),
    [
        ("12", "abort", USAGE, "aborted"),
        (None, "error", USAGE, "aborted"),
        (None, "length", NOTHING, "no_tokens"),
        ("", "length", None, "no_tokens"),
        (None, None, NOTHING, "no_tokens"),
    ],
)
def test_a_failure_of_the_engine_is_no_answer(
    content: str | None, finish_reason: str | None, usage: object, kind: str
) -> None:
    engine_fault = fault(stream(chunk(content, finish_reason, usage=usage), "[DONE]"))
    assert (engine_fault.kind, engine_fault.retryable, engine_fault.fatal) == (kind, True, False)


@pytest.mark.parametrize("finish_reason", ["stop", "content_filter"])
def test_an_answer_that_ends_at_once_is_the_models_or_the_filters(finish_reason: str) -> None:
    generation = answered(stream(chunk(None, finish_reason, usage=NOTHING), "[DONE]"))
    assert (generation.text, generation.completion_tokens, generation.finish_reason) == ("", 0, finish_reason)


TURNS = replace(REQUEST, prompt=Prompt(user="And now?", turns=(SentTurn(user="What is it?", assistant="A wren."),)))


def test_the_turns_of_a_conversation_are_messages_of_their_own() -> None:
    with served(stream(*WHOLE)) as (address, bodies):
        ask(address, request=TURNS)
    assert bodies[0]["messages"] == [
        {"role": "user", "content": "What is it?"},
        {"role": "assistant", "content": "A wren."},
        {"role": "user", "content": "And now?"},
    ]


def test_a_base_model_gets_a_conversation_as_one_text() -> None:
    said = {**COMPLETION, "choices": [{"index": 0, "text": " An owl.", "finish_reason": "stop"}]}
    with served(stream(said, {**COMPLETION, "choices": [], "usage": USAGE}, "[DONE]")) as (address, bodies):
        assert ask(address, request=replace(TURNS, api="completions")).text == " An owl."
    assert bodies[0]["prompt"] == "User: What is it?\n\nAssistant: A wren.\n\nUser: And now?\n\nAssistant:"


def test_a_prompt_is_freed_with_its_answer_and_waits_for_no_search_for_garbage() -> None:
    text = "".join(["word "] * 1_000)

    def held_after(address: str) -> int:
        ask(address, request=replace(REQUEST, prompt=Prompt(user=text)))
        return sys.getrefcount(text)

    gc.collect()
    gc.disable()
    try:
        with served(stream(*WHOLE)) as (address, _):
            first, *later = [held_after(address) for _ in range(3)]
    finally:
        gc.enable()
    assert later == [first] * 2


@pytest.mark.parametrize(
    ("more", "written"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 60}}, 60),
        ({"prompt_tokens_details": {"cached_tokens": 0}, "cache_creation_input_tokens": 50}, 50),
        ({"prompt_tokens_details": {"cache_write_tokens": "many"}}, None),
        ({}, None),
    ],
)
def test_tokens_written_to_a_cache_are_counted(more: Mapping[str, object], written: int | None) -> None:
    usage = {"prompt_tokens": 70, "completion_tokens": 3, "total_tokens": 73, **more}
    assert answered(status(200, in_one_piece(usage))).written_tokens == written


@pytest.mark.parametrize(
    ("usage", "reasoning_tokens", "completion_tokens"),
    [
        ({"total_tokens": 118}, 48, 48),
        ({"completion_tokens": 3, "total_tokens": 121}, 48, 51),
        ({"completion_tokens": 3, "total_tokens": 73}, None, 3),
        ({"completion_tokens": 3, "total_tokens": 473, "prompt_tokens_details": {"cached_tokens": 400}}, None, 3),
    ],
)
def test_thoughts_that_only_the_total_counts_are_reasoning(
    usage: Mapping[str, object], reasoning_tokens: int | None, completion_tokens: int
) -> None:
    generation = answered(status(200, in_one_piece({"prompt_tokens": 70, **usage}, None, "length")))
    assert (generation.reasoning_tokens, generation.completion_tokens) == (reasoning_tokens, completion_tokens)


Told = tuple[int, int, int | None]
"""Built length, `prompt_tokens` and `cached_tokens`."""


@pytest.mark.parametrize(
    ("told", "counts"),
    [
        # OpenAI, vLLM, llama.cpp: the cached part is within. Japanese under tiktoken as well.
        ([(1_000, 1_003, 0), (1_000, 1_002, 960), (2_000, 2_004, 300)], [1_003, 1_002, 2_004]),
        ([(1_000, 710, None), (1_000, 705, 280), (2_000, 1_420, 700)], [710, 705, 1_420]),
        ([(1_000, 705, 280)], [705]),
        # Only the new tokens, the cached ones beside: known from the first request with more of the latter.
        ([(1_000, 1_003, 0), (1_000, 43, 960), (2_000, 1_044, 960)], [1_003, 1_003, 2_004]),
        ([(1_000, 700, 0), (1_000, 420, 280), (2_000, 1_000, 400)], [700, 700, 1_400]),
        ([(1_000, 0, 1_003)], [1_003]),
    ],
)
def test_the_count_is_that_of_the_whole_prompt(told: list[Told], counts: list[int]) -> None:
    usage = Usage()
    whole = [
        usage.of_whole_prompt(replace(said("9"), prompt_tokens=tokens, cached_tokens=cached), built_tokens=built)
        for built, tokens, cached in told
    ]
    assert [each.prompt_tokens for each in whole] == counts
    assert all(each.server_counted for each in whole)


def test_a_count_of_nothing_is_none() -> None:
    told = replace(said("9"), prompt_tokens=0, cached_tokens=None)
    whole = Usage().of_whole_prompt(told, built_tokens=1_000)
    assert (whole.prompt_tokens, whole.server_counted) == (1_000, False)
