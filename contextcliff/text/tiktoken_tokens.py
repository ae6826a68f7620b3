"""OpenAI's vocabularies, with `tiktoken`: exact for OpenAI's models, an estimate for others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contextcliff.errors import ConfigError, RunError
from contextcliff.records.sample import Prompt
from contextcliff.text.framing import framed_tokens, plain_tokens

if TYPE_CHECKING:
    import tiktoken


@dataclass(frozen=True, kw_only=True, slots=True)
class TiktokenTokenizer:
    """One encoding of `tiktoken`."""

    name: str
    encoding: tiktoken.Encoding
    plain: bool = False
    """Whether prompts are sent without a chat template."""

    def starts(self, text: str) -> Sequence[int]:
        """Character offset of every token."""
        _, offsets = self.encoding.decode_with_offsets(self.encoding.encode_ordinary(text))
        return offsets

    def count_prompt(self, prompt: Prompt) -> int:
        """Tokens of the messages and an estimate of the template around them."""
        count_tokens = plain_tokens if self.plain else framed_tokens
        return count_tokens(prompt, lambda text: len(self.encoding.encode_ordinary(text)))


def tiktoken_tokenizer(name: str, *, plain: bool = False) -> TiktokenTokenizer:
    """Load an encoding by its name (`o200k_base`) or by that of a model (`gpt-4o`).

    Raises `ConfigError` for an unknown name, `RunError` where the vocabulary can't be downloaded.
    """
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
