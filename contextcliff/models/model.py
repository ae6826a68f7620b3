"""The `model` group: what the model is called, how long its window is, and where its weights come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from contextcliff.models.price import Price
from contextcliff.models.rope import Rope
from contextcliff.models.weights import Gguf
from contextcliff.settings import Name, PositiveInt, settings


@settings
class Model:
    """A model under test."""

    name: Name | None = None
    """The name in reports and, where `served` has no other, in requests. None: the only model that the server has."""
    context_window: PositiveInt | None = None
    """Tokens that prompt and answer may take together. None: the window that the server reports."""
    served: Mapping[str, str] = Field(default_factory=dict)
    """The model's name on other servers, by engine preset. A `name` given on the command line wins."""
    hub: str | None = None
    """Hub repository of the original model, whose tokenizer is used where the server has none."""
    template_arguments: Mapping[str, bool | int | str] = Field(default_factory=dict)
    """Arguments of the chat template, such as Qwen3's `enable_thinking`."""
    extra_body: Mapping[str, Any] = Field(default_factory=dict)
    """More top-level fields of every request to a server, such as a switch for thinking."""
    gguf: Gguf = Gguf()
    rope: Rope = Rope()
    price: Price = Price()

    def served_name(self, preset: str) -> str | None:
        """The model's name on a server of this preset; None where only the server knows it."""
        return self.served.get(preset, self.name)
