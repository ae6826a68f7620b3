"""The tokenizers: a model's from the Hugging Face hub or a folder, OpenAI's vocabularies, and one that needs no model.

`tiktoken` is exact for OpenAI's models and an estimate for others. Engines without weights count pieces of words, up to
three digits, and signs."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contextcliff.errors import ConfigError, RunError
from contextcliff.hub import cause, reach_the_hub
from contextcliff.records.sample import Prompt
from contextcliff.text.tokens import counted_starts, framed_tokens, messages, plain_tokens

if TYPE_CHECKING:
    import tiktoken


# A blank belongs to the word after it, as in byte-pair vocabularies. Long words are split, so that English prose has
# about 1.3 tokens per word. Japanese and Chinese set no blanks: each of their characters is a piece.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_PIECE = re.compile(rf" ?[^\W\d_{_UNSPACED}]{{1,7}}| ?\d{{1,3}}|\s+|.", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class WordTokenizer:
    """Counts pieces of words; needs no download and gives the same on every machine."""

    @property
    def name(self) -> str:
        return "words"

    def starts(self, text: str) -> Sequence[int]:
        return [match.start() for match in _PIECE.finditer(text)]

    def count_prompt(self, prompt: Prompt) -> int:
        return framed_tokens(prompt, lambda text: len(_PIECE.findall(text)))


HUB = "huggingface:"
"""Begins the names of tokenizers from the hub."""
_PROBED_FILE = "config.json"
"""Requested to see whether a repository can be reached; it is the file that is loaded first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HubTokenizer:
    """A tokenizer of `transformers`, with its chat template where it has one."""

    name: str
    tokenizer: Any
    template_arguments: Mapping[str, object]
    plain: bool = False
    """Whether prompts are sent without the chat template."""

    @property
    def has_estimated(self) -> bool:
        """Whether offsets are estimates: tokenizers that are written in Python only count."""
        return not getattr(self.tokenizer, "is_fast", False)

    def starts(self, text: str) -> Sequence[int]:
        if self.has_estimated:
            return counted_starts(text, self._count)
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return [start for start, _ in encoded["offset_mapping"]]

    def count_prompt(self, prompt: Prompt) -> int:
        if self.plain:
            return plain_tokens(prompt, lambda text: len(self.tokenizer(text, verbose=False)["input_ids"]))
        if self.tokenizer.chat_template is None:
            return framed_tokens(prompt, self._count)
        framed = self.tokenizer.apply_chat_template(
            messages(prompt), add_generation_prompt=True, tokenize=False, **self.template_arguments
        )
        return self._count(framed)

    def control_tokens(self, texts: Iterable[str]) -> Collection[str]:  # noqa: ARG002 - all are known
        """The special tokens, and those that were added and that the chat template writes."""
        template = str(self.tokenizer.chat_template or "")
        added = getattr(self.tokenizer, "added_tokens_decoder", {}).values()
        written = [str(each) for each in added if each.special or str(each) in template]
        # What is one sign, or blank behind it, can't be broken by a blank.
        return {each for each in (*self.tokenizer.all_special_tokens, *written) if each[1:].strip()}

    def _count(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def hub_tokenizer(name: str, template_arguments: Mapping[str, object], *, plain: bool = False) -> HubTokenizer:
    """Load a tokenizer by the name of a repository or folder. Raises `RunError` where that fails.

    `HF_TOKEN` in the environment gives access to gated repositories. Code in a repository is not run. Where the hub
    can't be reached, its cache (`HF_HOME`) is used, without retries."""
    unreachable = None
    if not Path(name).is_dir():
        try:
            reach_the_hub(name, _PROBED_FILE)
        except RunError as error:
            unreachable = str(error)
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # its import would print advice to install torch
    from transformers import AutoTokenizer

    try:
        loaded = AutoTokenizer.from_pretrained(
            name, use_fast=True, trust_remote_code=False, local_files_only=unreachable is not None
        )
    except (OSError, ValueError, KeyError) as error:
        raise RunError(
            f"tokenizer.name={name}: can't be loaded ({unreachable or cause(error)}); give a folder that holds it "
            "with tokenizer.name=FOLDER, check the network, HF_HOME for earlier downloads and HF_TOKEN for gated "
            "repositories, or take tokenizer=server or tokenizer=tiktoken"
        ) from error
    return HubTokenizer(name=f"{HUB}{name}", tokenizer=loaded, template_arguments=template_arguments, plain=plain)


@dataclass(frozen=True, kw_only=True, slots=True)
class TiktokenTokenizer:
    """One encoding of `tiktoken`."""

    name: str
    encoding: tiktoken.Encoding
    plain: bool = False
    """Whether prompts are sent without a chat template."""

    def starts(self, text: str) -> Sequence[int]:
        _, offsets = self.encoding.decode_with_offsets(self.encoding.encode_ordinary(text))
        return offsets

    def count_prompt(self, prompt: Prompt) -> int:
        count_tokens = plain_tokens if self.plain else framed_tokens
        return count_tokens(prompt, lambda text: len(self.encoding.encode_ordinary(text)))

    def control_tokens(self, texts: Iterable[str]) -> Collection[str]:  # noqa: ARG002 - all are known
        """The special tokens."""
        return self.encoding.special_tokens_set


def tiktoken_tokenizer(name: str, *, plain: bool = False) -> TiktokenTokenizer:
    """Load an encoding by its name (`o200k_base`) or by that of a model (`gpt-4o`). Raises `ConfigError` for an unknown
    name, `RunError` where the vocabulary can't be downloaded."""
    import requests
    import tiktoken

    try:
        is_encoding = name in tiktoken.list_encoding_names()
        encoding = tiktoken.get_encoding(name) if is_encoding else tiktoken.encoding_for_model(name)
    except KeyError as error:
        names = ", ".join(tiktoken.list_encoding_names())
        raise ConfigError(f"tokenizer.name={name}: no such encoding or model; the encodings are: {names}") from error
    except (requests.RequestException, OSError) as error:
        raise RunError(
            f"tokenizer.name={name}: tiktoken fetches its vocabulary from the network at first use, and that "
            "failed; set TIKTOKEN_CACHE_DIR to a folder that holds it, or take another tokenizer"
        ) from error
    return TiktokenTokenizer(name=f"tiktoken:{name}", encoding=encoding, plain=plain)
