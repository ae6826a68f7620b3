"""The group `tokenizer`: chooses the tokenizer that prompts are cut by."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from contextcliff.errors import ConfigError, RunError
from contextcliff.settings import GivenPath, Name, settings
from contextcliff.text.tokenizers import HUB, hub_tokenizer, tiktoken_tokenizer
from contextcliff.text.tokens import Tokenizer

_UNKNOWN_MODEL_ENCODING = "o200k_base"
_REPOSITORY = re.compile(r"\w[\w.-]{0,95}/\w[\w.-]{0,95}", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenizerSources:
    """What is known of a model's tokenizer."""

    own: Tokenizer | None
    """The server's own."""
    hub: str | None
    """The model's repository on the Hugging Face hub."""
    template_arguments: Mapping[str, object]
    """For the chat template."""
    plain: bool = False
    """Whether prompts are sent without a chat template."""
    model: str | None = None
    """The model's name on the server, which is often that of its repository."""
    estimate: Tokenizer | None = None
    """Used where no tokenizer can be loaded; None makes that an error."""
    on_note: Callable[[str], object] = str
    """Called with a sentence for the report where the model's own tokenizer can't be loaded."""

    @property
    def repositories(self) -> tuple[str, ...]:
        """Repositories that may hold the model's tokenizer: the served name, then that of the preset."""
        named = self.model if self.model is not None and _REPOSITORY.fullmatch(self.model) else None
        return tuple(dict.fromkeys(name for name in (named, self.hub) if name is not None))

    def is_own(self, tokenizer: Tokenizer) -> bool:
        """Whether a tokenizer is the model's own: the server's, or one of its repositories."""
        return tokenizer is self.own or tokenizer.name in {f"{HUB}{name}" for name in self.repositories}


class TokenizerChoice(Protocol):
    """Chooses the tokenizer that prompts are cut to length by."""

    @property
    def name(self) -> str | None:
        """The name of a tokenizer, where one is configured."""

    def choose(self, sources: TokenizerSources) -> Tokenizer:
        """The tokenizer to use. Raises `ConfigError` and `RunError` where it can't be loaded."""


@settings
class ServerTokenizer:
    """The server's own, which is the one that the model really uses."""

    name: str | None = None

    def choose(self, sources: TokenizerSources) -> Tokenizer:
        if self.name is not None:
            raise ConfigError(f"tokenizer.name={self.name}: tokenizer=server takes no name; leave it out")
        if sources.own is None:
            raise ConfigError("tokenizer=server: this server does not tokenise; take tokenizer=auto or huggingface")
        return sources.own


@settings
class HuggingFaceTokenizer:
    """One from the Hugging Face hub or from a folder."""

    name: GivenPath | None = None
    """A repository or folder; None takes the model's repository."""

    def choose(self, sources: TokenizerSources) -> Tokenizer:
        if self.name is not None:
            return hub_tokenizer(self.name, sources.template_arguments, plain=sources.plain)
        if not sources.repositories:
            raise ConfigError("tokenizer=huggingface: this model names no repository; give tokenizer.name=OWNER/NAME")
        return _from_the_hub(sources)


@settings
class Tiktoken:
    """An encoding of OpenAI's."""

    name: Name | None = None
    """Of an encoding or a model; None takes the newest encoding."""

    def choose(self, sources: TokenizerSources) -> Tokenizer:
        return tiktoken_tokenizer(self.name or _UNKNOWN_MODEL_ENCODING, plain=sources.plain)


@settings
class AutoTokenizer:
    """The server's own, else the model's from the hub, else tiktoken. The report names the one that was used."""

    name: GivenPath | None = None
    """A repository, folder or tiktoken encoding, used in place of all others."""

    def choose(self, sources: TokenizerSources) -> Tokenizer:
        if self.name is not None:
            import tiktoken

            is_encoding = self.name in tiktoken.list_encoding_names()
            named = Tiktoken(name=self.name) if is_encoding else HuggingFaceTokenizer(name=self.name)
            return named.choose(sources)
        if sources.own is not None:
            return sources.own
        failed: RunError | None = None
        try:
            if sources.repositories:
                return _from_the_hub(sources)
        except RunError as error:
            failed = error
        try:
            chosen = Tiktoken().choose(sources)
        except RunError as error:
            if sources.estimate is None:
                if failed is None:
                    raise
                raise failed from error
            sources.on_note("no tokenizer can be loaded here: tokens are estimated")
            return sources.estimate
        if failed is not None:
            sources.on_note(
                f"prompts are cut by {chosen.name}, since the model's own tokenizer can't be loaded: {failed}"
            )
        return chosen


def _from_the_hub(sources: TokenizerSources) -> Tokenizer:
    """The tokenizer of the first repository that can be loaded. Raises the error of the first one."""
    failures = []
    for name in sources.repositories:
        try:
            return hub_tokenizer(name, sources.template_arguments, plain=sources.plain)
        except RunError as error:
            failures.append(error)
    raise failures[0]
