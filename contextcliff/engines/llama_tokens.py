"""The tokenizer of a llama.cpp server, embedded or not, asked over its own routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from contextcliff.engines.exchange import Api, messages, plain
from contextcliff.engines.keys import ApiKey
from contextcliff.errors import RunError
from contextcliff.records import Prompt


@dataclass(frozen=True, kw_only=True, slots=True)
class LlamaServerTokenizer:
    """Tokens and chat template of the model that the server has loaded. `root` is its address without `/v1`."""

    http: httpx2.Client
    root: str
    key: ApiKey
    name: str
    api: Api = "chat"
    template_arguments: Mapping[str, object]

    def starts(self, text: str) -> Sequence[int]:
        """Character offset of every token of `text`, without the tokens that a server would add."""
        answer = self._post("/tokenize", {"content": text, "add_special": False, "with_pieces": True})
        return piece_starts(text, [token["piece"] for token in answer["tokens"]])

    def count_prompt(self, prompt: Prompt) -> int:
        """Tokens of the prompt as the server will see it, in the model's chat template unless `api` is plain."""
        framed = plain(prompt)
        if self.api == "chat":
            request = {"messages": messages(prompt), "chat_template_kwargs": dict(self.template_arguments)}
            framed = self._post("/apply-template", request)["prompt"]
        body = {"content": framed, "add_special": True, "parse_special": True}
        return len(self._post("/tokenize", body)["tokens"])

    def _post(self, path: str, body: Mapping[str, object]) -> Any:
        try:
            answer = self.http.post(f"{self.root}{path}", json=dict(body), headers=self.key.headers())
            answer.raise_for_status()
            return answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            said = self.key.hide_in(str(error)) or type(error).__name__
            raise RunError(f"{self.root}{path}: the server can't count tokens ({said})") from error


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
