"""A server that refuses, fails or filters: what is said of it, and what of the run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands import QUIET, contextcliff, reports, samples
from tests.engines.fake_server import FakeServer, serving

WINDOW = [{"id": "m", "max_model_len": 4096}]
FILTERED = {"error": {"message": "The prompt was filtered", "code": "content_filter", "param": "prompt"}}
ERRORS: dict[str, tuple[int, object]] = {
    "filtered": (400, FILTERED),
    "refused": (400, {"error": {"message": "this is not to my liking"}}),
    "unprocessable": (422, {"error": {"message": "this is not to my liking"}}),
    "oom": (500, {"error": {"message": "CUDA out of memory. Tried to allocate 2.00 GiB"}}),
}


def fake(**behaviour: Any) -> FakeServer:
    return FakeServer(models=WINDOW, counts="/tokenize", errors=ERRORS, **behaviour)


def asking(server: FakeServer, *overrides: str) -> tuple[str, ...]:
    return (
        *("engine=vllm", f"engine.base_url={server.address}", "model=served", "engine.concurrency=1", *QUIET),
        *("task.lengths=[200]", "task.depths=[0,0.5,1]", "task.trials=2", "engine.max_retries=0", *overrides),
    )


@pytest.mark.slow
def test_an_answer_that_the_filter_stopped_is_unscored_and_paid_for(tmp_path: Path) -> None:
    with serving(fake(finishes=lambda number: "content_filter" if number == 3 else "stop")) as server:
        assert contextcliff(*asking(server), cwd=tmp_path).returncode == 0
        seen = len(server.bodies)
        assert contextcliff(*asking(server), cwd=tmp_path).returncode == 0
        assert len(server.bodies) == seen == 6
    (report,) = reports(tmp_path)
    assert (report["mean"], report["counts"]["completed"], report["counts"]["unscored"]) == (1.0, 5, 1)
    (line,) = [line for line in samples(tmp_path) if line["score"] is None]
    assert (line["failure"], line["finish_reason"]) == ("content_filter", "content_filter")
    assert line["completion_tokens"] == 4
    assert report["usage"]["completion_tokens"] == 24


@pytest.mark.slow
def test_refusals_in_a_row_end_the_run_and_more_in_another_invocation_do_not(tmp_path: Path) -> None:
    many = ("task.trials=20",)
    with serving(fake(fault=lambda number: "refused" if number > 10 else None)) as server:
        done = contextcliff(*asking(server, *many), cwd=tmp_path)
        assert (done.returncode, len(server.bodies)) == (1, 35)
        assert done.stderr.startswith(
            "error: 25 requests were refused and none was answered between them, the last with"
        )
        assert "this is not to my liking" in done.stderr
        assert done.stderr.count("\n") == 1
        # Those that were refused before are their own fault by now; the rest are answered.
        server.fault = lambda number: "refused" if number <= 35 + 25 else None
        again = contextcliff(*asking(server, *many), cwd=tmp_path)
        assert (again.returncode, again.stderr) == (0, "")
    (report,) = reports(tmp_path)
    assert (report["counts"]["completed"], report["counts"]["unscored"]) == (35, 25)
    assert report["counts"]["errors"] == {"bad_request": 50}


@pytest.mark.slow
def test_a_small_run_without_an_answer_says_the_fault_how_often_and_what_to_do(tmp_path: Path) -> None:
    with serving(fake(fault=lambda _: "oom")) as server:
        done = contextcliff(*asking(server), cwd=tmp_path)
    assert (done.returncode, list(tmp_path.iterdir())) == (1, [])
    assert done.stderr == (
        "error: none of 6 samples was answered (server_error 6): Error code: 500 - CUDA out of memory. Tried to "
        "allocate 2.00 GiB; look at the server's log and its memory, or ask for shorter prompts; the same command goes "
        "on\n"
    )
