"""The marks between which models reason inside their answers, and an answer split from the reasoning before it."""

from __future__ import annotations

import re
from typing import NamedTuple

_FINAL = r"(?:<\|start\|>[^<]*)?<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"


class _Marks(NamedTuple):
    """What opens and what closes reasoning, as patterns.

    `alone` is the closing mark of a chat template that opens the reasoning in the prompt: None if it is `closes`, empty
    if plain answers may have it too.
    """

    opens: str
    closes: str
    alone: str | None = None


_TAGS = ("think(?:ing)?", "thoughts?", "reason(?:ing)?", "seed:think", "mm:think", r"ifm\|think", "longcat_think")
_MARKS = (
    *(_Marks(f"<{name}>", f"</{name}>") for name in _TAGS),
    _Marks(r"\[THINK\]", r"\[/THINK\]"),
    _Marks(r"\[unused16\]", r"\[unused17\]"),
    _Marks(r"◁think▷", r"◁/think▷"),
    _Marks(r"<\|START_THINKING\|>", r"<\|END_THINKING\|>", r"<\|END_THINKING\|>|(?=<\|START_RESPONSE\|>)"),
    _Marks(r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    _Marks(r"<\|thought_start\|>", r"<\|thought_end\|>"),
    _Marks(r"<\|think:start\|>", r"<\|think:end\|>"),
    _Marks(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    _Marks(r"<\|channel>(?:thought\b)?", r"<channel\|>"),
    _Marks(r"<\|open\|>\s*think\s*<\|sep\|>", r"<\|close\|>\s*think\s*<\|sep\|>"),
    # Harmony: every channel but `final`, and a header that was cut off. Other models end their answers by `<|end|>`.
    _Marks(
        rf"(?!{_FINAL})(?=<\|(?:start|channel)\|>)(?:<\|start\|>[^<]*)?(?:<\|channel\|>[^<]*(?:<\|constrain\|>[^<]*)?)?"
        r"(?:<\|message\|>|\Z)",
        r"<\|(?:end|call|return)\|>|(?=<\|(?:start|channel)\|>)",
        rf"(?:<\|end\|>\s*)?(?={_FINAL})",
    ),
    # Harmony from servers that leave special tokens out.
    _Marks(r"(?-i:analysis(?=[A-Z]))", r"(?-i:assistantfinal)"),
    _Marks(r"<details\b[^>]*\btype=[\"']reasoning[\"'][^>]*>", r"</details>", ""),
    # Words that say nothing without their second half.
    _Marks(r"Here(?: is|'s) my thought process:(?=.*Here(?: is|'s) my response:)", r"Here(?: is|'s) my response:", ""),
)
"""Those of vLLM's reasoning parsers, llama.cpp's `common/chat.cpp` and Open WebUI."""

_FLAGS = re.DOTALL | re.IGNORECASE
_BLOCKS = (rf"{each.opens}(.*?)(?:{each.closes}|\Z)" for each in _MARKS)
_BLOCK = re.compile(rf"\s*(?:{'|'.join(_BLOCKS)})", _FLAGS)
_CLOSED = (each.closes if each.alone is None else each.alone for each in _MARKS)
_ALONE = re.compile("|".join(filter(None, _CLOSED)), _FLAGS)
_ANSWER = re.compile(
    rf"\s*(?:{_FINAL}|<\|START_RESPONSE\|>|<\|begin_of_solution\|>|<\|open\|>\s*response\s*<\|sep\|>|<answer>|<response>)"
    r"(.*?)(?:<\|(?:return|end|call|END_RESPONSE|end_of_solution|close)\|>|</(?:answer|response)>\s*\Z|\Z)",
    _FLAGS,
)
"""An answer that has marks of its own behind the reasoning."""


def split_reasoning(text: str, *, reasoning: str = "") -> tuple[str, str]:
    """The answer, and the reasoning that stood at its start; `reasoning` is what the server sent in a field of its own.

    A block that never closes is all reasoning: the model ran out of tokens while it thought. A chat template that
    opens the block in the prompt leaves only its closing mark in the answer. A later block is part of the answer.
    """
    thoughts, rest = [], text
    while (block := _BLOCK.match(rest)) is not None:
        thoughts.append(block[block.lastindex or 0])
        rest = rest[block.end() :]
    if not thoughts and not reasoning and (closed := _ALONE.search(rest)) is not None:
        thoughts, rest = [rest[: closed.start()]], rest[closed.end() :]
    if thoughts and (answer := _ANSWER.match(rest)) is not None:
        rest = answer[1]
    if not thoughts and not reasoning:
        return text, ""
    said = "\n".join(filter(None, [reasoning, *(thought.strip() for thought in thoughts)]))
    # A mark that was cut off before any thought still says that the model began to think.
    return rest.lstrip(), said or ("" if rest.strip() else text.strip())
