"""Tokenizers of servers: llama.cpp, vLLM and KoboldCpp each have their own routes to count tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, TypeVar

import httpx2

from contextcliff.engines.engine import Api
from contextcliff.engines.openai.http import Address
from contextcliff.engines.openai.server_json import count_at, list_at, parsed_object, text_at
from contextcliff.errors import RunError
from contextcliff.records.sample import Prompt
from contextcliff.text.control_tokens import like_tokens
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
_MOST_SPECIAL_TOKENS = 16
_MARK = "contextcliff"
_PARAGRAPH = "\n\n"
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]*/?>")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenServer:
    """A server that counts tokens, its model, and the API that prompts go to."""

    http: httpx2.Client
    address: Address
    model: str
    api: Api
    template_arguments: Mapping[str, object]

    def post(self, path: str, body: Mapping[str, object]) -> Mapping[str, object]:
        """The JSON object that a route answers. Raises `RunError`, whose text does not hold the key."""
        try:
            answer = self.http.post(path, json=dict(body))
            answer.raise_for_status()
            return parsed_object(answer.text)
        except (httpx2.HTTPError, ValueError) as error:
            reason = self.address.hide_in(str(error)) or type(error).__name__
            raise RunError(f"{self.address.root}{path}: the server can't count tokens ({reason})") from error

    def found(self, path: str, value: T | None) -> T:
        if value is None:
            raise RunError(f"{self.address.root}{path}: the server can't count tokens (nothing of use in its answer)")
        return value

    def counted(self, path: str, body: Mapping[str, object], name: str) -> int:
        """A count in the answer of a route: at most a token for each byte that was sent, and some around them."""
        most = len(str(body).encode()) + _MOST_SPECIAL_TOKENS
        return self.found(path, count_at(self.post(path, body), name, most=most))


@dataclass(kw_only=True, slots=True, eq=False)
class LlamaServerTokenizer:
    """llama.cpp, embedded or not: exact offsets, and prompts counted in the model's chat template."""

    name: str
    server: TokenServer
    has_estimated: bool = False
    """Whether the tokens of a text could only be counted, and their offsets are estimates."""

    def starts(self, text: str) -> Sequence[int]:
        starts = piece_starts(text, self._pieces(text))
        if starts is not None:
            return starts
        self.has_estimated = True
        return counted_starts(text, lambda block: len(self._pieces(block)))

    def control_tokens(self, texts: Iterable[str]) -> Collection[str]:
        """What is one token in a prompt and not in plain text, or stands in the chat template."""
        asked = like_tokens(texts)
        if not asked:
            return ()
        in_prompts, in_texts = (self._pieces("\n".join(asked), special=special) for special in (True, False))
        framed = self._framed(Prompt(user=_MARK)) if self.server.api == "chat" else ""
        return [each for each in asked if each in in_prompts and (each not in in_texts or each in framed)]

    def _pieces(self, text: str, *, special: bool = True) -> Sequence[str | Sequence[int]]:
        body = {"content": text, "add_special": False, "parse_special": special, "with_pieces": True}
        tokens = list_at(self.server.post("/tokenize", body), "tokens")
        # The text of each token, or its bytes if it ends inside a character.
        pieces: list[Any] = [token.get("piece") if isinstance(token, dict) else None for token in tokens]
        usable = all(isinstance(piece, str) or _are_bytes(piece) for piece in pieces)
        return self.server.found("/tokenize", pieces if usable else None)

    def counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text, by one request: as paragraphs of one text."""
        whole, begin = tokenise(_PARAGRAPH.join(texts), self), 0
        counted = []
        for text in texts:
            counted.append(whole.tokens_between(begin, begin + len(text)))
            begin += len(text) + len(_PARAGRAPH)
        return counted

    def count_prompt(self, prompt: Prompt) -> int:
        framed = self._framed(prompt) if self.server.api == "chat" else plain_text(prompt)
        answer = self.server.post("/tokenize", {"content": framed, "add_special": True, "parse_special": True})
        return self.server.found("/tokenize", len(list_at(answer, "tokens")) or None)

    def _framed(self, prompt: Prompt) -> str:
        path, arguments = "/apply-template", dict(self.server.template_arguments)
        answer = self.server.post(path, {"messages": messages(prompt), "chat_template_kwargs": arguments})
        return self.server.found(path, text_at(answer, "prompt") or None)


@dataclass(frozen=True, kw_only=True, slots=True)
class VllmTokenizer:
    """vLLM: counts tokens of texts and of conversations. Offsets are exact every line or two, and spread between."""

    name: str
    server: TokenServer

    def starts(self, text: str) -> Sequence[int]:
        return counted_starts(text, self._count)

    def count_prompt(self, prompt: Prompt) -> int:
        if self.server.api == "completions":
            return self._count(plain_text(prompt), special=True)
        conversation = {**self._conversation(prompt), "add_generation_prompt": True}
        # The template may be longer than the prompt.
        return self.server.found("/tokenize", count_at(self.server.post("/tokenize", conversation), "count"))

    def control_tokens(self, texts: Iterable[str]) -> Collection[str]:
        """What is one token, but for plain tags as of HTML that the chat template does not write."""
        asked = like_tokens(texts)
        if not asked:
            return ()
        single = self._tokens({"model": self.server.model, "prompt": "\n".join(asked), "add_special_tokens": False})
        framed = self._tokens(self._conversation(Prompt(user=_MARK))) if single and self.server.api == "chat" else ()
        return [each for each in asked if each in single and (each in framed or not _TAG.fullmatch(each))]

    def _count(self, text: str, *, special: bool = False) -> int:
        body = {"model": self.server.model, "prompt": text, "add_special_tokens": special}
        return self.server.counted("/tokenize", body, "count")

    def _conversation(self, prompt: Prompt) -> dict[str, object]:
        arguments = dict(self.server.template_arguments)
        return {"model": self.server.model, "messages": messages(prompt), "chat_template_kwargs": arguments}

    def _tokens(self, body: Mapping[str, object]) -> Sequence[object]:
        return list_at(self.server.post("/tokenize", {**body, "return_token_strs": True}), "token_strs")


@dataclass(frozen=True, kw_only=True, slots=True)
class KoboldTokenizer:
    """KoboldCpp: counts tokens of texts, with offsets as of vLLM; what its chat template adds is estimated."""

    name: str
    server: TokenServer

    def starts(self, text: str) -> Sequence[int]:
        # The count may include a token that begins every text; a block inside a text has none.
        beginning = self._count("")
        return counted_starts(text, lambda block: self._count(block) - beginning)

    def count_prompt(self, prompt: Prompt) -> int:
        count = plain_tokens if self.server.api == "completions" else framed_tokens
        return count(prompt, self._count)

    def _count(self, text: str) -> int:
        return self.server.counted("/api/extra/tokencount", {"prompt": text}, "value")


TOKENIZERS: Mapping[TokenCounter, Callable[..., Tokenizer]] = {
    "llama_server": LlamaServerTokenizer,
    "vllm": VllmTokenizer,
    "koboldcpp": KoboldTokenizer,
}


def _are_bytes(piece: object) -> bool:
    return isinstance(piece, list) and all(isinstance(octet, int) and 0 <= octet < 256 for octet in piece)


_SPM_BLANK = "\u2581"
"""SentencePiece's sign for a blank, which comes back as one where a text has it."""


def piece_starts(text: str, pieces: Sequence[str | Sequence[int]]) -> list[int] | None:
    """The offset in `text`, in characters, at which each token begins; None if the pieces are another text.

    A piece is a list of bytes where the token ends inside a character, which belongs to the token that begins it.
    SentencePiece sets a blank before a text, whose token begins with the text."""
    encoded = [piece.encode() if isinstance(piece, str) else bytes(piece) for piece in pieces]
    try:
        said = b"".join(encoded).decode()
    except UnicodeDecodeError:
        return None
    before = 0 if said == text else 1
    if before and said != f" {text.replace(_SPM_BLANK, ' ')}":
        return None
    places: Sequence[int] = range(len(said))
    if not said.isascii():
        places = [place for place, character in enumerate(said) for _ in character.encode()]
    # A token may be empty, and so may what is left after the last character.
    offsets = accumulate(map(len, encoded[:-1]), initial=0)
    return [max(0, places[min(offset, len(places) - 1)] - before) for offset in offsets] if text else []
