"""Whatever a server sends is an answer that can be kept, or one line of an error: never a traceback."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

import openai
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from contextcliff.annotation.embedding import embeddings
from contextcliff.engines.openai.exchange import Request, exchange
from contextcliff.engines.openai.http import address_of, client, connection
from contextcliff.engines.openai.openai_compatible import detect
from contextcliff.engines.openai.tokens import TOKENIZERS, TokenServer
from contextcliff.errors import ConfigError, EngineFault, RunError
from contextcliff.execution.store import Store
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Prompt
from tests.engines.fake_server import listening
from tests.execution.planned_samples import planned

PROMPT = Prompt(user="one two")
USAGE = {
    "prompt_tokens": 70,
    "completion_tokens": 3,
    "prompt_tokens_details": {"cached_tokens": 60},
    "completion_tokens_details": {"reasoning_tokens": 1},
}
CHOICE = {"index": 0, "finish_reason": "stop"}
DELTA = {"role": "assistant", "content": "12", "reasoning_content": "hm"}
WHOLE = {"id": "1", "model": "m", "choices": [{**CHOICE, "message": DELTA}], "usage": USAGE}
EVENTS: list[dict[str, object]] = [
    {"id": "1", "model": "m", "choices": [{**CHOICE, "delta": DELTA, "finish_reason": None}]},
    {"id": "1", "model": "m", "choices": [{**CHOICE, "delta": {}}]},
    {"id": "1", "model": "m", "choices": [], "usage": USAGE},
]
ERROR: dict[str, object] = {"error": {"message": "no", "type": "t", "code": "c", "param": None}}
RIGHT: dict[str, object] = {
    "/v1/models": {"data": [{"id": "m", "max_model_len": 4096, "meta": {"n_ctx_train": 4096}}]},
    "/props": {"default_generation_settings": {"n_ctx": 4096}},
    "/tokenize": {"tokens": [{"id": 1, "piece": "one"}, {"id": 2, "piece": [32, 116, 119, 111]}], "count": 2},
    "/apply-template": {"prompt": "<one two>"},
    "/v1/embeddings": {"data": [{"index": 0, "embedding": [0.5, 1.0]}]},
}
MARKS = {'"@deep@"': "[" * 1_000 + "]" * 1_000, '"@digits@"': "1" * 5_000}
"""Texts in the place of values that Python can't write as JSON."""
HOSTILE: list[object] = [
    *("@digits@", "@deep@", True, -1, 0, 5, 10**9, 2**31, 10**30, 1.5, 1e308, float("nan"), float("inf")),
    *("", "x", "stop", "length", "error", "tool_calls", "content_filter"),
    *("\ud800", "a\udfffb", "\x00\x1b[31m", "\ufeff"),
    *(None, [], {}, [5], [[]], [{}], [None], {"a": 5}, [-1, 300], {"message": "\ud800"}),
]
HEADS: list[dict[str, str]] = [
    *({}, {"Content-Type": "application/json"}, {"Content-Type": "text/event-stream; charset=klingon"}) * 4,
    {"Content-Encoding": "gzip, br, x"},
    {"Retry-After": "9" * 400},
]


class Sent(NamedTuple):
    body: bytes
    headers: Mapping[str, str] = {}
    status: int = 200


@st.composite
def changed(draw: st.DrawFn, value: object) -> bytes:
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(0, 2))):
        parent: Any = None
        place: Any = None
        inner: Any = value
        while isinstance(inner, dict | list) and inner and draw(st.booleans() | st.just(value=True)):
            parent, place = inner, draw(st.sampled_from(list(inner) if isinstance(inner, dict) else range(len(inner))))
            inner = parent[place]
        if parent is None:
            value = copy.deepcopy(draw(st.sampled_from(HOSTILE)))
        else:
            parent[place] = copy.deepcopy(draw(st.sampled_from(HOSTILE)))
    text = json.dumps(value)
    for mark, meant in MARKS.items():
        text = text.replace(mark, meant)
    return text.encode()


@st.composite
def sent(draw: st.DrawFn, body: bytes, *, status: int = 200) -> Sent:
    place = draw(st.integers(0, len(body)))
    cut, further = body[:place], body[:place] + draw(st.binary(min_size=1, max_size=4)) + body[place:]
    damaged = draw(st.sampled_from([body] * 8 + [cut, further, b"\xef\xbb\xbf" + body]))
    return Sent(damaged, draw(st.sampled_from(HEADS)), status)


@st.composite
def answers_of(draw: st.DrawFn) -> tuple[str, Sent]:
    route = draw(st.sampled_from(["/v1/chat/completions"] * 8 + ["/v1/completions"] * 2 + list(RIGHT)))
    kind = draw(st.sampled_from(["stream", "whole", "error"] if "completions" in route else ["whole", "error"]))
    if kind == "stream":
        events = [draw(changed(event)) for event in draw(st.permutations([*EVENTS, ERROR]))[: draw(st.integers(1, 4))]]
        end = draw(st.sampled_from([b"data: [DONE]\n\n", b"", b"event: \xff\nid: \x00\nretry: 1e9\ndata\n\n"]))
        return route, draw(sent(b"".join(b"data: " + event + b"\n\n" for event in events) + end))
    if kind == "error":
        status = draw(st.sampled_from([302, 400, 401, 413, 429, 500, 529]))
        return route, draw(sent(draw(changed(ERROR)), status=status))
    return route, draw(sent(draw(changed(RIGHT.get(route, WHOLE)))))


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    tried = ("", Sent(b""))

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        answer = self.tried[1] if path == self.tried[0] else Sent(json.dumps(RIGHT.get(path, {})).encode())
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()


Ask = Callable[[str], Generation | None]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Asks what a run asks at a route, with all clients that a run has."""
    with listening(Answering) as url, asyncio.Runner() as runner:
        address = address_of(url)
        asked = connection(address, timeout_s=5.0, requests=1)

        def once(route: str) -> Generation | None:
            if route.endswith("completions"):
                api: Any = "chat" if "chat" in route else "completions"
                request = Request(model="m", prompt=PROMPT, fields={}, api=api, built_tokens=2)
                return runner.run(exchange(asked, request, timeout_s=5.0))
            if route == "/v1/embeddings":
                with client(timeout_s=5.0) as http:
                    made = openai.OpenAI(base_url=address.url, api_key="k", max_retries=0, http_client=http)
                    embeddings(made, "m", address, ["one"])
                return None
            with client(address, timeout_s=5.0) as http:
                "\n".join(detect(http, address, name=None)[0].lines).encode()
                server_of_tokens = TokenServer(http=http, address=address, model="m", api="chat", template_arguments={})
                for kind in TOKENIZERS.values():
                    tokenizer = kind(name="t", server=server_of_tokens)
                    for count in (lambda: tokenizer.starts("one two"), lambda: tokenizer.count_prompt(PROMPT)):  # noqa: B023
                        try:
                            count()
                        except RunError as error:
                            str(error).encode()
            return None

        yield once
        runner.run(asked.close())


@pytest.mark.slow
@settings(max_examples=2_500, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(made=answers_of())
@example(made=("/v1/chat/completions", Sent(b"data: 5\n\n")))
@example(made=("/props", Sent(b"[]")))
def test_every_answer_is_kept_or_is_an_error_of_one_line(made: tuple[str, Sent], ask: Ask, tmp_path: Path) -> None:
    store = Store(tmp_path)
    Answering.tried = made
    try:
        generation = ask(made[0])
    except (ConfigError, RunError) as error:
        str(error).encode()
        return
    except EngineFault as fault:
        store.record_fault("r", "s", fault)
        return
    if generation is None:
        return
    counts = (generation.prompt_tokens, generation.completion_tokens, generation.cached_tokens or 0)
    assert all(0 <= count <= 10**9 for count in (*counts, generation.reasoning_tokens or 0))
    key = hashlib.sha256(repr(made).encode()).hexdigest()
    store.keep(planned("s", "one two", key=key), generation)
    kept = store.generation(key)
    assert kept is not None
    assert replace(kept, ttft_ms=0.0, latency_ms=0.0) == replace(generation, ttft_ms=0.0, latency_ms=0.0)
