"""A small OpenAI-compatible server on loopback whose answers a test chooses."""

from __future__ import annotations

import base64
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from contextcliff.text.tokenizers import WordTokenizer

NUMBER = re.compile(r"The special magic (\w+) number is: (\d+)\.")
ASKED = re.compile(r"What is the special magic (\w+) number\?")


@dataclass
class FakeServer:
    """Answers needle questions rightly. `routes` are further GET routes; `refuses` are field names that earn a 400."""

    models: list[dict[str, Any]] = field(default_factory=lambda: [{"id": "only-model"}])
    routes: Mapping[str, object] = field(default_factory=dict)
    counts: str | None = None
    """The route by which it counts tokens as its model does: vLLM's `/tokenize` or KoboldCpp's."""
    refuses: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    login: str | None = None
    """`user:password` of HTTP's basic authorisation, in the place of a key."""
    parameter: str | None = None
    """`NAME=VALUE` that every request has to carry in its address."""
    listing: tuple[int, object] | None = None
    """Status and body of `/v1/models` where it is no list."""
    ignores_stream: bool = False
    reads_tokens: int | None = None
    """Reads no more than so many tokens of a prompt, and says nothing."""
    thinks: str | None = None
    fault: Callable[[int], str | None] = lambda _: None
    """Names the fault of the n-th request: a key of `FAULTS`, or None for an honest answer."""
    errors: Mapping[str, tuple[int, object]] = field(default_factory=dict)
    finishes: Callable[[int], str] = lambda _: "stop"
    speaks: Callable[[int], int] = lambda _: 4
    """Tokens of the answer to a prompt of so many tokens; of an answer without one the text is empty."""
    overcounts: int = 1
    pause_s: float = 0.0
    lingers_s: float = 0.0
    """Time that a stream stays open behind its whole answer, without `[DONE]`."""
    embeds: Callable[[str], list[float]] | None = None
    """The vector of a text; None: there is no such route."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    embedded: list[str] = field(default_factory=list)
    address: str = ""

    def answer(self, prompt: str) -> str:
        asked = ASKED.search(prompt)
        known = dict(NUMBER.findall(prompt))
        return known.get(asked[1], "I do not know.") if asked is not None else "Hello."

    def reply(self, messages: list[dict[str, str]]) -> str:
        """What the model says in a conversation; by default the last message alone counts."""
        return self.answer(messages[-1]["content"])


class _Server(ThreadingHTTPServer):
    # Python's default of 5 lets the kernel reset connections of a client that opens sixteen at once.
    request_queue_size = 256
    daemon_threads = True


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler], *, port: int = 0) -> Iterator[str]:
    """The address of a server on a port of loopback, by default a free one, whose requests a handler answers."""
    handler.log_message = lambda *_: None  # type: ignore[method-assign]
    with _Server(("127.0.0.1", port), handler) as server:
        # Half a second is Python's default: every test would wait for it at the end.
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def serving(server: FakeServer, *, port: int = 0) -> Iterator[FakeServer]:
    """Let a server answer on a port of loopback."""

    class Handler(_Handler):
        fake = server

    with listening(Handler, port=port) as server.address:
        yield server


class _Handler(BaseHTTPRequestHandler):
    fake: FakeServer

    def do_GET(self) -> None:
        if self._refused_key():
            return
        if self.path == "/v1/models" and self.fake.listing is not None:
            self._json(*self.fake.listing)
        elif self.path == "/v1/models":
            self._json(200, {"object": "list", "data": self.fake.models})
        elif self.path in self.fake.routes:
            self._json(200, self.fake.routes[self.path])
        else:
            self._json(404, {"error": {"message": "no such route"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._refused_key():
            return
        if self.path == "/v1/embeddings" and self.fake.embeds is not None:
            self._embed(body, self.fake.embeds)
            return
        if self.path != "/v1/chat/completions":
            self._count(body)
            return
        self.fake.bodies.append(body)
        fault = self.fake.fault(len(self.fake.bodies))
        if fault is not None and fault in self.fake.errors:
            self._json(*self.fake.errors[fault])
            return
        if fault is not None:
            (FAULTS | REFUSALS)[fault](self)
            return
        time.sleep(self.fake.pause_s)
        for name, message in self.fake.refuses.items():
            if name in body:
                self._json(400, {"error": {"message": message}})
                return
        tokens = sum(len(WordTokenizer().starts(message["content"])) for message in body["messages"])
        read = tokens if self.fake.reads_tokens is None else min(tokens, self.fake.reads_tokens)
        self._say(body, self.fake.reply(body["messages"]), read * self.fake.overcounts)

    def _refused_key(self) -> bool:
        self.path, _, query = self.path.partition("?")
        carried = self.fake.parameter is None or self.fake.parameter in query.split("&")
        expected = None if self.fake.key is None else f"Bearer {self.fake.key}"
        if self.fake.login is not None:
            expected = f"Basic {base64.b64encode(self.fake.login.encode()).decode()}"
        if carried and expected in (None, self.headers.get("Authorization")):
            return False
        sent = self.headers.get("Authorization", "none")
        self._json(401, {"error": {"message": f"wrong key: {sent}"}})
        return True

    def _embed(self, body: dict[str, Any], embeds: Callable[[str], list[float]]) -> None:
        self.fake.embedded += body["input"]
        data = [
            {"object": "embedding", "index": place, "embedding": embeds(text)}
            for place, text in enumerate(body["input"])
        ]
        # Out of order, as the protocol allows.
        self._json(200, {"object": "list", "model": body["model"], "data": data[::-1], "usage": {
            "prompt_tokens": 1, "total_tokens": 1}})  # fmt: skip

    def _count(self, body: dict[str, Any]) -> None:
        if self.path != self.fake.counts:
            self._json(404, {"error": {"message": "no such route"}})
            return
        text = body["prompt"] if "prompt" in body else body["messages"][-1]["content"]
        tokens = len(WordTokenizer().starts(text))
        # KoboldCpp's count holds the token that begins every text.
        self._json(200, {"count": tokens, "value": tokens + 1, "max_model_len": 1024})

    def _say(self, body: dict[str, Any], text: str, tokens: int) -> None:
        spoken = self.fake.speaks(tokens)
        text = text if spoken else ""
        usage = {"prompt_tokens": tokens, "completion_tokens": spoken, "total_tokens": tokens + spoken}
        whole = {"id": "1", "created": 1, "model": "only-model"}
        if self.fake.ignores_stream or not body.get("stream"):
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": self.fake.finishes(len(self.fake.bodies))}
            self._json(200, {**whole, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        self._stream_head()
        finish_reason = self.fake.finishes(len(self.fake.bodies))
        deltas: list[tuple[dict[str, str], str | None]] = [({"content": text}, None), ({}, finish_reason)]
        if self.fake.thinks is not None:
            deltas.insert(0, ({"reasoning_content": self.fake.thinks}, None))
        for delta, finish in deltas:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            self._event({**whole, "object": "chat.completion.chunk", "choices": [choice]})
        if body.get("stream_options"):
            self._event({**whole, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        if self.fake.lingers_s:
            time.sleep(self.fake.lingers_s)
            return
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, event: object) -> None:
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

    def _json(self, status: int, body: object, *, retry_after: str = "") -> None:
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(content)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(content)

    def _stream_head(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _cut_off(self) -> None:
        self._stream_head()
        choice = {"index": 0, "delta": {"content": "12"}, "finish_reason": None}
        self._event({"id": "1", "created": 1, "model": "m", "object": "chat.completion.chunk", "choices": [choice]})

    def _babble(self) -> None:
        self._stream_head()
        self.wfile.write(b"data: {nonsense\n\n")

    def _refuse(self, status: int) -> None:
        self._json(status, {"error": {"message": "not now"}}, retry_after="0.01")


FAULTS: dict[str, Callable[[_Handler], None]] = {
    "hangs up": _Handler._hang_up,
    "stream cut off": _Handler._cut_off,
    "stream of nonsense": _Handler._babble,
    **{str(status): partial(_Handler._refuse, status=status) for status in (408, 409, 425, 429, 500, 502, 503, 504)},
}

REFUSALS: dict[str, Callable[[_Handler], None]] = {
    str(status): partial(_Handler._refuse, status=status) for status in (401, 403, 404)
}
"""What no retry can mend."""
