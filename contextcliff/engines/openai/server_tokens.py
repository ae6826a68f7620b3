"""The tokenizers of servers: each kind has routes of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import httpx2

from contextcliff.engines.openai.api_keys import ApiKey
from contextcliff.engines.openai.exchange import Api
from contextcliff.errors import RunError
from contextcliff.records.prompt import Prompt
from contextcliff.text.counted import counted_starts
from contextcliff.text.framing import framed_tokens, messages, plain_text, plain_tokens
from contextcliff.text.tokens import Tokenizer

TokenCounter = Literal["llama_server", "vllm", "koboldcpp"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenServer:
    """A server that counts tokens: its address without `/v1`, its model, and how that is asked."""

    http: httpx2.Client
    root: str
    key: ApiKey
    model: str
    api: Api
    template_arguments: Mapping[str, object]

    def post(self, path: str, body: Mapping[str, object]) -> Any:
        """The JSON answer of a route. Raises `RunError`, without the key in it."""
        try:
            answer = self.http.post(f"{self.root}{path}", json=dict(body), headers=self.key.headers())
            answer.raise_for_status()
            return answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            said = self.key.hide_in(str(error)) or type(error).__name__
            raise RunError(f"{self.root}{path}: the server can't count tokens ({said})") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class LlamaServerTokenizer:
    """llama.cpp, embedded or not: tokens with their text, and the model's chat template."""

    name: str
    server: TokenServer

    def starts(self, text: str) -> Sequence[int]:
        """Character offset of every token of `text`, without the tokens that a server would add."""
        answer = self.server.post("/tokenize", {"content": text, "add_special": False, "with_pieces": True})
        return piece_starts(text, [token["piece"] for token in answer["tokens"]])

    def count_prompt(self, prompt: Prompt) -> int:
        """Tokens of the prompt as the server will see it, in the model's chat template unless `api` is plain."""
        framed = plain_text(prompt)
        if self.server.api == "chat":
            arguments = dict(self.server.template_arguments)
            request = {"messages": messages(prompt), "chat_template_kwargs": arguments}
            framed = self.server.post("/apply-template", request)["prompt"]
        body = {"content": framed, "add_special": True, "parse_special": True}
        return len(self.server.post("/tokenize", body)["tokens"])


@dataclass(frozen=True, kw_only=True, slots=True)
class VllmTokenizer:
    """vLLM: counts of texts and of conversations."""

    name: str
    server: TokenServer

    def starts(self, text: str) -> Sequence[int]:
        """Character offsets, exact every line or two."""
        return counted_starts(text, lambda block: self._count({"prompt": block, "add_special_tokens": False}))

    def count_prompt(self, prompt: Prompt) -> int:
        """Tokens of the prompt in the model's chat template, or as plain text."""
        if self.server.api == "completions":
            return self._count({"prompt": plain_text(prompt), "add_special_tokens": True})
        arguments = dict(self.server.template_arguments)
        conversation = {"messages": messages(prompt), "add_generation_prompt": True}
        return self._count({**conversation, "chat_template_kwargs": arguments})

    def _count(self, body: Mapping[str, object]) -> int:
        return int(self.server.post("/tokenize", {"model": self.server.model, **body})["count"])


@dataclass(frozen=True, kw_only=True, slots=True)
class KoboldTokenizer:
    """KoboldCpp: counts of texts; what its chat template adds is an estimate."""

    name: str
    server: TokenServer

    def starts(self, text: str) -> Sequence[int]:
        """Character offsets, exact every line or two."""
        # A token may be counted that begins every text; a block of one has none.
        beginning = self._count("")
        return counted_starts(text, lambda block: self._count(block) - beginning)

    def count_prompt(self, prompt: Prompt) -> int:
        """Tokens of the messages and a small frame for each, or of the plain text."""
        counted = plain_tokens if self.server.api == "completions" else framed_tokens
        return counted(prompt, self._count)

    def _count(self, text: str) -> int:
        return int(self.server.post("/api/extra/tokencount", {"prompt": text})["value"])


TOKENIZERS: Mapping[TokenCounter, Callable[..., Tokenizer]] = {
    "llama_server": LlamaServerTokenizer,
    "vllm": VllmTokenizer,
    "koboldcpp": KoboldTokenizer,
}
"""By the routes that a server was found to have; each is made from `name` and `server`."""


def piece_starts(text: str, pieces: Sequence[str | Sequence[int]]) -> list[int]:
    """Where each token begins in `text`, in characters.

    A piece is text, or a list of bytes where the token ends inside a character; such a character
    belongs to the token that begins it. Raises `ValueError` where the pieces aren't the text.
    """
    encoded = [piece.encode() if isinstance(piece, str) else bytes(piece) for piece in pieces]
    if b"".join(encoded) != text.encode():
        raise ValueError("the server's tokens do not add up to the text that it was given")
    character_of: Sequence[int] = range(len(text))
    if not text.isascii():
        character_of = [index for index, character in enumerate(text) for _ in character.encode()]
    starts: list[int] = []
    offset = 0
    for piece in encoded:
        starts.append(character_of[offset])
        offset += len(piece)
    return starts
