"""Tokenizers of servers: llama.cpp, vLLM and KoboldCpp each have their own routes to count tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2

from contextcliff.engines.openai.exchange import Api
from contextcliff.engines.openai.server_access import ApiKey
from contextcliff.errors import RunError
from contextcliff.records.sample import Prompt
from contextcliff.text.tokens import (
    Tokenizer,
    counted_starts,
    framed_tokens,
    messages,
    plain_text,
    plain_tokens,
    tokenise,
)

TokenCounter = Literal["llama_server", "vllm", "koboldcpp"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenServer:
    """A server that counts tokens: its address without `/v1`, its model, and the API that prompts go to."""

    http: httpx2.Client
    root: str
    key: ApiKey
    model: str
    api: Api
    template_arguments: Mapping[str, object]

    def post(self, path: str, body: Mapping[str, object]) -> Any:
        """The JSON answer of a route. Raises `RunError`, whose text does not hold the key."""
        try:
            answer = self.http.post(f"{self.root}{path}", json=dict(body), headers=self.key.headers())
            answer.raise_for_status()
            return answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            reason = self.key.hide_in(str(error)) or type(error).__name__
            raise RunError(f"{self.root}{path}: the server can't count tokens ({reason})") from error


_MARK = "contextcliff"
_CHECKS = 3
_PARAGRAPH = "\n\n"


@dataclass(kw_only=True, slots=True)
class ChatFrame:
    """What the model's chat template puts around a message of the user alone, as the server has shown it.

    It is learnt from one word, and checked against the server's own on the first prompts. Where a template does more
    than to put the message in its place, the server goes on being asked for each prompt.
    """

    server: TokenServer
    _around: tuple[str, str] | None = None
    _checks_left: int = _CHECKS
    _is_fixed: bool = True

    def framed(self, prompt: Prompt) -> str:
        """The prompt in the chat template."""
        text = prompt.user
        # Templates strip messages; one with blanks around it is the server's to frame.
        alone = prompt.system is None and not prompt.turns and bool(text) and text == text.strip()
        if not (alone and self._is_fixed):
            return self._asked(prompt)
        if self._around is None:
            before, mark, after = self._asked(Prompt(user=_MARK)).partition(_MARK)
            self._around, self._is_fixed = (before, after), bool(mark) and _MARK not in after
            return self.framed(prompt)
        framed = text.join(self._around)
        if self._checks_left:
            self._checks_left -= 1
            asked = self._asked(prompt)
            self._is_fixed = asked == framed
            return asked
        return framed

    def _asked(self, prompt: Prompt) -> str:
        arguments = dict(self.server.template_arguments)
        request = {"messages": messages(prompt), "chat_template_kwargs": arguments}
        return str(self.server.post("/apply-template", request)["prompt"])


@dataclass(frozen=True, kw_only=True, slots=True)
class LlamaServerTokenizer:
    """llama.cpp, embedded or not: exact offsets, and prompts counted in the model's chat template."""

    name: str
    server: TokenServer
    _frame: ChatFrame = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_frame", ChatFrame(server=self.server))

    def starts(self, text: str) -> Sequence[int]:
        """Character offset of every token of `text`, without the special tokens that a server would add."""
        answer = self.server.post("/tokenize", {"content": text, "add_special": False, "with_pieces": True})
        return piece_starts(text, [token["piece"] for token in answer["tokens"]])

    def counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text, by one request: as paragraphs of one text."""
        whole, begin = tokenise(_PARAGRAPH.join(texts), self), 0
        counted = []
        for text in texts:
            counted.append(whole.tokens_between(begin, begin + len(text)))
            begin += len(text) + len(_PARAGRAPH)
        return counted

    def count_prompt(self, prompt: Prompt) -> int:
        """Tokens of the prompt as it is sent: in the model's chat template, or plain for `completions`."""
        framed = self._frame.framed(prompt) if self.server.api == "chat" else plain_text(prompt)
        body = {"content": framed, "add_special": True, "parse_special": True}
        return len(self.server.post("/tokenize", body)["tokens"])


@dataclass(frozen=True, kw_only=True, slots=True)
class VllmTokenizer:
    """vLLM: counts tokens of texts and of conversations, without their offsets."""

    name: str
    server: TokenServer

    def starts(self, text: str) -> Sequence[int]:
        """Character offset of every token: exact every line or two, spread evenly between."""
        return counted_starts(text, lambda block: self._count({"prompt": block, "add_special_tokens": False}))

    def count_prompt(self, prompt: Prompt) -> int:
        """Tokens of the prompt as it is sent: in the model's chat template, or plain for `completions`."""
        if self.server.api == "completions":
            return self._count({"prompt": plain_text(prompt), "add_special_tokens": True})
        arguments = dict(self.server.template_arguments)
        conversation = {"messages": messages(prompt), "add_generation_prompt": True}
        return self._count({**conversation, "chat_template_kwargs": arguments})

    def _count(self, body: Mapping[str, object]) -> int:
        return int(self.server.post("/tokenize", {"model": self.server.model, **body})["count"])


@dataclass(frozen=True, kw_only=True, slots=True)
class KoboldTokenizer:
    """KoboldCpp: counts tokens of texts; what its chat template adds is estimated."""

    name: str
    server: TokenServer

    def starts(self, text: str) -> Sequence[int]:
        """Character offset of every token: exact every line or two, spread evenly between."""
        # The count may include a token that begins every text; a block inside a text has none.
        beginning = self._count("")
        return counted_starts(text, lambda block: self._count(block) - beginning)

    def count_prompt(self, prompt: Prompt) -> int:
        """Tokens of the messages with an estimated frame for each, or of the plain text for `completions`."""
        count = plain_tokens if self.server.api == "completions" else framed_tokens
        return count(prompt, self._count)

    def _count(self, text: str) -> int:
        return int(self.server.post("/api/extra/tokencount", {"prompt": text})["value"])


TOKENIZERS: Mapping[TokenCounter, Callable[..., Tokenizer]] = {
    "llama_server": LlamaServerTokenizer,
    "vllm": VllmTokenizer,
    "koboldcpp": KoboldTokenizer,
}
"""The tokenizer for each kind of routes; each is constructed with `name` and `server`."""


def piece_starts(text: str, pieces: Sequence[str | Sequence[int]]) -> list[int]:
    """The offset in `text`, in characters, at which each token begins.

    A piece is text, or a list of bytes where the token ends inside a character; such a character
    belongs to the token that begins it. Raises `ValueError` where the pieces do not add up to the text.
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
