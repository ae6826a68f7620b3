"""How many positions a model was trained on, by its weights' metadata and by `model.rope`.

Where positions are scaled the window of the metadata is the extended one: only what they call original was trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from contextcliff.models.gguf_header import count_of, read_header
from contextcliff.models.model import Rope
from contextcliff.records.positions import Positions, PositionSource

_UNSCALED = ("none", "default")
_ORIGINAL = "original_max_position_embeddings"


def positions_of(rope: Rope, told: Positions | None) -> Positions | None:
    """What is known, `model.rope` before what the engine told."""
    known = told or Positions()
    if rope.trained_tokens is not None:
        known = replace(known, trained_tokens=rope.trained_tokens, source="given")
    if rope.type is not None:
        known = replace(known, scaling="" if rope.type == "none" else rope.type, factor=rope.factor)
    return None if known == Positions() else known


def of_gguf(weights: Path) -> Positions | None:
    try:
        header = read_header(weights)
    except ValueError:  # llama.cpp says what is wrong with the file
        return None
    name = header.get("general.architecture")
    return _positions(
        "gguf",
        window=header.get(f"{name}.context_length"),
        original=header.get(f"{name}.rope.scaling.original_context_length"),
        # llama.cpp takes a factor without a way for a linear one.
        scaling=header.get(f"{name}.rope.scaling.type", "linear"),
        factor=header.get(f"{name}.rope.scaling.factor", header.get(f"{name}.rope.scale_linear")),
    )


def of_config(config: Mapping[str, object]) -> Positions | None:
    nested = config.get("text_config")
    text = nested if isinstance(nested, Mapping) else config
    scaled = next(_scaled(text), {})
    original = scaled.get(_ORIGINAL) or text.get(_ORIGINAL)
    return _positions(
        "config",
        window=text.get("max_position_embeddings"),
        original=original,
        scaling=scaled.get("rope_type") or scaled.get("type"),
        factor=scaled.get("factor"),
    )


def _scaled(text: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    for key in ("rope_parameters", "rope_scaling"):
        given = text.get(key)
        if not isinstance(given, Mapping):
            continue
        for each in (given, *given.values()):
            kind = (each.get("rope_type") or each.get("type")) if isinstance(each, Mapping) else None
            if isinstance(kind, str) and kind not in _UNSCALED:
                yield each


def _positions(
    source: PositionSource, *, window: object, original: object, scaling: object, factor: object
) -> Positions | None:
    by = float(factor) if isinstance(factor, int | float) and factor > 1.0 else None
    way = scaling if isinstance(scaling, str) and scaling not in _UNSCALED else ""
    if way == "linear" and by is None:
        way = ""
    by = by if way else None
    trained = count_of(original) or (None if way else count_of(window))
    if trained is None and not way:
        return None
    return Positions(trained_tokens=trained, source=None if trained is None else source, scaling=way, factor=by)
