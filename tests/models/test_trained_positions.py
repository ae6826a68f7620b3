"""How many positions a model was trained on: by a GGUF file's header, by a configuration of transformers, by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gguf import RopeScalingType

from contextcliff.models.model import Rope
from contextcliff.models.trained_positions import of_config, of_gguf, positions_of
from contextcliff.records.positions import Positions
from tests.models.made_gguf import gguf_file


def written(path: Path, *, window: int | None = 32_768, **scaling: Any) -> Path:
    return gguf_file(path, "qwen3", context_length=window, **{f"rope_scaling_{key}": scaling[key] for key in scaling})


def gguf(trained: int | None, scaling: str = "", factor: float | None = None) -> Positions:
    return Positions(trained_tokens=trained, source=None if trained is None else "gguf", scaling=scaling, factor=factor)


def config(trained: int | None, scaling: str = "", factor: float | None = None) -> Positions:
    return replace(gguf(trained, scaling, factor), source=None if trained is None else "config")


def test_a_header_tells_the_trained_window(tmp_path: Path) -> None:
    assert of_gguf(written(tmp_path / "a.gguf")) == gguf(32_768)
    assert of_gguf(written(tmp_path / "b.gguf", type=RopeScalingType.NONE)) == gguf(32_768)
    assert of_gguf(written(tmp_path / "c.gguf", window=None)) is None


def test_of_a_scaled_header_only_the_original_window_counts(tmp_path: Path) -> None:
    scaled = written(tmp_path / "a.gguf", window=131_072, type=RopeScalingType.YARN, factor=4.0, orig_ctx_len=32_768)
    assert of_gguf(scaled) == gguf(32_768, "yarn", 4.0)


@pytest.mark.parametrize("way", [RopeScalingType.LINEAR, None])
def test_a_scaled_header_without_an_original_window_is_not_guessed(way: RopeScalingType | None, tmp_path: Path) -> None:
    assert of_gguf(written(tmp_path / "a.gguf", type=way, factor=4.0)) == gguf(None, "linear", 4.0)


LONG = {"max_position_embeddings": 131_072}
YARN = {"factor": 4.0, "original_max_position_embeddings": 32_768}
LONGROPE = {"type": "longrope", "long_factor": [1.0], "short_factor": [1.0]}
LAYERS = {"sliding_attention": {"rope_type": "default"}, "full_attention": {"rope_type": "linear", "factor": 8.0}}


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        (LONG, config(131_072)),
        ({**LONG, "rope_scaling": None}, config(131_072)),
        ({**LONG, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}}, config(131_072)),
        ({**LONG, "rope_parameters": {"rope_type": "yarn", **YARN}}, config(32_768, "yarn", 4.0)),
        ({**LONG, "rope_scaling": {"type": "yarn", **YARN}}, config(32_768, "yarn", 4.0)),
        ({**LONG, "original_max_position_embeddings": 4_096, "rope_scaling": LONGROPE}, config(4_096, "longrope")),
        ({**LONG, "rope_scaling": {"type": "linear", "factor": 4.0}}, config(None, "linear", 4.0)),
        ({**LONG, "rope_parameters": LAYERS}, config(None, "linear", 8.0)),
        ({"text_config": LONG, "vision_config": {}}, config(131_072)),
        ({"max_position_embeddings": 0}, None),
        ({"n_positions": True}, None),
    ],
)
def test_a_configuration_of_transformers_tells_them(text: Mapping[str, object], positions: Positions | None) -> None:
    assert of_config(text) == positions


def test_what_is_given_by_hand_goes_before_what_the_engine_tells() -> None:
    assert positions_of(Rope(trained_tokens=2_048), gguf(8_192)) == Positions(trained_tokens=2_048, source="given")
    assert positions_of(Rope(trained_tokens=2_048), None) == Positions(trained_tokens=2_048, source="given")
    assert positions_of(Rope(), gguf(8_192)) == gguf(8_192)
    assert positions_of(Rope(), None) is None


def test_a_scaling_by_hand_replaces_that_of_the_weights_and_none_ends_it() -> None:
    assert positions_of(Rope(type="yarn", scale=2.0), gguf(8_192)) == gguf(8_192, "yarn", 2.0)
    assert positions_of(Rope(type="none", scale=2.0), gguf(32_768, "yarn", 4.0)) == gguf(32_768)
    assert positions_of(Rope(base=1e6), gguf(32_768, "yarn", 4.0)) == gguf(32_768, "yarn", 4.0)
