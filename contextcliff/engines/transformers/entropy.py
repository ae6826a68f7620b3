"""Attention entropy: how evenly the last tokens of a prompt spread their attention, by layer.

Of a head's attention weights p over the n keys that a token sees, −Σ p ln p / ln n: 0 where all the weight is on one
key, 1 where it is spread evenly. Averaged over heads and over the last tokens of the prompt. Computed from queries and
keys, one token at a time: a matrix of a prompt's attention would take its length squared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from contextcliff.engines.transformers.cache import attention_modules

_MEASURED = "sdpa_with_entropy"
_METER = "_contextcliff_entropy"


class EntropyMeter:
    """Measures in a model from now on, while `measuring` is entered."""

    def __init__(self, model: Any, *, positions: int) -> None:
        self.positions = positions
        self._by_layer: defaultdict[int, list[float]] = defaultdict(list)
        self._is_on = False
        eager = model.config._attn_implementation == "eager"
        for module in attention_modules(model):
            setattr(module, _METER, self)
            if eager:
                module.register_forward_hook(_read_weights, with_kwargs=True)
        if not eager:
            AttentionInterface.register(_MEASURED, _attention)
            AttentionMaskInterface.register(_MEASURED, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
            model.set_attn_implementation(_MEASURED)

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Measure the forward passes meanwhile."""
        self._by_layer.clear()
        self._is_on = True
        try:
            yield
        finally:
            self._is_on = False

    @property
    def by_layer(self) -> tuple[float, ...]:
        """The mean of each layer, 0–1; empty where no token saw two keys."""
        return tuple(sum(values) / len(values) for _, values in sorted(self._by_layer.items()) if values)

    def add_weights(self, layer: int, weights: torch.Tensor, mask: torch.Tensor | None) -> None:
        """Add attention weights of the shape [1, heads, queries, keys]."""
        if self._is_on:
            queries, length = weights.shape[-2:]
            for place in range(max(0, queries - self.positions), queries):
                seen = _seen(mask, place, queries, length, device=weights.device)
                self._add(layer, weights[0, :, place].float(), keys=int(seen.sum()))

    def add_queries(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor | None, scaling: float
    ) -> None:
        """Add the queries of the last tokens: [1, heads, queries, size], and all keys: [1, KV heads, keys, size]."""
        if not self._is_on:
            return
        groups, queries, length = query.shape[1] // key.shape[1], query.shape[2], key.shape[2]
        for place in range(max(0, queries - self.positions), queries):
            one = query[0, :, place].reshape(key.shape[1], groups, -1)
            scores = torch.einsum("hgd,hnd->hgn", one, key[0]).float() * scaling
            seen = _seen(mask, place, queries, length, device=key.device)
            weights = scores.masked_fill(~seen, float("-inf")).softmax(dim=-1).flatten(0, 1)
            self._add(layer, weights, keys=int(seen.sum()))

    def _add(self, layer: int, weights: torch.Tensor, *, keys: int) -> None:
        if keys > 1:
            entropies = -torch.xlogy(weights, weights).sum(dim=-1) / torch.tensor(float(keys)).log().item()
            self._by_layer[layer].append(float(entropies.mean()))


def _seen(mask: torch.Tensor | None, place: int, queries: int, length: int, *, device: Any) -> torch.Tensor:
    """Which keys the query at a place among the new ones sees; without a mask, those up to its own."""
    if mask is None:
        return torch.arange(length, device=device) <= length - queries + place
    row = mask[0, 0, place, :length]
    return row if row.dtype is torch.bool else row > torch.finfo(row.dtype).min / 2


def _attention(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, **named: Any
) -> Any:
    """`sdpa`, after it was measured."""
    meter: EntropyMeter | None = getattr(module, _METER, None)
    if meter is not None:
        scaling = named.get("scaling")
        scaling = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
        meter.add_queries(module.layer_idx, query, key, attention_mask, scaling)
    return ALL_ATTENTION_FUNCTIONS["sdpa"](module, query, key, value, attention_mask, **named)


def _read_weights(module: Any, _: Any, named: dict[str, Any], output: Any) -> None:
    getattr(module, _METER).add_weights(module.layer_idx, output[1], named.get("attention_mask"))
