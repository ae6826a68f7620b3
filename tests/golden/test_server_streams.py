"""G8: what is read from the bytes of many servers' answers: the fields of a `Generation`, or the kind of the fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from http.server import BaseHTTPRequestHandler

import openai
import pytest
from syrupy.assertion import SnapshotAssertion

from contextcliff.engines.engine import Api
from contextcliff.engines.openai.exchange import Request, exchange
from contextcliff.engines.openai.http import async_client
from contextcliff.errors import EngineFault
from contextcliff.records.sample import Prompt
from tests.engines.fake_server import listening

LEFT_OUT = ("ttft_ms", "latency_ms", "attention_entropy", "written_tokens")
USAGE = {"prompt_tokens": 70, "completion_tokens": 3, "total_tokens": 73}
CACHED = {**USAGE, "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0}}
THOUGHT = {**CACHED, "completion_tokens_details": {"reasoning_tokens": 2}}


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a server sends for one request."""

    body: bytes
    status: int = 200
    kind: str = "text/event-stream"
    api: Api = "chat"
    lost: int = 0
    """Bytes that it announces and never sends."""
    headers: tuple[tuple[str, str], ...] = ()


def data(*events: object, end: str = "\n\n", start: str = "data: ") -> bytes:
    return "".join(f"{start}{json.dumps(event, ensure_ascii=False)}{end}" for event in events).encode()


def chunk(delta: object = None, finish: str | None = None, **more: object) -> dict[str, object]:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


def said(text: str) -> dict[str, object]:
    return chunk({"content": text})


def usage(tokens: object = USAGE, **more: object) -> dict[str, object]:
    return {**chunk(), "choices": [], "usage": tokens, **more}


def whole(message: object, tokens: object = USAGE) -> dict[str, object]:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"object": "chat.completion", "model": "m", "choices": [choice], "usage": tokens}


def stream(*events: object, before: bytes = b"", **more: str) -> Answer:
    """A stream of events to its end."""
    return Answer(body=before + data(*events, **more) + more.get("start", "data: ").encode() + b"[DONE]\n\n")


def json_of(body: object, status: int = 200, **headers: str) -> Answer:
    return Answer(
        body=json.dumps(body).encode(), status=status, kind="application/json", headers=tuple(headers.items())
    )


def refused(status: int, message: str, **headers: str) -> Answer:
    return json_of({"error": {"message": message}}, status, **headers)


ROLE, STOP = chunk({"role": "assistant", "content": ""}), chunk(finish="stop")
PLAIN = stream(ROLE, said("12"), said("34"), STOP, usage()).body
TEXT = {"index": 0, "finish_reason": None}
FILTERED = {"choices": [], "prompt_filter_results": [{"prompt_index": 0}], "model": "", "id": ""}
WAITING = b": OPENROUTER PROCESSING\n\n"
HALF = chunk({"content": "HALF"}, "stop", usage=USAGE)
ANSWERS = {
    "openai": stream(
        chunk({"role": "assistant", "content": "", "refusal": None}, usage=None, service_tier="default"),
        *(chunk({"content": text}, usage=None, obfuscation="x") for text in ("12", "34")),
        *(chunk(finish="stop", usage=None), usage(THOUGHT)),
    ),
    "vllm": stream(ROLE, said("12"), chunk({"content": "34"}, "stop", stop_reason=None), usage(CACHED)),
    "vllm, reasoning": stream(
        *(ROLE, chunk({"reasoning": "so"}), chunk({"reasoning": " it is"}), said("1234"), STOP, usage(THOUGHT))
    ),
    "llama.cpp": stream(
        *(chunk({"role": "assistant", "content": None}), said("12"), said("34")),
        chunk(finish="length", usage=USAGE, timings={"prompt_n": 70, "cache_n": 6, "predicted_n": 3}),
    ),
    "llama.cpp, completions": replace(
        stream(
            {"choices": [{**TEXT, "text": "12"}], "model": "m"},
            {"choices": [{**TEXT, "text": "34", "finish_reason": "stop"}], "model": "m", "usage": USAGE},
        ),
        api="completions",
    ),
    "sglang": stream(
        chunk({"role": "assistant", "content": "", "reasoning_content": None}, matched_stop=None),
        *(said("1234"), chunk({"content": None}, "stop"), usage({**USAGE, "prompt_tokens_details": None})),
    ),
    "litellm": stream(ROLE, said("1234"), STOP, chunk({"content": None}, usage=CACHED, citations=None)),
    "openrouter": stream(
        chunk({"content": "1234"}, provider="p", native_finish_reason=None),
        *(chunk({"content": ""}, "stop", native_finish_reason="STOP"), usage({**CACHED, "cost": 0.00021})),
        before=2 * WAITING + data(chunk({"content": ""}, provider="p")) + WAITING,
    ),
    "openrouter, an error in the stream": stream(
        said("12"), chunk(finish="error", error={"code": 502, "message": "Provider disconnected"})
    ),
    "azure": replace(
        stream(), body=data(FILTERED) + PLAIN.replace(b'"finish_r', b'"content_filter_results": {}, "finish_r')
    ),
    "azure, filtered": stream(said("12"), chunk(finish="content_filter"), usage()),
    "deepseek": stream(
        chunk({"role": "assistant", "content": None, "reasoning_content": ""}),
        chunk({"content": None, "reasoning_content": "Let me see."}),
        chunk({"content": "1234", "reasoning_content": None}),
        chunk({"content": "", "reasoning_content": None}, "stop", usage={**THOUGHT, "prompt_cache_hit_tokens": 64}),
        before=b": keep-alive\n\n",
    ),
    "ollama": stream(said("<think>"), said("hm</think>"), said("\n1234"), STOP, usage()),
    "lm studio": stream(ROLE, said("1234"), STOP, usage({**USAGE, "prompt_tokens": 71}), end="\r\n\r\n"),
    "koboldcpp, no usage and no end": Answer(body=data(said("12"), chunk({"content": "34"}, "stop"))),
    "tgi, no blank behind the colon": stream(said("1234"), STOP, usage(), start="data:"),
    "gemini": stream(
        chunk({"role": "assistant", "content": "12"}, usage=USAGE), chunk({"content": "34"}, "stop", usage=USAGE)
    ),
    "gemini, all went into thinking": stream(
        chunk({"role": "assistant"}, "length", usage={"prompt_tokens": 70, "total_tokens": 118})
    ),
    "mistral, content in parts": stream(chunk({"content": [{"type": "text", "text": "1234"}]}), STOP, usage()),
    "events with names": Answer(body=PLAIN.replace(b"data: {", b"event: message\nid: 7\nretry: 10\ndata: {")),
    "a byte order mark": Answer(body=b"\xef\xbb\xbf" + PLAIN),
    "a stream that is ignored": json_of(whole({"role": "assistant", "content": "1234"}, CACHED)),
    "a stream that is ignored, called one": Answer(body=json.dumps(whole({"content": "1234"})).encode()),
    "json that is a stream": Answer(body=PLAIN, kind="application/json"),
    "an answer without choices": json_of({"model": "m", "choices": [], "usage": None}),
    "an error with status 200": json_of({"error": {"message": "no such model", "code": 404}}),
    "a page of a proxy": Answer(body=b"<html><h1>Welcome</h1></html>", kind="text/html"),
    "half a surrogate": Answer(body=stream(HALF).body.replace(b"HALF", b"\\ud83d")),
    "what is no utf-8": Answer(body=PLAIN.replace(b"12", b"\xff\xfe")),
    "what is no json": Answer(body=b"data: {oops\n\n" + PLAIN),
    "a stream without an end": Answer(body=data(ROLE, said("12"))),
    "a connection that is cut": Answer(body=data(ROLE, said("12")), lost=100),
    "nothing at all": Answer(body=b""),
    "only the end": stream(),
    "a number for a text": stream(chunk({"content": 12}), STOP, usage()),
    "texts for numbers": stream(said("1234"), STOP, usage({"prompt_tokens": "70", "completion_tokens": None})),
    "an empty answer": stream(ROLE, STOP, usage({**USAGE, "completion_tokens": 0})),
    "too many requests": refused(429, "slow down", **{"Retry-After": "7"}),
    "too long": refused(400, "maximum context length is 64 tokens"),
    "a bad request": refused(400, "unknown field top_k"),
    "a wrong key": refused(401, "no such key"),
    "no such model": refused(404, "model m not found"),
    "out of memory": refused(500, "CUDA out of memory"),
    "overloaded": Answer(status=503, kind="text/html", body=b"<html>busy</html>"),
}


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(answer.status)
            length = str(len(answer.body) + answer.lost)
            for name, value in (("Content-Type", answer.kind), ("Content-Length", length), *answer.headers):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)
            self.close_connection = True

    with listening(Handler) as address:
        yield f"{address}/v1"


def asked(answer: Answer) -> tuple[dict[str, object], str]:
    """The fields of the generation, or the fault; and what is said of the fault."""
    request = Request(model="m", prompt=Prompt(user="?"), built_tokens=71, fields={"max_tokens": 9}, api=answer.api)

    async def once(address: str) -> dict[str, object]:
        http = async_client(timeout_s=5.0, connections=1)
        async with openai.AsyncOpenAI(base_url=address, api_key="k", max_retries=0, http_client=http) as client:
            return asdict(await exchange(client, request, timeout_s=5.0))

    with serving(answer) as address:
        try:
            fields = asyncio.run(once(address))
        except EngineFault as fault:
            told = {"fault": fault.kind, "retryable": fault.retryable, "after_s": fault.retry_after_s}
            return told, fault.detail.replace(address, "ADDRESS")
    return {name: value for name, value in fields.items() if name not in LEFT_OUT}, ""


@pytest.fixture(scope="module")
def read() -> dict[str, tuple[dict[str, object], str]]:
    return {name: asked(answer) for name, answer in ANSWERS.items()}


def test_what_is_read(read: dict[str, tuple[dict[str, object], str]], numbers: SnapshotAssertion) -> None:
    assert {name: fields for name, (fields, _) in read.items()} == numbers


def test_what_is_said_of_faults(read: dict[str, tuple[dict[str, object], str]], text: SnapshotAssertion) -> None:
    assert "\n".join(f"{name}: {detail}" for name, (_, detail) in read.items() if detail) == text
