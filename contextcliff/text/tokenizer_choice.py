"""The `tokenizer` group: whose tokens count."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from contextcliff.errors import ConfigError, RunError
from contextcliff.settings import GivenPath, Name, settings
from contextcliff.text.hub_tokens import hub_tokenizer
from contextcliff.text.tiktoken_tokens import tiktoken_tokenizer
from contextcliff.text.tokens import Tokenizer

_UNKNOWN_MODEL_ENCODING = "o200k_base"
_REPOSITORY = re.compile(r"\w[\w.-]{0,95}/\w[\w.-]{0,95}", re.ASCII)


def _not_heard(_: str) -> None:
    return


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """What there is to choose from: the server's own tokenizer, and the model's repository on the hub."""

    own: Tokenizer | None
    hub: str | None
    template_arguments: Mapping[str, object]
    plain: bool = False
    """Whether prompts go without a chat template."""
    model: str | None = None
    """What the model is called where it is served: often the name of its repository."""
    estimate: Tokenizer | None = None
    """Stands in where none is to be had; None: that is an error."""
    told: Callable[[str], None] = _not_heard
    """Hears, in a sentence, what was tried and not to be had."""

    @property
    def repositories(self) -> tuple[str, ...]:
        """The repositories that may hold the model's tokenizer, the likeliest first.

        A name that is a repository's says more of the model than the repository that goes with a preset.
        """
        named = self.model if self.model is not None and _REPOSITORY.fullmatch(self.model) else None
        return tuple(dict.fromkeys(name for name in (named, self.hub) if name is not None))


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

    name: GivenPath | None = None

    def choose(self, offer: Offer) -> Tokenizer:
        """The one named, else the model's."""
        if self.name is not None:
            return hub_tokenizer(self.name, offer.template_arguments, plain=offer.plain)
        if not offer.repositories:
            raise ConfigError("tokenizer=huggingface: this model names no repository; give tokenizer.name=OWNER/NAME")
        found = _from_the_hub(offer)
        if isinstance(found, RunError):
            raise found
        return found


@settings
class Tiktoken:
    """An encoding of OpenAI's, or a model's."""

    name: Name | None = None

    def choose(self, offer: Offer) -> Tokenizer:
        """The one named, else the newest encoding."""
        return tiktoken_tokenizer(self.name or _UNKNOWN_MODEL_ENCODING, plain=offer.plain)


@settings
class AutoTokenizer:
    """The server's own, else the model's from the hub, else tiktoken; the report says which it was."""

    name: GivenPath | None = None
    """A repository, folder or tiktoken encoding that overrides what would be found."""

    def choose(self, offer: Offer) -> Tokenizer:
        """The first that is to be had."""
        if self.name is not None:
            return _named(self.name, offer)
        if offer.own is not None:
            return offer.own
        found = _from_the_hub(offer) if offer.repositories else None
        if found is not None and not isinstance(found, RunError):
            return found
        try:
            chosen: Tokenizer = tiktoken_tokenizer(_UNKNOWN_MODEL_ENCODING, plain=offer.plain)
        except RunError as error:
            if offer.estimate is None:
                raise _none_to_be_had(found, error) from error
            offer.told("no tokenizer is to be had from here: tokens are estimated")
            return offer.estimate
        if found is not None:
            offer.told(f"prompts are cut by {chosen.name}, since the model's own tokenizer is not to be had: {found}")
        return chosen


def _none_to_be_had(hub: RunError | None, tiktoken: RunError) -> RunError:
    """Why there is nothing to count by: of the hub, where that was asked, and of tiktoken."""
    if hub is None:
        return tiktoken
    return RunError(f"{hub}; tiktoken's vocabulary can't be fetched either: TIKTOKEN_CACHE_DIR names a folder of it")


def _from_the_hub(offer: Offer) -> Tokenizer | RunError:
    """The first of the model's repositories that is to be had, else why the first was not."""
    failures = []
    for name in offer.repositories:
        try:
            return hub_tokenizer(name, offer.template_arguments, plain=offer.plain)
        except RunError as error:
            failures.append(error)
    return failures[0]


def _named(name: str, offer: Offer) -> Tokenizer:
    import tiktoken

    if name in tiktoken.list_encoding_names():
        return tiktoken_tokenizer(name, plain=offer.plain)
    return hub_tokenizer(name, offer.template_arguments, plain=offer.plain)
