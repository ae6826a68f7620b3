"""The names of models and KV policies in reports: made-up runs are marked, and nobody claims an unknown cache."""

from __future__ import annotations

import pytest

from contextcliff.findings.kv_cache import policy_in_words
from contextcliff.records.kv_cache import AS_STARTED, CacheFacts
from contextcliff.reporting.text import catalogue
from contextcliff.tracking.metrics import parameters
from contextcliff.tracking.tracker import run_title
from tests.compositions import built

SERVER = ("engine=vllm", "engine.base_url=http://127.0.0.1:9/v1", "model=served", "model.name=m")
STARTED = (*SERVER, "engine.command='serve {model} {context} {port}'")


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ((), "f16"),
        (("kv_policy=q8_0",), "q8_0"),
        (("kv_policy=snapkv", "engine=transformers", "engine.device=cpu"), "snapkv-0.5"),
        (("engine=transformers", "engine.dtype=bfloat16", "engine.device=cpu"), "bf16"),
        (("engine=simulated",), "f16"),
        (SERVER, AS_STARTED),
        ((*SERVER, "kv_policy.declared=true"), "f16"),
        ((*SERVER, "kv_policy=fp8", "kv_policy.declared=true"), "fp8"),
        (STARTED, "f16"),
    ],
)
def test_no_policy_is_shown_as_the_format_that_it_is_or_as_the_server_was_started(
    asked: tuple[str, ...], shown: str
) -> None:
    invocation = built(*asked)
    assert invocation.shown_policy == shown
    assert invocation.kv_policy.shown in ("none", shown), "run ids and keys of the store keep their names"


def test_a_simulated_model_has_the_word_in_its_shown_name_alone() -> None:
    made_up = built("engine=simulated", "model=qwen")
    assert (made_up.shown_model, made_up.model_name) == ("Qwen3-8B (simulated)", "Qwen3-8B")
    assert built("model=qwen").shown_model == "Qwen3-8B"
    assert "(simulated)" not in made_up.identify().run_id


def test_what_is_tracked_under_a_models_name_is_marked_once() -> None:
    def titled(model: str, option: str, *, engine: str = "simulated") -> str:
        title = run_title(model, option=option, engine=engine, task="niah", kv_policy="none")
        return title.removesuffix(" · niah · none")

    assert titled("Qwen3-8B (simulated)", "qwen") == "qwen (simulated)"
    assert titled("a/Qwen3-8B (simulated)", "") == "Qwen3-8B (simulated)"
    assert titled("a/" + "x" * 99, "").endswith("… (simulated)")
    assert titled("a/Qwen3-8B", "served", engine="vllm") == "Qwen3-8B"
    named = parameters({"engine": "simulated", "model": "qwen", "model.name": "Qwen3-8B", "model.hub": "Qwen/Qwen3-8B"})
    assert (named["model"], named["model.name"]) == ("qwen (simulated)", "Qwen3-8B (simulated)")


def test_a_servers_unknown_cache_is_said_in_full_and_in_japanese() -> None:
    facts = CacheFacts(policy="none", key_type="f16", value_type="f16", as_started=True)
    said = policy_in_words(facts)
    assert str(said) == "as the server was started (not checked)"
    assert said.said(catalogue("ja")) == "サーバーが起動されたときのまま (未確認)"
