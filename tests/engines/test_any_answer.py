"""Whatever a server sends is an answer that can be kept, or one line of an error: never a traceback."""

from __future__ import annotations

import asyncio
import copy
import gzip
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from contextcliff.annotation.embedding import embeddings
from contextcliff.engines.openai.detection import detect
from contextcliff.engines.openai.exchange import Request, exchange
from contextcliff.engines.openai.http import ApiKey, async_client, client
from contextcliff.engines.openai.tokens import TOKENIZERS, TokenServer
from contextcliff.errors import ConfigError, EngineFault, RunError
from contextcliff.execution.store import Fault, Store
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Prompt
from tests.execution.planned_samples import planned

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
MODELS = {"data": [{"id": "m", "max_model_len": 4096, "meta": {"n_ctx_train": 4096}}]}
PROPS = {"default_generation_settings": {"n_ctx": 4096}, "chat_template": "x"}
RIGHT: dict[str, object] = {
    "/v1/models": MODELS,
    "/props": {},
    "/api/extra/true_max_context_length": {},
    "/api/extra/tokencount": {"value": 3},
    "/tokenize": {"tokens": [{"id": 1, "piece": "one"}, {"id": 2, "piece": [32, 116, 119, 111]}], "count": 2},
    "/apply-template": {"prompt": "<one two>"},
    "/v1/embeddings": {"data": [{"index": 0, "embedding": [0.5, 1.0]}]},
}
"""What a server answers at the routes that are not tried."""
TRIED: dict[str, object] = {"/props": PROPS, "/api/extra/true_max_context_length": {"value": 4096}}
"""What a server answers at routes that would hide others."""
MARKS = {'"@deep@"': "[" * 1_000 + "]" * 1_000, '"@digits@"': "1" * 5_000, '"@shallow@"': "[" * 150 + "]" * 150}
"""Texts in the place of values that Python can't write as JSON."""
NUMBERS = [True, -1, 0, 5, 10**9, 2**31, 10**30, 1.5, 1e308, float("nan"), float("inf"), "@digits@"]
ENDS = ["stop", "length", "error", "tool_calls", "content_filter"]
TEXTS = ["", "x", *ENDS, "\ud800", "a\udfffb", "\x00\x1b[31m", "\ufeff"]
PARTS: list[object] = [[], {}, [5], [[]], [{}], [None], {"a": 5}, [-1, 300], {"message": "\ud800"}]
NESTED: list[object] = [None, *PARTS, "@deep@", "@shallow@"]
HOSTILE = st.sampled_from([*NUMBERS, *TEXTS, *NESTED])


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One answer: its status, headers and bytes."""

    status: int = 200
    headers: Mapping[str, str]
    body: bytes


@st.composite
def changed(draw: st.DrawFn, value: object) -> object:
    """The value with some parts of it, or the whole of it, replaced."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(0, 2))):
        parent: Any = None
        place: Any = None
        inner: Any = value
        while isinstance(inner, dict | list) and inner and draw(st.booleans() | st.just(value=True)):
            keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
            parent, place = inner, draw(st.sampled_from(keys))
            inner = parent[place]
        if parent is None:
            value = copy.deepcopy(draw(HOSTILE))
        else:
            parent[place] = copy.deepcopy(draw(HOSTILE))
    return value


def written(value: object) -> bytes:
    text = json.dumps(value)
    for mark, meant in MARKS.items():
        text = text.replace(mark, meant)
    return text.encode()


HEADS = st.sampled_from(
    [{}] * 4
    + [{"Content-Type": "application/json"}] * 4
    + [{"Content-Type": "text/event-stream"}] * 4
    + [{"Content-Type": "application/json; charset=hex"}, {"Content-Type": "text/event-stream; charset=klingon"}]
    + [{"Content-Encoding": "gzip"}, {"Content-Encoding": "deflate"}, {"Content-Encoding": "br, zstd, x"}]
    + [{"Content-Encoding": "gzip, " * 7 + "gzip"}, {"Content-Type": "text/html"}, {"Retry-After": "9" * 400}]
)


@st.composite
def sent(draw: st.DrawFn, body: bytes, *, status: int = 200) -> Sent:
    """A body with a head of its own, maybe damaged."""
    kind = draw(st.sampled_from(["whole"] * 8 + ["cut", "mark", "bytes", "zipped"]))
    place = draw(st.integers(0, len(body)))
    headers = draw(HEADS)
    match kind:
        case "cut":
            body = body[:place]
        case "mark":
            body = b"\xef\xbb\xbf" + body
        case "bytes":
            body = body[:place] + draw(st.binary(min_size=1, max_size=4)) + body[place:]
        case "zipped":
            body, headers = gzip.compress(body), {**headers, "Content-Encoding": "gzip"}
    return Sent(status=status, headers=headers, body=body)


@st.composite
def streams(draw: st.DrawFn) -> Sent:
    events = [written(draw(changed(event))) for event in draw(st.permutations(EVENTS))[: draw(st.integers(1, 3))]]
    lines = [b"data: " + event + b"\n\n" for event in (EVENTS_AS_SENT if draw(st.booleans()) else events)]
    lines.insert(draw(st.integers(0, len(lines))), b"data: " + written(draw(changed(ERROR | EVENTS[0]))) + b"\n\n")
    ends = [b"data: [DONE]\n\n", b"data: [DONE]", b"", b"\r\n", b"event: \xff\nid: \x00\nretry: 1e9\ndata\n\n"]
    return draw(sent(b"".join(lines) + draw(st.sampled_from(ends))))


EVENTS_AS_SENT = [json.dumps(event).encode() for event in EVENTS]


@st.composite
def answers_of(draw: st.DrawFn) -> tuple[str, Sent]:
    """A route and what the server answers there."""
    chat = "/v1/chat/completions"
    route = draw(st.sampled_from([chat] * 8 + ["/v1/completions"] * 2 + list(RIGHT)))
    kind = draw(
        st.sampled_from(["stream", "stream", "whole", "error"] if "completions" in route else ["whole"] * 3 + ["error"])
    )
    if kind == "stream":
        return route, draw(streams())
    if kind == "error":
        status = draw(st.sampled_from([300, 302, 400, 401, 403, 404, 408, 413, 422, 429, 500, 503, 529]))
        return route, draw(sent(written(draw(changed(ERROR))), status=status))
    return route, draw(sent(written(draw(changed((RIGHT | TRIED).get(route, WHOLE))))))


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    route = ""
    sent = Sent(headers={}, body=b"")

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        answer = Sent(headers={}, body=json.dumps(RIGHT.get(path, {})).encode())
        if path == self.route:
            answer = self.sent
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        return


@dataclass(frozen=True, kw_only=True)
class Asking:
    """A server whose next answer can be set, and all clients that a run has."""

    handler: type[_Answering]
    address: str
    runner: asyncio.Runner
    connection: openai.AsyncOpenAI
    http: httpx2.Client

    def ask(self, route: str, *, streams: bool) -> Generation | None:
        """What a run asks at this route."""
        if route.endswith("completions"):
            request = Request(
                model="m",
                prompt=Prompt(user="one two"),
                fields={"max_tokens": 9},
                streams=streams,
                stream_usage=streams,
                api="chat" if "chat" in route else "completions",
                built_tokens=2,
            )
            return self.runner.run(exchange(self.connection, request, timeout_s=5.0))
        if route == "/v1/embeddings":
            with openai.OpenAI(
                base_url=f"{self.address}/v1", api_key="k", max_retries=0, http_client=client(timeout_s=5.0)
            ) as connection:
                embeddings(connection, "m", ApiKey(), ["one"])
            return None
        facts = detect(self.http, f"{self.address}/v1", ApiKey(), name=None)
        "\n".join(facts.lines()).encode()
        for made in TOKENIZERS.values():
            server = TokenServer(
                http=self.http, root=self.address, key=ApiKey(), model=facts.model, api="chat", template_arguments={}
            )
            tokenizer = made(name="t", server=server)
            for count in (
                partial(tokenizer.starts, "one two"),
                partial(tokenizer.count_prompt, Prompt(user="one two")),
            ):
                try:
                    count()
                except RunError as error:
                    str(error).encode()
        return None


@pytest.fixture(scope="module")
def asking() -> Iterator[Asking]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answering) as server, asyncio.Runner() as runner:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        connection = openai.AsyncOpenAI(
            base_url=f"{address}/v1", api_key="k", max_retries=0, http_client=async_client(timeout_s=5.0, connections=1)
        )
        with client(timeout_s=5.0) as http:
            yield Asking(handler=_Answering, address=address, runner=runner, connection=connection, http=http)
        runner.run(connection.close())
        server.shutdown()


@pytest.mark.slow
@settings(max_examples=2_500, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(made=answers_of(), streams=st.booleans())
@example(made=("/v1/chat/completions", Sent(headers={}, body=b"data: 5\n\n")), streams=True)
@example(made=("/props", Sent(headers={}, body=b"[]")), streams=True)
def test_every_answer_is_kept_or_is_an_error_of_one_line(
    made: tuple[str, Sent], streams: bool, asking: Asking, tmp_path: Path
) -> None:
    store = Store(tmp_path)
    asking.handler.route, asking.handler.sent = made
    try:
        generation = asking.ask(made[0], streams=streams)
    except (ConfigError, RunError) as error:
        str(error).encode()
        return
    except EngineFault as fault:
        store.record_fault("r", "s", Fault(kind=fault.kind, detail=fault.detail))
        return
    if generation is None:
        return
    counts = (generation.prompt_tokens, generation.completion_tokens, generation.cached_tokens or 0)
    assert all(0 <= count <= 10**9 for count in (*counts, generation.reasoning_tokens or 0))
    key = hashlib.sha256(repr((made[0], made[1].body, streams)).encode()).hexdigest()
    store.keep(planned("s", "one two", key=key), generation)
    kept = store.generation(key)
    assert kept is not None
    assert replace(kept, ttft_ms=0.0, latency_ms=0.0) == replace(generation, ttft_ms=0.0, latency_ms=0.0)
