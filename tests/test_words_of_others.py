"""What others say is printed without anything that a terminal obeys, and no address with a user, password or key."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.engines.openai.http import address_of
from contextcliff.errors import ConfigError, one_line, print_error, shown_text, shown_value, tell, visible
from contextcliff.reporting.text import tame
from tests.commands import SIMULATED, contextcliff
from tests.engines.fake_server import FakeServer, serving

SIGNS = {
    "a title": "\x1b]0;owned\x07",
    "a link": "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\",
    "a colour": "\x1b[31m",
    "a line drawn over": "right\rwrong",
    "a direction": "\u202egnp.exe\u2066",
    "a control of the second set": "\x9b2J\x85\x90",
    "a backspace": "ab\x08\x08",
    "what has no width": "a\u200bb\ufeff\U000e0041",
    "half a pair": "\udc9b",
}
ALL = " ".join(SIGNS.values())
SHOWN = r"\x1b]0;owned\x07"
TASK = ("task.lengths=[512]", "task.depths=[0.5]", "task.trials=1", "dataset=synthetic", "tracking=none")


def is_harmless(text: str) -> bool:
    return all(char.isprintable() or char == "\n" for char in text)


def harmless(ended: subprocess.CompletedProcess[str]) -> str:
    said: str = ended.stdout + ended.stderr
    assert is_harmless(said), ascii(said)
    return said


@pytest.fixture
def asked(tokenizer: str) -> tuple[str, ...]:
    return ("engine=vllm", "model=served", "tokenizer=huggingface", f"tokenizer.name={tokenizer}", *TASK)


@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
def test_every_way_out_shows_it_as_an_escape(sign: str, capsys: pytest.CaptureFixture[str]) -> None:
    tell(f"warning: {sign}")
    print_error(f"{sign} of http://user:password@host/")
    printed = capsys.readouterr().err
    ways = (visible(sign), one_line(sign, longest=200), printed, tame(sign))
    assert all(is_harmless(way) for way in ways)
    assert (printed.count("\n"), "password" in printed) == (2, False)


@pytest.mark.parametrize("text", ["Ω 日本語 🙂", "क्\u200dष", "a\u00a0b\u3000c", ""])
def test_letters_of_every_script_stay(text: str) -> None:
    assert visible(text) == text


def test_a_text_is_cut_by_what_is_shown_of_it() -> None:
    assert one_line("\x1b" * 100, longest=10) == r"\x1b\x1b\x…"


@given(text=st.text(), longest=st.integers(min_value=1, max_value=50))
def test_the_result_is_one_line_of_bounded_length_with_a_sign_where_it_is_cut(text: str, longest: int) -> None:
    line = one_line(text, longest=longest)
    assert len(line.splitlines()) <= 1
    assert len(line) <= longest + 1
    assert line.endswith("…") or len(line) <= longest


@given(value=st.text(max_size=2_000))
def test_an_error_of_the_configuration_keeps_its_key_and_its_way_out(value: str) -> None:
    line = str(ConfigError(f"task.needle.text={value}: is no needle; give another one"))
    assert visible(line) == line
    assert len(line) <= 901
    assert line.startswith("task.needle.text=")
    assert line.endswith("; give another one")


def test_an_error_body(tmp_path: Path, asked: tuple[str, ...]) -> None:
    message = {"error": {"message": ALL}}
    with serving(FakeServer(listing=(500, message))) as server:
        assert SHOWN in harmless(contextcliff(*asked, f"engine.base_url={server.address}", cwd=tmp_path))
    models = [{"id": "m", "max_model_len": 4096}]
    with serving(FakeServer(models=models, errors={"x": (400, message)}, fault=lambda _: "x")) as server:
        assert SHOWN in harmless(contextcliff(*asked, f"engine.base_url={server.address}", cwd=tmp_path))


def test_a_folders_name(tmp_path: Path) -> None:
    sign = SIGNS["a title"] + SIGNS["a direction"] + SIGNS["a control of the second set"]
    (tmp_path / sign).mkdir()
    for named in ("action=compare action.baseline", "action=gather action.stores", "action=analyze run"):
        value = f"['{sign}']" if named.endswith("stores") else f"'{sign}'"
        ended = contextcliff(*f"{named}={value}".split(" ", 1), cwd=tmp_path)
        assert ended.returncode == 2
        assert "\\x" in harmless(ended) or "\\u" in harmless(ended)


@pytest.mark.slow
def test_the_texts_of_a_report(tmp_path: Path) -> None:
    asked = ("dataset=synthetic", "task.lengths=[512,1024]", "task.trials=1", "kv_policy=none,q8_0")
    assert contextcliff(*SIMULATED, *asked, cwd=tmp_path).returncode == 0
    first, second = sorted(tmp_path.glob("outputs/contextcliff/*/report.json"))
    content = json.loads(first.read_text("utf-8"))
    hostile = {key: [ALL] if isinstance(content[key], list) else ALL for key in ("model", "dataset", "label", "notes")}
    first.write_text(json.dumps({**content, **hostile}), "utf-8")
    named = (f"action.baseline={first.parent}", f"action.candidates=[{second.parent}]")
    ended = contextcliff("action=compare", "tracking=none", "reporting.progress=false", *named, cwd=tmp_path)
    assert ended.returncode == 0
    assert SHOWN in harmless(ended)
    second.write_text(json.dumps({**json.loads(second.read_text("utf-8")), "schema_version": ALL}), "utf-8")
    assert harmless(contextcliff("action=compare", "tracking=none", *named, cwd=tmp_path))


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
