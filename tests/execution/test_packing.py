"""Rows of the store in few bytes: what was packed comes back, and nothing else is taken for it."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.execution import packing
from contextcliff.execution.packing import digest_of_packed, json_of_packed, packed_digest, packed_json, teach
from contextcliff.seeding import digest_of

TEXTS = st.text(st.characters(codec="utf-8"), max_size=200)


@given(TEXTS)
def test_what_was_packed_comes_back(text: str) -> None:
    assert json_of_packed(packed_json(text)) == text
    assert digest_of_packed(packed_digest(text)) == text


@given(st.binary(min_size=32, max_size=32))
def test_a_digest_takes_half_its_letters(data: bytes) -> None:
    assert packed_digest(data.hex()) == data
    assert digest_of_packed(data) == data.hex()


@pytest.mark.parametrize("key", ["", "key-1", "A" * 64, "é" * 64, f" {'a' * 62} ", digest_of("x")[:-2]])
def test_a_key_that_is_no_digest_stays_a_text(key: str) -> None:
    assert packed_digest(key) == key


@given(TEXTS, st.data())
def test_a_changed_byte_is_found(text: str, data: st.DataObject) -> None:
    packed = bytearray(packed_json(text))
    packed[data.draw(st.integers(0, len(packed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        assert json_of_packed(bytes(packed)) == text
    except (ValueError, zlib.error):
        return


@pytest.mark.parametrize("packed", [None, 1, "{}", b"", packed_json("{}")[:-1]])
def test_what_was_not_packed_is_refused(packed: object) -> None:
    with pytest.raises(ValueError, match="a packed row"):
        json_of_packed(packed)


@pytest.mark.parametrize("packed", [b"{}", zlib.compress(b"{}")[:1] + b"\0"])
def test_bytes_of_something_else_are_refused(packed: bytes) -> None:
    with pytest.raises(zlib.error):
        json_of_packed(packed)


def test_a_few_bytes_do_not_unpack_to_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_MOST_BYTES", 1_000)
    with pytest.raises(ValueError, match="a packed row is too long"):
        json_of_packed(packed_json(" " * 1_001))


def test_a_connection_is_taught_all_three_and_leaves_what_it_cannot_read() -> None:
    digest = digest_of("x")
    with closing(sqlite3.connect(":memory:")) as connection:
        teach(connection)
        (row,) = connection.execute(
            "SELECT packed_digest(?), json_of_packed(packed_json('{}')), json_of_packed(x'00'), packed_json(x'00'), "
            "packed_digest(NULL)",
            (digest,),
        )
    assert row == (bytes.fromhex(digest), "{}", b"\0", b"\0", None)


def test_rows_of_the_second_layout_are_read_for_ever() -> None:
    packed = bytes.fromhex(FROM_THE_SECOND_LAYOUT)
    assert json_of_packed(packed) == '{"text":"4030729","finish_reason":"stop","prompt_tokens":1021}'


FROM_THE_SECOND_LAYOUT = "78bb05f4c631835b06753149e9bc160063aa1408"
