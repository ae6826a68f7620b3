"""The `tokenizer` group: whose tokens count."""

from __future__ import annotations

from typing import Protocol

from contextcliff.settings import settings
from contextcliff.text.tokens import Tokenizer


class TokenizerChoice(Protocol):
    """Chooses the tokenizer by which prompts are cut to length."""

    def choose(self, engine: Tokenizer) -> Tokenizer:
        """The tokenizer to use, given the engine's own."""
        ...


@settings
class EngineTokenizer:
    """The one that the model under test uses, asked of its engine."""

    def choose(self, engine: Tokenizer) -> Tokenizer:
        """The engine's own."""
        return engine
