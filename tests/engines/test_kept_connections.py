"""Questions about tokens go over a kept connection, and one that the server closes meanwhile costs nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from contextcliff.engines.openai.http import ApiKey, client
from contextcliff.engines.openai.server_json import list_at
from contextcliff.engines.openai.tokens import LlamaServerTokenizer, TokenServer
from contextcliff.errors import RunError


class _Counting(BaseHTTPRequestHandler):
    """Counts letters as tokens, over connections that stay open."""

    protocol_version = "HTTP/1.1"
    connections = 0
    requests = 0
    closes_after = 1_000_000
    """Answers of a connection, which then closes without a word."""
    answers = True

    def setup(self) -> None:
        super().setup()
        self.answered = 0
        type(self).connections += 1

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).requests += 1
        self.close_connection = True
        if not self.answers or self.answered >= self.closes_after:
            return
        content = b'{"tokens": [1, 2, 3]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.answered += 1
        self.close_connection = False

    def log_message(self, *_: object) -> None:
        return


class _Listening(ThreadingHTTPServer):
    daemon_threads = True


@pytest.fixture
def counting() -> type[_Counting]:
    return type("Counting", (_Counting,), {})


@pytest.fixture
def tokenizer(counting: type[_Counting]) -> Iterator[LlamaServerTokenizer]:
    with _Listening(("127.0.0.1", 0), counting) as listening, client(timeout_s=5.0, asks_again=True) as http:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        server = TokenServer(
            http=http,
            root=f"http://127.0.0.1:{listening.server_port}",
            key=ApiKey(),
            model="m",
            api="completions",
            template_arguments={},
        )
        yield LlamaServerTokenizer(name="l", server=server)
        listening.shutdown()


def count(tokenizer: LlamaServerTokenizer) -> int:
    return len(list_at(tokenizer.server.post("/tokenize", {"content": "abc"}), "tokens"))


def test_all_questions_go_over_one_connection(counting: type[_Counting], tokenizer: LlamaServerTokenizer) -> None:
    assert [count(tokenizer) for _ in range(5)] == [3] * 5
    assert (counting.connections, counting.requests) == (1, 5)


def test_a_question_on_a_connection_that_was_closed_meanwhile_is_asked_again(
    counting: type[_Counting], tokenizer: LlamaServerTokenizer
) -> None:
    counting.closes_after = 1
    assert [count(tokenizer) for _ in range(3)] == [3] * 3
    assert counting.connections == 3


def test_a_server_that_never_answers_is_asked_twice_and_no_more(
    counting: type[_Counting], tokenizer: LlamaServerTokenizer
) -> None:
    counting.answers = False
    with pytest.raises(RunError, match="/tokenize: the server can't count tokens"):
        count(tokenizer)
    assert counting.requests == 2
