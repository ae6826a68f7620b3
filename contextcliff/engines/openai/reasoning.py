"""The marks between which models reason inside their answers, and an answer split from the reasoning before it."""

from __future__ import annotations

import re

_FINAL = r"(?:<\|start\|>[^<]*)?<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
_TAGS = ("think(?:ing)?", "thoughts?", "reason(?:ing)?", "seed:think", "mm:think", r"ifm\|think", "longcat_think")
_MARKS = {
    **{f"<{name}>": f"</{name}>" for name in _TAGS},
    r"\[THINK\]": r"\[/THINK\]",
    r"\[unused16\]": r"\[unused17\]",
    r"◁think▷": r"◁/think▷",
    r"<\|START_THINKING\|>": r"<\|END_THINKING\|>",
    r"<\|begin_of_thought\|>": r"<\|end_of_thought\|>",
    r"<\|thought_start\|>": r"<\|thought_end\|>",
    r"<\|think:start\|>": r"<\|think:end\|>",
    r"<\|inner_prefix\|>": r"<\|inner_suffix\|>",
    r"<\|channel>(?:thought\b)?": r"<channel\|>",
    r"<\|open\|>\s*think\s*<\|sep\|>": r"<\|close\|>\s*think\s*<\|sep\|>",
    # Harmony from servers that leave special tokens out.
    r"(?-i:analysis(?=[A-Z]))": r"(?-i:assistantfinal)",
}
"""What opens and what closes reasoning: the marks of vLLM's parsers, llama.cpp's `common/chat.cpp` and Open WebUI."""
_OPENED_HERE = {
    # Harmony: every channel but `final`, and a header that was cut off. Other models end their answers by `<|end|>`.
    rf"(?!{_FINAL})(?=<\|(?:start|channel)\|>)(?:<\|start\|>[^<]*)?(?:<\|channel\|>[^<]*(?:<\|constrain\|>[^<]*)?)?"
    r"(?:<\|message\|>|\Z)": r"<\|(?:end|call|return)\|>|(?=<\|(?:start|channel)\|>)",
    r"<details\b[^>]*\btype=[\"']reasoning[\"'][^>]*>": r"</details>",
    # Words that say nothing without their second half.
    r"Here(?: is|'s) my thought process:(?=.*Here(?: is|'s) my response:)": r"Here(?: is|'s) my response:",
}
"""Those whose closing mark alone says nothing: plain answers may have it too."""
_FLAGS = re.DOTALL | re.IGNORECASE
_BLOCKS = (rf"{opens}(.*?)(?:{closes}|\Z)" for opens, closes in (_MARKS | _OPENED_HERE).items())
_BLOCK = re.compile(rf"\s*(?:{'|'.join(_BLOCKS)})", _FLAGS)
_ALONE = re.compile(
    "|".join((*_MARKS.values(), r"(?=<\|START_RESPONSE\|>)", rf"(?:<\|end\|>\s*)?(?={_FINAL})")), _FLAGS
)
_ANSWER = re.compile(
    rf"\s*(?:{_FINAL}|<\|START_RESPONSE\|>|<\|begin_of_solution\|>|<\|open\|>\s*response\s*<\|sep\|>|<answer>|<response>)"
    r"(.*?)(?:<\|(?:return|end|call|END_RESPONSE|end_of_solution|close)\|>|</(?:answer|response)>\s*\Z|\Z)",
    _FLAGS,
)


def split_reasoning(text: str, *, reasoning: str = "") -> tuple[str, str]:
    """The answer, and the reasoning that stood at its start; `reasoning` is what the server sent in a field of its own.

    A block that never closes is all reasoning: the model ran out of tokens while it thought. A chat template that
    opens the block in the prompt leaves only its closing mark in the answer. A later block is part of the answer."""
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
