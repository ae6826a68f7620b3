"""Prompts of several messages: what is sent, how it is counted, and when two of them are the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.engines.openai.tokens import KoboldTokenizer, LlamaServerTokenizer, TokenServer, VllmTokenizer
from contextcliff.records.sample import Prompt, SentTurn
from contextcliff.text.tokenizers import HubTokenizer, TiktokenTokenizer
from contextcliff.text.tokens import messages, plain_text

BIRDS = Prompt(
    system="Be brief.",
    turns=(SentTurn(user="Name a bird.", assistant="Wren."), SentTurn(user="Another one.", assistant="Owl.")),
    user="Which was first?",
)
PLAIN = (
    "Be brief.\n\nUser: Name a bird.\n\nAssistant: Wren.\n\nUser: Another one.\n\nAssistant: Owl."
    "\n\nUser: Which was first?\n\nAssistant:"
)
said = st.text(alphabet="ab\0\1\2:1", max_size=4)
prompts = st.builds(
    Prompt,
    user=said,
    system=st.none() | said,
    turns=st.lists(st.builds(SentTurn, user=said, assistant=said), max_size=3).map(tuple),
)


def test_a_conversation_for_a_base_model_names_the_speakers_and_a_single_message_is_itself() -> None:
    assert plain_text(BIRDS) == PLAIN
    assert plain_text(Prompt(user="Name a bird.")) == "Name a bird."
    assert plain_text(Prompt(user="Name a bird.", system="Be brief.")) == "Be brief.\n\nName a bird."


@given(prompts, prompts)
def test_conversations_have_one_digest_where_they_are_the_same(one: Prompt, other: Prompt) -> None:
    if one.turns or other.turns:
        assert (one.sha256 == other.sha256) == (one == other)


class _Bytes:
    """A tokenizer of `transformers` and an encoding of tiktoken at once, with a token a character."""

    chat_template = "of ChatML"

    def apply_chat_template(self, parts: list[dict[str, str]], **_: object) -> str:
        return "".join(f"<{part['role']}>{part['content']}" for part in parts) + "<assistant>"

    def __call__(self, text: str, **_: object) -> dict[str, list[Any]]:
        return {"input_ids": [*text.encode()], "offset_mapping": [(place, place + 1) for place in range(len(text))]}

    def encode_ordinary(self, text: str) -> list[int]:
        return [*text.encode()]


class _Server(TokenServer):
    """Tells what it is asked to count."""

    def post(self, path: str, body: Any) -> Any:
        if path == "/apply-template":
            return {"prompt": _Bytes().apply_chat_template(body["messages"])}
        text = (
            _Bytes().apply_chat_template(body["messages"])
            if "messages" in body
            else body.get("content", body.get("prompt"))
        )
        return {"tokens": [*text], "count": len(text), "value": len(text)}


SPOKEN = sum(len(part["content"]) for part in messages(BIRDS))
TEMPLATED = len(_Bytes().apply_chat_template(messages(BIRDS)))
ESTIMATED = SPOKEN + 4 * 7


def _server(api: Any) -> _Server:
    return _Server(http=None, address=None, model="m", api=api, template_arguments={})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tokenizer", "tokens"),
    [
        (HubTokenizer(name="h", tokenizer=_Bytes(), template_arguments={}), TEMPLATED),
        (HubTokenizer(name="h", tokenizer=_Bytes(), template_arguments={}, plain=True), len(PLAIN)),
        (TiktokenTokenizer(name="t", encoding=_Bytes()), ESTIMATED),  # type: ignore[arg-type]
        (TiktokenTokenizer(name="t", encoding=_Bytes(), plain=True), len(PLAIN)),  # type: ignore[arg-type]
        (LlamaServerTokenizer(name="l", server=_server("chat")), TEMPLATED),
        (LlamaServerTokenizer(name="l", server=_server("completions")), len(PLAIN)),
        (VllmTokenizer(name="v", server=_server("chat")), TEMPLATED),
        (VllmTokenizer(name="v", server=_server("completions")), len(PLAIN)),
        (KoboldTokenizer(name="k", server=_server("chat")), ESTIMATED),
        (KoboldTokenizer(name="k", server=_server("completions")), len(PLAIN)),
    ],
)
def test_every_tokenizer_counts_every_message(tokenizer: Any, tokens: int) -> None:
    assert tokenizer.count_prompt(BIRDS) == tokens
