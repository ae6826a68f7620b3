"""What is detected of a server (models, window, positions, counter of tokens), and what is said of one that fails."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextcliff.engines.engine import Served
from contextcliff.engines.openai.http import Address, address_of, client
from contextcliff.engines.openai.openai_compatible import detect
from contextcliff.errors import ContextCliffError
from contextcliff.records.positions import Positions
from tests.engines.fake_server import FakeServer, serving

KEY = "sk-very-secret-0123456789"


def detected(server: FakeServer, *, name: str | None = None) -> tuple[Served, str | None]:
    with serving(server), client(replace(address_of(server.address), key=KEY), timeout_s=5) as http:
        found = detect(http, replace(address_of(server.address), key=KEY), name=name)
    assert found[0].lines[0] == f"server {server.address}/v1"
    return found


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("http://h:8000", "http://h:8000/v1"),
        ("http://h:8000/v1/", "http://h:8000/v1"),
        ("http://h:8000/v1/chat/completions", "http://h:8000/v1"),
        ("https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4"),
        ("https://g.com/v1beta/openai/", "https://g.com/v1beta/openai"),
    ],
)
def test_addresses_work_with_and_without_v1(given: str, meant: str) -> None:
    assert address_of(given).url == meant


LLAMA_CPP = {"default_generation_settings": {"n_ctx": 2048}}
KOBOLDCPP = {"/api/extra/true_max_context_length": {"value": 8192}}


@pytest.mark.parametrize(
    ("server", "model", "window", "counter", "slots"),
    [
        (FakeServer(models=[{"id": "m", "max_model_len": 4096, "meta": {"n_ctx_train": 8192}}]), "m", 4096, None, None),
        (FakeServer(routes={"/props": {**LLAMA_CPP, "total_slots": 4}}), "only-model", 2048, "llama_server", 4),
        (FakeServer(routes=KOBOLDCPP), "only-model", 8192, None, None),
        (FakeServer(counts="/tokenize"), "only-model", 1024, "vllm", None),
        (FakeServer(routes=KOBOLDCPP, counts="/api/extra/tokencount"), "only-model", 8192, "koboldcpp", None),
    ],
)
def test_a_servers_model_window_counter_and_slots_are_detected(
    server: FakeServer, model: str, window: int, counter: str | None, slots: int | None
) -> None:
    served, found = detected(server)
    assert (served.model, served.window, found, served.slots) == (model, window, counter, slots)
    trained = Positions(trained_tokens=8_192, source="server")
    assert served.positions == (trained if model == "m" else None)


def says(message: str) -> dict[str, object]:
    return {"error": {"message": message}}


REFUSES = FakeServer(listing=(400, says(f"Authentication Error, token {KEY} is not valid")))
REFUSED = (
    "engine.base_url={address}/v1: does not list its models (400: Authentication Error, token *** is not valid); "
    "is the API key right, whose variable engine.api_key_env names? Else look at the server, or name the model with "
    "model.name=NAME"
)


@pytest.mark.parametrize(
    ("server", "name", "told"),
    [
        (REFUSES, None, REFUSED),
        (FakeServer(key="another"), None, "engine.base_url={address}/v1: refuses the API key (401); set the right one "
         "in the environment, and name its variable with engine.api_key_env"),
        (FakeServer(models=[{"id": "a"}, {"id": "b"}]), None,
         "model.name: {address}/v1 lists several models: a, b; choose one with model.name=NAME"),
        (FakeServer(models=[]), None, "model.name: {address}/v1 lists no model; choose one with model.name=NAME"),
        (FakeServer(listing=(200, "<html>Welcome</html>")), "m",
         "engine.base_url={address}/v1: answers with a web page and not with JSON; give the address of the API"),
    ],
)  # fmt: skip
def test_a_server_that_tells_no_model_is_an_error_in_its_words(server: FakeServer, name: str | None, told: str) -> None:
    with pytest.raises(ContextCliffError) as raised:
        detected(server, name=name)
    assert str(raised.value) == told.format(address=server.address)


def test_a_host_that_cannot_be_reached_is_named() -> None:
    with client(timeout_s=5) as http, pytest.raises(ContextCliffError) as raised:
        detect(http, Address(url="http://127.0.0.1:9/v1"), name="m")
    assert str(raised.value).startswith("engine.base_url=http://127.0.0.1:9/v1: can't be reached (")


@pytest.mark.parametrize("status", [400, 404, 405, 429, 500, 501, 503])
def test_a_model_that_is_named_needs_no_list(status: int) -> None:
    served, _ = detected(FakeServer(listing=(status, says("no list here"))), name="m")
    line = f"models not listed ({status}: no list here)"
    assert (served.model, line in served.lines) == ("m", status not in (404, 405, 501))
