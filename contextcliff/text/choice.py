"""The `tokenizer` group: whose tokens count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from contextcliff.errors import ConfigError, RunError
from contextcliff.settings import settings
from contextcliff.text.hub_tokens import hub_tokenizer
from contextcliff.text.tiktoken_tokens import tiktoken_tokenizer
from contextcliff.text.tokens import Tokenizer

_UNKNOWN_MODEL_ENCODING = "o200k_base"


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """What there is to choose from: the server's own tokenizer, and the model's repository on the hub."""

    own: Tokenizer | None
    hub: str | None
    template_arguments: Mapping[str, object]
    plain: bool = False
    """Whether prompts go without a chat template."""


class TokenizerChoice(Protocol):
    """Chooses the tokenizer by which prompts are cut to length."""

    @property
    def name(self) -> str | None:
        """A tokenizer asked for by name."""
        ...

    def choose(self, offer: Offer) -> Tokenizer:
        """The tokenizer to use. Raises `ConfigError` and `RunError` for one that is not to be had."""
        ...


@settings
class ServerTokenizer:
    """The server's own: the one that the model under test really uses."""

    name: str | None = None

    def choose(self, offer: Offer) -> Tokenizer:
        """The server's own, or an error."""
        if self.name is not None:
            raise ConfigError(f"tokenizer.name={self.name}: a server has the tokenizer that it has; leave it out")
        if offer.own is None:
            raise ConfigError("tokenizer=server: this server does not tokenise; take tokenizer=auto or huggingface")
        return offer.own


@settings
class HuggingFaceTokenizer:
    """One from the hub or from a folder; by default the model's."""

    name: str | None = None

    def choose(self, offer: Offer) -> Tokenizer:
        """The one named, else the model's."""
        name = self.name or offer.hub
        if name is None:
            raise ConfigError("tokenizer=huggingface: this model names no repository; give tokenizer.name=OWNER/NAME")
        return hub_tokenizer(name, offer.template_arguments, plain=offer.plain)


@settings
class Tiktoken:
    """An encoding of OpenAI's, or a model's."""

    name: str | None = None

    def choose(self, offer: Offer) -> Tokenizer:
        """The one named, else the newest encoding."""
        return tiktoken_tokenizer(self.name or _UNKNOWN_MODEL_ENCODING, plain=offer.plain)


@settings
class AutoTokenizer:
    """The server's own, else the model's from the hub, else tiktoken; the report says which it was."""

    name: str | None = None
    """A repository, folder or tiktoken encoding that overrides what would be found."""

    def choose(self, offer: Offer) -> Tokenizer:
        """The first that is to be had."""
        if self.name is not None:
            return _named(self.name, offer)
        if offer.own is not None:
            return offer.own
        if offer.hub is not None:
            try:
                return hub_tokenizer(offer.hub, offer.template_arguments, plain=offer.plain)
            except RunError:
                pass  # not to be had from here: the next in line, whose name the report shows
        return tiktoken_tokenizer(_UNKNOWN_MODEL_ENCODING, plain=offer.plain)


def _named(name: str, offer: Offer) -> Tokenizer:
    import tiktoken

    if name in tiktoken.list_encoding_names():
        return tiktoken_tokenizer(name, plain=offer.plain)
    return hub_tokenizer(name, offer.template_arguments, plain=offer.plain)
