"""A server that answers `/v1/models` with an error: its message is reported, and the run goes on where it can."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from contextcliff.engines.openai.http import KNOWN_VARIABLES
from tests.commands import QUIET, contextcliff, of_server, reports
from tests.engines.fake_server import FakeServer, serving

KEY = "sk-very-secret-0123456789"
ENV = {**dict.fromkeys(KNOWN_VARIABLES, ""), "API_KEY": KEY}
SMALL = ("task.lengths=[300]", "task.depths=[0.5]", "task.trials=2", "model.context_window=1024")
ASKS_FOR_THE_KEY = "is the API key right? Set it in the environment, and name its variable with engine.api_key_env"


def run(
    server: FakeServer, folder: Path, tokenizer: str, *overrides: str, **env: str
) -> subprocess.CompletedProcess[str]:
    asked = (*of_server(server.address, tokenizer), "engine.max_retries=0", "model=served", *QUIET, *SMALL)
    return contextcliff(*asked, *overrides, cwd=folder, env={**ENV, **env})


def says(message: str) -> dict[str, object]:
    return {"error": {"message": message}}


REFUSES = (400, says(f"Authentication Error, token {KEY} is not valid"))
REFUSED = f"(400: Authentication Error, token *** is not valid); {ASKS_FOR_THE_KEY}"
LOADING = "(503: Loading model); look at the server, or name the model with model.name=NAME"


@pytest.mark.parametrize(
    ("listing", "named", "told"),
    [(REFUSES, (), REFUSED), (REFUSES, ("model.name=m",), REFUSED), ((503, says("Loading model")), (), LOADING)],
    ids=["a refused key", "a refused key and a named model", "out of order"],
)
def test_a_list_that_is_needed_and_not_given_ends_the_run_in_the_servers_words(
    listing: tuple[int, object], named: tuple[str, ...], told: str, tmp_path: Path, tokenizer: str
) -> None:
    with serving(FakeServer(listing=listing)) as server:
        done = run(server, tmp_path, tokenizer, *named)
    assert done.returncode == 1
    assert done.stderr == f"error: engine.base_url={server.address}/v1: does not list its models {told}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "status", [404, *(pytest.param(other, marks=pytest.mark.slow) for other in (400, 405, 429, 500, 501, 503))]
)
def test_a_model_that_is_named_needs_no_list(status: int, tmp_path: Path, tokenizer: str) -> None:
    with serving(FakeServer(listing=(status, says("no list here")))) as server:
        done = run(server, tmp_path, tokenizer, "model.name=m")
    assert (done.returncode, done.stderr) == (0, "")
    (report,) = reports(tmp_path)
    assert (report["model"], report["counts"]["completed"]) == ("m", 2)
    line = f"models not listed ({status}: no list here)"
    assert (line in report["server"]) is (status not in (404, 405, 501))
