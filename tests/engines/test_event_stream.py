"""Server-sent events are read alike however the connection cuts them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import pairwise

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.engines.openai.event_stream import choices, count, events, part, words

EVENTS = [{"choices": [{"delta": {"content": "été\r\n"}}]}, {"usage": {"prompt_tokens": 7}}]


class Cut(httpx2.AsyncByteStream):
    """A body in pieces."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.pieces = pieces
        self.sent = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            self.sent += 1
            yield piece


def read(body: Cut) -> list[Mapping[str, object]]:
    async def all_of() -> list[Mapping[str, object]]:
        response = httpx2.Response(200, stream=body, request=httpx2.Request("POST", "http://m"))
        return [event async for event in events(response)]

    return asyncio.run(all_of())


def body_of(end: str, *, bare: bool = False) -> bytes:
    colon = "data:" if bare else "data: "
    lines = [": a comment", "event: chunk", *(f"{colon}{json.dumps(e, ensure_ascii=False)}{end}" for e in EVENTS)]
    return end.join([*lines, f"{colon}[DONE]", "", ""]).encode()


@given(st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.lists(st.integers(0, 200), max_size=12))
def test_events_are_the_same_however_they_are_cut(end: str, bare: bool, cuts: list[int]) -> None:
    whole = body_of(end, bare=bare)
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(edges)]
    assert read(Cut(pieces)) == EVENTS


def test_what_comes_behind_the_end_is_read_and_dropped() -> None:
    body = Cut([b"data: [DONE]\n\n", b'data: {"choices": []}\n\n', b"rest"])
    assert read(body) == []
    assert body.sent == 3


def test_an_event_of_several_lines_is_one_and_an_unended_one_is_none() -> None:
    assert read(Cut([b'data: {"a":\ndata: 1}\n\ndata: {"b": 2}'])) == [{"a": 1}]


def test_what_is_no_object_is_passed_over() -> None:
    assert read(Cut([b'data: [1]\n\ndata: "x"\n\ndata: null\n\ndata: {}\n\n'])) == [{}]


def test_bytes_that_are_no_text_break_no_event() -> None:
    assert read(Cut([b'data: {"a": "\xff"}\n\n'])) == [{"a": "\N{REPLACEMENT CHARACTER}"}]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ({"message": "too busy"}, "too busy"),
        ({"code": 5}, "An error occurred during streaming"),
        ("overloaded", "An error occurred during streaming"),
    ],
)
def test_an_error_inside_the_stream_is_raised_with_its_body(error: object, message: str) -> None:
    with pytest.raises(openai.APIError) as raised:
        read(Cut([b"data: " + json.dumps({"error": error}).encode() + b"\n\n"]))
    assert (raised.value.message, raised.value.body) == (message, error)


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
NAMES = st.sampled_from(["choices", "delta", "content", "usage", "n"])
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)


@given(ANYTHING)
def test_an_event_of_any_form_is_read_without_an_error(value: object) -> None:
    event = {"choices": value, "usage": value, "content": value, "n": value}
    for choice in choices(event):
        assert isinstance(words(part(choice, "delta"), "content"), str)
    assert count(part(event, "usage"), "n") is None or isinstance(count(part(event, "usage"), "n"), int)
