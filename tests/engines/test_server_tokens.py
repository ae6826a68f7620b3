"""Tokens by a server's own routes: places of tokens in a text, the chat template, and connections that are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.engines.openai.http import address_of, client
from contextcliff.engines.openai.tokens import LlamaServerTokenizer, TokenServer, piece_starts
from contextcliff.errors import RunError
from contextcliff.records.sample import Prompt
from tests.engines.fake_server import listening

Pieces = Sequence[str | Sequence[int]]


@pytest.mark.parametrize(
    ("text", "pieces", "starts"),
    [
        ("harbour", ["harb", "our"], [0, 4]),
        ("Hello world", [" Hello", " world"], [0, 5]),
        ("a▁b", [" a", " b"], [0, 1]),
        ("▁▁x ▁ y", ["  ", " x", "  ", " y"], [0, 1, 3, 5]),
        ("日🙂", [" ", "日", [240, 159], [153, 130]], [0, 0, 1, 1]),
        ("one", ["one", ""], [0, 2]),
        ("", [], []),
    ],
)
def test_each_token_begins_where_its_first_character_stands(text: str, pieces: Pieces, starts: list[int]) -> None:
    assert piece_starts(text, pieces) == starts


@pytest.mark.parametrize("pieces", [["harb", "or"], ["harbour", "<unk>"], ["harb", [255]], ["harb"], ["Harbour"]])
def test_pieces_of_another_text_have_no_places(pieces: Pieces) -> None:
    assert piece_starts("harbour", pieces) is None


_SIGNS = "ab  ▁\n\rÉｶ㍿日🙂"


@given(st.text(alphabet=_SIGNS, max_size=30), st.booleans(), st.data())
def test_starts_ascend_within_the_text_one_for_each_token(text: str, blank: bool, data: st.DataObject) -> None:
    encoded = (f" {text}".replace("▁", " ") if blank else text).encode()
    cuts = data.draw(st.sets(st.integers(1, max(1, len(encoded) - 1)), max_size=8))
    edges = sorted({0, len(encoded), *(cut for cut in cuts if cut < len(encoded))})
    pieces = [list(encoded[a:b]) for a, b in pairwise(edges)]
    starts = piece_starts(text, pieces)
    assert starts is not None
    assert starts == sorted(starts)
    assert all(0 <= start < len(text) for start in starts)
    assert len(starts) == (len(pieces) if text else 0)
    assert starts[:1] == [0][: len(starts)]


class _Counting(BaseHTTPRequestHandler):
    """Counts letters as tokens, once on each connection, which then closes without a word."""

    protocol_version = "HTTP/1.1"
    requests = 0
    most_answers = 1

    def setup(self) -> None:
        super().setup()
        self.answered = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).requests += 1
        self.close_connection = self.answered >= self.most_answers
        if self.close_connection:
            return
        content = b'{"tokens": [1, 2, 3]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.answered += 1


@contextmanager
def counter(handler: type[_Counting]) -> Iterator[LlamaServerTokenizer]:
    with listening(handler) as url, client(address_of(url), timeout_s=5.0) as http:
        server = TokenServer(http=http, address=address_of(url), model="m", api="completions", template_arguments={})
        yield LlamaServerTokenizer(name="l", server=server)


@pytest.mark.parametrize(("most_answers", "requests"), [(1_000, 3), (1, 5)])
def test_a_question_on_a_kept_connection_that_was_closed_meanwhile_is_asked_again(
    most_answers: int, requests: int
) -> None:
    handler = type("Counting", (_Counting,), {"most_answers": most_answers})
    with counter(handler) as tokenizer:
        assert [tokenizer.count_prompt(Prompt(user="abc")) for _ in range(3)] == [3] * 3
    assert handler.requests == requests  # type: ignore[attr-defined]


def test_a_server_that_never_answers_is_asked_twice_and_no_more() -> None:
    handler = type("Counting", (_Counting,), {"most_answers": 0})
    with counter(handler) as tokenizer, pytest.raises(RunError, match="/tokenize: the server can't count tokens"):
        tokenizer.count_prompt(Prompt(user="abc"))
    assert handler.requests == 2  # type: ignore[attr-defined]
