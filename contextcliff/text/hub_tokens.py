"""A model's tokenizer from the Hugging Face hub, or from a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contextcliff.errors import RunError
from contextcliff.hub import cause, reach_the_hub
from contextcliff.records.prompt import Prompt
from contextcliff.text.framing import framed_tokens, messages, plain_tokens

_ASKED_FOR = "config.json"
"""What is asked for to see whether a repository can be reached: the file that is loaded first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HubTokenizer:
    """A fast tokenizer of `transformers`, with its chat template where it has one."""

    name: str
    tokenizer: Any
    template_arguments: Mapping[str, object]
    plain: bool = False
    """Prompts go without the chat template."""

    def starts(self, text: str) -> Sequence[int]:
        """Character offset of every token, without special tokens."""
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return [start for start, _ in encoded["offset_mapping"]]

    def count_prompt(self, prompt: Prompt) -> int:
        """Tokens in the chat template; without one, those of the messages and a small frame for each."""
        if self.plain:
            return plain_tokens(prompt, lambda text: len(self.tokenizer(text, verbose=False)["input_ids"]))
        if self.tokenizer.chat_template is None:
            return framed_tokens(prompt, lambda text: len(self.starts(text)))
        framed = self.tokenizer.apply_chat_template(
            messages(prompt), add_generation_prompt=True, tokenize=False, **self.template_arguments
        )
        return len(self.tokenizer(framed, add_special_tokens=False, verbose=False)["input_ids"])


def hub_tokenizer(name: str, template_arguments: Mapping[str, object], *, plain: bool = False) -> HubTokenizer:
    """Load a tokenizer by repository or folder. Raises `RunError` where it is not to be had.

    `HF_TOKEN` in the environment opens gated repositories. Code that a repository brings is not run. Where the hub
    can't be reached, what its cache holds (`HF_HOME`) is used, at once.
    """
    out_of_reach = None if Path(name).is_dir() else _out_of_reach(name)
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # at import it would advise to install torch
    from transformers import AutoTokenizer

    try:
        loaded = AutoTokenizer.from_pretrained(
            name, use_fast=True, trust_remote_code=False, local_files_only=out_of_reach is not None
        )
    except (OSError, ValueError, KeyError) as error:
        raise RunError(
            f"tokenizer.name={name}: can't be loaded ({out_of_reach or cause(error)}); give a folder that holds it "
            "with tokenizer.name=FOLDER, look at the network, at HF_HOME for what was fetched before and at HF_TOKEN "
            "for gated ones, or take tokenizer=server or tokenizer=tiktoken"
        ) from error
    return HubTokenizer(
        name=f"huggingface:{name}", tokenizer=loaded, template_arguments=template_arguments, plain=plain
    )


def _out_of_reach(repository: str) -> str | None:
    """Why a repository is not to be had from the hub; None where it is."""
    try:
        reach_the_hub(repository, _ASKED_FOR)
    except RunError as error:
        return str(error)
    return None
