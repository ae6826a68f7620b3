"""Reasoning inside answers: every pair of marks, whole and streamed, and answers that never came."""

from __future__ import annotations

import pytest

from contextcliff.engines.openai.reasoning import split_reasoning

HARMONY_FINAL = "<|start|>assistant<|channel|>final<|message|>"
MARKS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reason>", "</reason>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("<ifm|think>", "</ifm|think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("[THINK]", "[/THINK]"),
    ("[unused16]", "[unused17]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>\n\n<|begin_of_solution|>"),
    ("<|thought_start|>", "<|thought_end|>"),
    ("<|think:start|>", "<|think:end|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|><|open|>response<|sep|>"),
    ("<think>", "</think>\n<answer>"),
    ("<|channel|>analysis<|message|>", f"<|end|>{HARMONY_FINAL}"),
    ("<|channel|>commentary<|message|>", f"<|end|>{HARMONY_FINAL}"),
    ("<|start|>assistant<|channel|>analysis<|message|>", "<|channel|>final <|constrain|>json<|message|>"),
    ("analysis", "assistantfinal"),
    ('<details type="reasoning" done="true" duration="3">', "</details>"),
    ("Here is my thought process:", "Here's my response:"),
]
ENDS = {
    "<|START_RESPONSE|>": "<|END_RESPONSE|>",
    "<|begin_of_solution|>": "<|end_of_solution|>",
    "<|open|>response<|sep|>": "<|close|>response<|sep|><|close|>message<|sep|>",
    "<answer>": "</answer>",
    "<|message|>": "<|return|>",
}
"""What ends an answer, by the mark that began it."""
NO_SECOND_HALF = ("</details>", "Here's my response:")
"""Closing marks that plain answers may have too."""


@pytest.mark.parametrize(("opening", "closing"), MARKS)
def test_reasoning_is_kept_apart(opening: str, closing: str) -> None:
    end = next((end for start, end in ENDS.items() if closing.endswith(start)), "")
    reply = split_reasoning(f"{opening}Maybe 7.\nOr 12.{closing}\n42{end}")
    assert reply == ("42", "Maybe 7.\nOr 12.")


@pytest.mark.parametrize(("opening", "closing"), MARKS)
def test_a_mark_that_never_closes_leaves_no_answer(opening: str, closing: str) -> None:
    if closing == "Here's my response:":
        return
    assert split_reasoning(f"{opening}Maybe 7.") == split_reasoning("", reasoning="Maybe 7.")
    if opening != "analysis":
        assert split_reasoning(opening) == split_reasoning("", reasoning=opening.strip())


@pytest.mark.parametrize("closing", [closing for _, closing in MARKS if closing not in NO_SECOND_HALF])
def test_a_closing_mark_alone_ends_reasoning_that_the_template_opened(closing: str) -> None:
    reply = split_reasoning(f"Maybe 7.{closing}42")
    assert reply == ("42", "Maybe 7.")


@pytest.mark.parametrize(("opening", "closing"), MARKS)
def test_a_later_mark_is_part_of_the_answer(opening: str, closing: str) -> None:
    text = f"42 {opening}"
    assert split_reasoning(text)[0] == text
    assert split_reasoning(f"<think>hm</think>42 {opening}{closing}")[0].startswith(f"42 {opening}")


@pytest.mark.parametrize(
    "text",
    [
        "42",
        " 42\n",
        "42<|end|>\n<|user|>And now?",
        "<details><summary>How</summary>I looked.</details>42",
        "Here is my thought process: it says 42.",
        "Here is my response: 42",
        "analysis of the text: 42",
        "<thought-provoking>42",
        "[THINKING] 42",
    ],
)
def test_a_plain_answer_stays_as_it_is(text: str) -> None:
    assert split_reasoning(text) == (text, "")


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("<think>\nhm\n</think>42", "42", "hm"),
        ("<|channel|>final<|message|>42<|return|>", "42", ""),
        ("<|START_RESPONSE|>42<|END_RESPONSE|>", "42", ""),
        (
            "<|channel|>analysis<|message|>Maybe 7.<|end|><|start|>assistant<|channel|>commentary<|message|>I look."
            f"<|end|>{HARMONY_FINAL}42",
            "42",
            "Maybe 7.\nI look.",
        ),
        ("<|channel|>analysis<|message|>Maybe 7.<|end|><|start|>assistant", "", "Maybe 7."),
        ("<|channel|>analysis<|message|>Maybe 7.<|end|><|start|>assistant<|channel|>final", "", "Maybe 7."),
        ("<|channel|>", "", "<|channel|>"),
        ("<think>a</think><think>b</think>42", "42", "a\nb"),
        ("<think>\n\n</think>\n\n42", "42", ""),
        ("Use <think> tags</think>?", "?", "Use <think> tags"),
        ("42 <think>later</think>", "", "42 <think>later"),
    ],
)
def test_what_comes_of_channels_and_blocks(text: str, answer: str, reasoning: str) -> None:
    reply = split_reasoning(text)
    assert reply == (answer, reasoning)


def test_a_mark_inside_an_answer_whose_reasoning_came_in_its_own_field_is_part_of_it() -> None:
    reply = split_reasoning("It says </think> there.", reasoning="hm")
    assert reply == ("It says </think> there.", "hm")
