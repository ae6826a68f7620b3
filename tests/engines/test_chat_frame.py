"""The chat template is learnt from the server, and never guessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.engines.openai.http import ApiKey
from contextcliff.engines.openai.tokens import ChatFrame, TokenServer
from contextcliff.records.sample import Prompt, SentTurn

Said = list[Mapping[str, str]]


def fixed(said: Said) -> str:
    return "<s>" + "".join(f"[{each['role']}]{each['content']}[end]" for each in said) + "[assistant]"


def stripped(said: Said) -> str:
    return fixed([{**each, "content": each["content"].strip()} for each in said])


def repeated(said: Said) -> str:
    return fixed([*said, *said])


def measured(said: Said) -> str:
    return f"{len(said[-1]['content'])} letters: {fixed(said)}"


def silent(_: Said) -> str:
    return "[assistant]"


class Asked(TokenServer):
    """A server with a template, that counts how often it is asked."""

    template: Callable[[Said], str]
    n_asked: int

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        assert path == "/apply-template"
        assert body["chat_template_kwargs"] == {"thinking": False}
        object.__setattr__(self, "n_asked", self.n_asked + 1)
        return {"prompt": self.template(body["messages"])}


def frame(template: Callable[[Said], str]) -> tuple[ChatFrame, Asked]:
    server = Asked(
        http=None,  # type: ignore[arg-type]
        root="",
        key=ApiKey(),
        model="m",
        api="chat",
        template_arguments={"thinking": False},
    )
    object.__setattr__(server, "template", template)
    object.__setattr__(server, "n_asked", 0)
    return ChatFrame(server=server), server


def test_a_template_is_asked_for_once_and_checked_on_three_prompts() -> None:
    chat, server = frame(fixed)
    for number in range(10):
        assert chat.framed(Prompt(user=f"question {number}")) == f"<s>[user]question {number}[end][assistant]"
    assert server.n_asked == 1 + 3


@pytest.mark.parametrize("template", [repeated, measured, silent])
def test_a_template_that_does_more_is_asked_for_each_prompt(template: Callable[[Said], str]) -> None:
    chat, server = frame(template)
    for number in range(10):
        prompt = Prompt(user="?" * (number + 1))
        assert chat.framed(prompt) == template([{"role": "user", "content": prompt.user}])
    assert server.n_asked >= 10


@pytest.mark.parametrize(
    "prompt",
    [
        Prompt(user=" with a blank before it"),
        Prompt(user="with a line behind it\n"),
        Prompt(user=""),
        Prompt(user="hello", system="Be brief."),
        Prompt(user="hello", turns=(SentTurn(user="a", assistant="b"),)),
    ],
)
def test_what_a_template_may_treat_otherwise_is_asked_for(prompt: Prompt) -> None:
    chat, server = frame(stripped)
    for _ in range(6):
        chat.framed(Prompt(user="plain"))
    before = server.n_asked
    chat.framed(prompt)
    assert server.n_asked == before + 1


@given(st.lists(st.text(max_size=20), max_size=8), st.sampled_from([fixed, stripped, repeated, silent]))
def test_the_prompt_is_as_the_server_frames_it(texts: list[str], template: Callable[[Said], str]) -> None:
    chat, _ = frame(template)
    for text in texts:
        assert chat.framed(Prompt(user=text)) == template([{"role": "user", "content": text}])
