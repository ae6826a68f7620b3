"""A model's tokenizer from the Hugging Face hub, or from a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contextcliff.errors import RunError
from contextcliff.records import Prompt
from contextcliff.text.framing import framed_tokens, messages, plain_tokens


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

    `HF_TOKEN` in the environment opens gated repositories. Code that a repository brings is not run.
    """
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # at import it would advise to install torch
    from transformers import AutoTokenizer

    try:
        loaded = AutoTokenizer.from_pretrained(name, use_fast=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        token = os.environ.get("HF_TOKEN", "")
        said = " ".join(str(error).split()).replace(token or "\0", "***")[:200]
        raise RunError(
            f"tokenizer.name={name}: can't be loaded ({said}); give a folder that holds it, look at the network and at "
            "HF_TOKEN for gated ones, or take tokenizer=tiktoken"
        ) from error
    return HubTokenizer(
        name=f"huggingface:{name}", tokenizer=loaded, template_arguments=template_arguments, plain=plain
    )
