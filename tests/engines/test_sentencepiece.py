"""Tokens of SentencePiece models find their places in the text: they begin with a blank, and change some signs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.engines.openai.http import ApiKey
from contextcliff.engines.openai.tokens import LlamaServerTokenizer, TokenServer, piece_starts

Pieces = Sequence[str | Sequence[int]]


@pytest.mark.parametrize(
    ("text", "pieces", "starts"),
    [
        ("harbour", ["harb", "our"], [0, 4]),
        ("Hello world", [" Hello", " world"], [0, 5]),
        (" Hello", [" ", " Hello"], [0, 0]),
        ("a▁b", [" a", " b"], [0, 1]),
        ("▁▁x ▁ y", ["  ", " x", "  ", " y"], [0, 1, 3, 5]),
        ("x\r\n y", [" x", "\r", "\n", " y"], [0, 1, 2, 3]),
        ("<s>Hello</s> you", ["<s>", " Hello", "</s>", " ", " you"], [0, 3, 8, 12, 13]),
        ("<|end|>  you", ["<|end|>", "you"], [0, 9]),
        ("one  two ", ["one", " two"], [0, 3]),
        ("  one", ["one"], [0]),
        ("日🙂", [" ", "日", [240, 159], [153, 130]], [0, 0, 1, 1]),
        ("Ａb ㍿ x", [" Ab", " 株式", "会社", " x"], [0, 2, 3, 4]),
        ("One", ["one", ""], [0, 2]),
        ("e\u0301x", ["é", "x"], [0, 2]),
        ("", [], []),
        ("\n", [" ", "\n"], [0, 0]),
    ],
)
def test_each_token_begins_where_its_first_character_stands(text: str, pieces: Pieces, starts: list[int]) -> None:
    assert piece_starts(text, pieces) == starts


@pytest.mark.parametrize("pieces", [["harb", "or"], ["harbour", "<unk>"], ["harb", [255]], ["harb"]])
def test_pieces_of_another_text_have_no_places(pieces: Pieces) -> None:
    assert piece_starts("harbour", pieces) is None


_SIGNS = "ab  ▁\n\rÉｶ㍿日🙂"


@given(st.text(alphabet=_SIGNS, max_size=30), st.booleans(), st.booleans(), st.data())
def test_starts_ascend_within_the_text_one_for_each_token(
    text: str, blank: bool, drops: bool, data: st.DataObject
) -> None:
    said = " ".join(text.split()) if drops else text
    encoded = f"{' ' * blank}{said}".replace("▁", " ").encode()
    cuts = data.draw(st.sets(st.integers(1, max(1, len(encoded) - 1)), max_size=8))
    edges = sorted({0, len(encoded), *(cut for cut in cuts if cut < len(encoded))})
    pieces = [list(encoded[a:b]) for a, b in pairwise(edges)]
    starts = piece_starts(text, pieces)
    assert starts is not None
    assert starts == sorted(starts)
    assert all(0 <= start < len(text) for start in starts)
    assert len(starts) == (len(pieces) if text else 0)
    assert starts[:1] == [0][: len(starts)]


class Unknown(TokenServer):
    """A server whose model has no token for a sign, and tells no bytes of it."""

    def post(self, path: str, body: Any) -> Any:
        return {"tokens": [{"piece": "<unk>" if sign == "🙂" else sign} for sign in body["content"]]}


def test_tokens_without_places_are_counted_line_by_line() -> None:
    server = Unknown(http=None, root="", key=ApiKey(), model="m", api="chat", template_arguments={})  # type: ignore[arg-type]
    tokenizer = LlamaServerTokenizer(name="l", server=server)
    plain, text = "ten words of a plain text, " * 30, "and one 🙂 of them. " * 30
    assert list(tokenizer.starts(plain)) == list(range(len(plain)))
    assert not tokenizer.has_estimated
    assert list(tokenizer.starts(text)) == list(range(len(text)))
    assert tokenizer.has_estimated
