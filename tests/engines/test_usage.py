"""What the usage of a server says of a prompt, whatever it leaves out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextcliff.engines.openai.session import Usage
from tests.tasks.needles import said

Told = tuple[int, int, int | None]
"""Built length, `prompt_tokens` and `cached_tokens`."""


@pytest.mark.parametrize(
    ("told", "counts"),
    [
        # OpenAI, vLLM, llama.cpp: the cached part is within. Japanese under tiktoken as well.
        ([(1_000, 1_003, 0), (1_000, 1_002, 960), (2_000, 2_004, 300)], [1_003, 1_002, 2_004]),
        ([(1_000, 710, None), (1_000, 705, 280), (2_000, 1_420, 700)], [710, 705, 1_420]),
        ([(1_000, 705, 280)], [705]),
        # Only the new tokens, the cached ones beside: known from the first request with more of the latter.
        ([(1_000, 1_003, 0), (1_000, 43, 960), (2_000, 1_044, 960)], [1_003, 1_003, 2_004]),
        ([(1_000, 700, 0), (1_000, 420, 280), (2_000, 1_000, 400)], [700, 700, 1_400]),
        ([(1_000, 0, 1_003)], [1_003]),
    ],
)
def test_the_count_is_that_of_the_whole_prompt(told: list[Told], counts: list[int]) -> None:
    usage = Usage()
    whole = [
        usage.of_whole_prompt(replace(said("9"), prompt_tokens=tokens, cached_tokens=cached), built_tokens=built)
        for built, tokens, cached in told
    ]
    assert [each.prompt_tokens for each in whole] == counts
    assert all(each.server_counted for each in whole)


def test_a_count_of_nothing_is_none() -> None:
    told = replace(said("9"), prompt_tokens=0, cached_tokens=None)
    whole = Usage().of_whole_prompt(told, built_tokens=1_000)
    assert (whole.prompt_tokens, whole.server_counted) == (1_000, False)
