"""No user, password or key of an address is shown, whatever signs they are made of."""

from __future__ import annotations

from urllib.parse import quote

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.engines.openai.http import address_of
from contextcliff.errors import ConfigError, shown_text, shown_value

PASSWORDS = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=6, max_size=20)


@pytest.mark.parametrize(
    ("given_address", "shown"),
    [
        ("http://user:secret@host:8000/v1", "http://host:8000/v1"),
        ("http://user:se@cr@et@host/v1", "http://host/v1"),
        ("http://user:pa/ss@host/v1", "http://host/v1"),
        ("http://token@host", "http://host"),
        ("http://host/v1?api_key=secret&api-version=2", "http://host/v1?api_key=***&api-version=2"),
        ("https://host/v1beta/openai?key=secret", "https://host/v1beta/openai?key=***"),
        ("postgresql://me:secret@db/x?password=secret", "postgresql://db/x?password=***"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("http://host:8000/models/a@b", "http://host:8000/models/a@b"),
        ("a city and a number", "a city and a number"),
        ("see http://example.com, or mail me@example.com", "see http://example.com, or mail me@example.com"),
    ],
)
def test_an_address_is_shown_without_what_opens_it(given_address: str, shown: str) -> None:
    assert shown_value(given_address) == shown
    assert shown_text(f"error: {given_address} is down") == f"error: {shown} is down"
    assert shown_value(f"engine.base_url='{given_address}'") == f"engine.base_url='{shown}'"


@given(PASSWORDS)
def test_a_password_is_sent_as_it_was_meant_and_never_shown(password: str) -> None:
    url = f"http://user:{quote(password, safe='')}@host:8000/v1"
    address = address_of(url)
    assert (address.url, address.login) == ("http://host:8000/v1", f"user:{password}")
    assert shown_value(url) == "http://host:8000/v1"
    assert password not in repr(address)
    assert address.hide_in(f"no: {password}") == "no: ***"


@given(PASSWORDS)
def test_a_key_behind_the_address_is_sent_as_it_was_meant_and_never_shown(key: str) -> None:
    url = f"http://host/v1?api_key={quote(key, safe='')}&version=2"
    address = address_of(url)
    assert address.parameters == {"api_key": key, "version": "2"}
    assert address.identity == "http://host/v1?version=2"
    assert shown_value(url) == "http://host/v1?api_key=***&version=2"
    assert key not in repr(address)


@pytest.mark.parametrize("url", ["http://user:pa/ss@host/v1", "http://user:hunter2#x@host/v1"])
def test_a_password_that_breaks_its_address_says_how_to_write_it(url: str) -> None:
    with pytest.raises(ConfigError) as raised:
        address_of(url)
    assert str(raised.value) == (
        "engine.base_url: is not an address; write http://HOST:PORT, and the signs / ? # of a password as %2F %3F %23"
    )


def test_vertex_keeps_its_path() -> None:
    url = "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/endpoints/openapi"
    assert address_of(url).url == url
    assert address_of(f"{url}/chat/completions").url == url


def test_what_is_parsed_is_what_httpx_would_send() -> None:
    url = httpx2.URL("http://us%20er:p%40ss@host/v1")
    assert address_of(str(url)).login == f"{url.username}:{url.password}" == "us er:p@ss"
