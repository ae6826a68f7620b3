"""The prompts of a run, kept in a compressed file."""

from __future__ import annotations

import gzip
import json
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextcliff.records.sample import Prompt, SentTurn
from contextcliff.reporting.data_files import read_contexts, write_contexts

PROMPTS = [
    ("niah-512-0", Prompt(user="Some text.\u2028A “needle”.\n", system="Read.")),
    ("niah-512-1", Prompt(user="模型")),
]


def test_a_line_is_a_prompt_with_its_digest_in_the_order_given(tmp_path: Path) -> None:
    path = write_contexts(PROMPTS, path=tmp_path / "new" / "contexts.jsonl.gz")
    text = gzip.decompress(path.read_bytes()).decode("utf-8")
    assert [json.loads(line) for line in text.splitlines()] == [
        {"sample_id": name, "prompt_sha256": prompt.sha256, "system": prompt.system, "user": prompt.user}
        for name, prompt in PROMPTS
    ]
    assert text.count("\n") == len(PROMPTS)


def test_the_same_prompts_make_the_same_bytes_wherever_and_whenever_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = write_contexts(PROMPTS, path=tmp_path / "one.gz").read_bytes()
    monkeypatch.setattr("time.time", lambda: 4e9)
    assert write_contexts(iter(PROMPTS), path=tmp_path / "other.gz").read_bytes() == one


def test_prompts_that_fail_to_be_built_leave_the_old_file_and_no_other(tmp_path: Path) -> None:
    def broken() -> Iterator[tuple[str, Prompt]]:
        yield PROMPTS[0]
        raise KeyError("no such document")

    path = write_contexts(PROMPTS, path=tmp_path / "x.gz")
    before = path.read_bytes()
    with pytest.raises(KeyError, match="no such document"):
        write_contexts(broken(), path=path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_memory_holds_a_prompt_or_two_and_not_all_of_them(tmp_path: Path) -> None:
    size, count = 200_000, 40

    def prompts() -> Iterator[tuple[str, Prompt]]:
        rng = random.Random(7)
        for i in range(count):
            # Random, so that the archive is about as large as half the text.
            yield f"s{i}", Prompt(user=rng.randbytes(size // 2).hex())

    tracemalloc.start()
    try:
        path = write_contexts(prompts(), path=tmp_path / "x.gz")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > size * count / 4
    assert peak < 10 * size


def test_the_turns_of_a_conversation_are_kept_and_read_back_as_one_text(tmp_path: Path) -> None:
    talk = Prompt(user="And now?", turns=(SentTurn(user="What is it?", assistant="A wren."),))
    path = write_contexts([("mrcr-512-0", talk), *PROMPTS], path=tmp_path / "x.gz")
    line = json.loads(gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()[0])
    assert line == {
        "sample_id": "mrcr-512-0",
        "prompt_sha256": talk.sha256,
        "system": None,
        "user": "And now?",
        "turns": [{"user": "What is it?", "assistant": "A wren."}],
    }
    assert read_contexts(path) == {
        "mrcr-512-0": "User: What is it?\n\nAssistant: A wren.\n\nUser: And now?\n\nAssistant:",
        "niah-512-0": "Read.\n\nSome text.\u2028A “needle”.\n",
        "niah-512-1": "模型",
    }
